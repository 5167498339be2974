//! The verbs about one session, and the accounts.

use compozy_client::proto::session::v1::*;
use compozy_client::proto::workspace::v1::{
    AttachSessionRequest, DetachSessionRequest, LiveSessions, RemoveWorkspaceRequest, RemovedSessions,
};
use serde_json::{Value, json};

use crate::fake::{Fake, sessions};
use crate::run::{Done, text};

/// A session of A, and how to run a verb on it.
struct One {
    fake: Fake,
    id: String,
}

impl One {
    fn new() -> Self {
        let fake = Fake::with_two();
        let id = fake.add_session(Some("a"));
        Self { fake, id }
    }

    fn run(&self, form: &str, verb: &str, options: &[&str]) -> Done {
        let arguments = [&["session", verb, &self.id], options].concat();
        self.fake.run_form(form, "", &arguments).done()
    }

    #[track_caller]
    fn json(&self, verb: &str, options: &[&str]) -> Value {
        self.run("json", verb, options).json()
    }

    #[track_caller]
    fn hint(&self, exit: i32, reason: &str, verb: &str, options: &[&str]) -> String {
        let error = self.run("json", verb, options).error(exit);
        assert_eq!(error["reason"], reason);
        error["hint"].as_str().unwrap().to_owned()
    }
}

#[test]
fn c122_an_unknown_session_is_not_found() {
    let fake = Fake::with_two();
    for verb in [
        "show", "inspect", "health", "history", "stop", "resume", "archive", "remove", "attach",
    ] {
        let done = fake.run("", &["session", verb, "sess-0123456789abcdef"]).done();
        let error = done.error(66);
        assert_eq!(error["reason"], "SESSION_NOT_FOUND", "{verb}");
        assert!(
            error["hint"]
                .as_str()
                .unwrap()
                .starts_with("a session is named by its id, not by its name: `compozy session list"),
            "{error}"
        );
    }
}

#[test]
fn a_session_is_shown_with_its_health() {
    let one = One::new();
    let json = one.json("show", &[]);
    assert_eq!(
        json.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["session", "revision"]
    );
    let session = &json["session"];
    assert_eq!(
        (&session["id"], &session["health"]["health"]),
        (&json!(one.id), &"UNKNOWN".into())
    );
    assert_eq!(
        session["runtime"],
        json!({"state": "NONE", "holder": "", "generation": 0})
    );
    assert_eq!(session["lineage"]["root_session_id"], json!(one.id));
    let done = one.run("human", "show", &[]);
    for part in [
        "workspace:",
        "a (ws_",
        "agent:",
        "general",
        "can:",
        "be entered",
        "2026-05-04",
    ] {
        assert!(done.stdout.contains(part), "{part}: {}", done.stdout);
    }
}

#[test]
fn an_inspection_holds_history_questions_and_secrets_by_name() {
    let one = One::new();
    let json = one.json("inspect", &[]);
    assert_eq!(
        json["transitions"][0],
        json!({"state": "ACTIVE", "at": "2026-05-04T14:30:00Z", "cause": "create", "by": "socket"})
    );
    assert_eq!(json["pending_permissions"][0]["tool"], "shell");
    assert_eq!(json["vault"][0]["present"], true);
    let done = one.run("human", "inspect", &[]);
    for part in ["History", "Questions", "deny-all", "vault:sessions/"] {
        assert!(done.stdout.contains(part), "{part}: {}", done.stdout);
    }
    let lines = one.run("jsonl", "history", &[]).lines();
    assert_eq!((lines.len(), &lines[1]["state"]), (2, &"STOPPED".into()));
    let health = one.json("health", &[]);
    assert_eq!(health["health"]["ineligibility_reason"], "SESSION_HEALTH_UNKNOWN");
    assert!(
        one.run("human", "health", &[])
            .stdout
            .contains("session health unknown")
    );
}

#[test]
fn a_stop_says_why_and_a_resume_brings_it_back() {
    let one = One::new();
    let json = one.json("stop", &["--cause", "timeout", "--detail", "no answer"]);
    assert_eq!(json["session"]["state"], "STOPPED");
    let request = one.fake.last::<StopSessionRequest>("StopSession");
    assert_eq!(
        (request.cause(), request.detail.as_str()),
        (StopCause::Timeout, "no answer")
    );
    assert_eq!((request.wait, request.request_id.len()), (None, 26));
    let shown = one.run("human", "show", &[]).stdout;
    assert!(shown.contains("user canceled; cancellation"), "{shown}");
    one.json("stop", &[]);
    assert_eq!(
        one.fake.last::<StopSessionRequest>("StopSession").cause(),
        StopCause::User
    );
    assert_eq!(one.json("resume", &[])["session"]["state"], "STARTING");
    assert_eq!(one.run("json", "stop", &["--cause", "boredom"]).exit, 64);
}

#[test]
fn a_stop_that_is_waited_for_in_vain_is_too_late() {
    let one = One::new();
    assert_eq!(
        one.json("stop", &["--wait", "30s"])["session"]["state"],
        "STOPPED"
    );
    one.fake.change_session(&one.id, |session| {
        session.set_state(SessionState::Active);
        session.runtime.as_mut().unwrap().set_state(RuntimeState::Bound);
    });
    let error = one.run("json", "stop", &["--wait", "1s"]).error(75);
    assert!(
        error["hint"].as_str().unwrap().contains("session wait"),
        "{error}"
    );
    let request = one.fake.last::<StopSessionRequest>("StopSession");
    assert_eq!(request.wait.unwrap().seconds, 1);
    // Without waiting it is told that its runtime knows.
    let done = one.run("human", "stop", &[]);
    assert_eq!(done.exit, 0);
    assert!(done.stdout.contains("is stopping") && done.stderr.contains("its runtime was told"));
}

#[test]
fn a_name_is_given_and_a_session_archived_and_back() {
    let one = One::new();
    assert_eq!(
        one.json("rename", &["a new  name"])["session"]["name"],
        "a new  name"
    );
    assert_eq!(one.run("json", "rename", &[" "]).exit, 64);
    let hint = one.hint(65, "SESSION_STATE_CONFLICT", "archive", &[]);
    assert!(
        hint.contains(&format!("compozy session stop {}", one.id)),
        "{hint}"
    );
    one.fake.change_session(&one.id, sessions::stopped);
    assert_eq!(
        one.json("archive", &[])["session"]["archived_at"],
        "2026-05-04T14:30:00Z"
    );
    let hint = one.hint(65, "SESSION_ARCHIVED", "resume", &[]);
    assert!(
        hint.contains(&format!("compozy session unarchive {}", one.id)),
        "{hint}"
    );
    assert!(one.json("unarchive", &[])["session"].get("archived_at").is_none());
}

#[test]
fn a_live_session_is_removed_by_force_only() {
    let one = One::new();
    let hint = one.hint(65, "SESSION_STATE_CONFLICT", "remove", &[]);
    assert!(hint.contains("session stop"), "{hint}");
    assert_eq!(
        one.json("remove", &["--force"]),
        json!({"id": one.id, "revision": "r7"})
    );
    assert!(one.fake.last::<DeleteSessionRequest>("DeleteSession").force);
    assert_eq!(one.run("json", "show", &[]).exit, 66);
}

#[test]
fn an_operator_enters_and_leaves() {
    let one = One::new();
    let json = one.json("attach", &["--holder", "ada", "--ttl", "1h"]);
    assert_eq!(json["session"]["attach"]["holder"], "ada");
    let request = one.fake.last::<AcquireAttachLeaseRequest>("AcquireAttachLease");
    assert_eq!(request.ttl.unwrap().seconds, 3600);
    let hint = one.hint(73, "LEASE_HELD", "attach", &["--holder", "bob"]);
    assert!(hint.contains("session show"), "{hint}");
    let run = one.fake.run("", &["session", "detach", &one.id]);
    run.env("USER", "ada").done().json();
    assert_eq!(
        one.fake
            .last::<ReleaseAttachLeaseRequest>("ReleaseAttachLease")
            .holder,
        "ada"
    );
    let run = one.fake.run("", &["session", "attach", &one.id]);
    let json = run.env("USER", "").env("LOGNAME", "eve").done().json();
    assert_eq!(json["session"]["attach"]["holder"], "eve");
    assert_eq!(
        one.fake
            .last::<AcquireAttachLeaseRequest>("AcquireAttachLease")
            .ttl,
        None
    );
    assert_eq!(one.run("json", "attach", &["--ttl", "soon"]).exit, 64);
}

#[test]
fn who_leaves_what_another_has_entered_is_told() {
    let one = One::new();
    one.json("attach", &["--holder", "ada"]);
    let left = one.run("human", "detach", &["--holder", "bob"]).stdout;
    assert!(left.contains("was not yours, and stays entered"), "{left}");
    assert!(left.contains("ada, until"), "{left}");
    let left = one.run("human", "detach", &["--holder", "ada"]).stdout;
    assert!(left.contains("is left"), "{left}");
}

#[test]
fn a_person_is_shown_where_a_session_is_now_and_each_state_once() {
    let one = One::new();
    one.fake.change_session(&one.id, |session| {
        session.cwd = "/before/the/move".to_owned();
        session.canonical_cwd = "/after/the/move".to_owned();
        session.state = SessionState::Starting.into();
        session.badge = SessionBadge::Running.into();
    });
    let shown = one.run("human", "show", &[]).stdout;
    assert!(shown.contains("/after/the/move"), "{shown}");
    assert!(!shown.contains("/before/the/move"), "{shown}");
    assert!(shown.lines().any(|line| line.ends_with(" starting")), "{shown}");
}

#[test]
fn c098_an_account_takes_only_sessions_of_its_own_directory() {
    let fake = Fake::with_two();
    let session = fake.add_session(Some("a"));
    let done = fake
        .run("", &["workspace", "attach", &session, "--workspace", "b"])
        .done();
    let error = done.error(65);
    assert_eq!(error["reason"], "SESSION_CWD_MISMATCH");
    let hint = error["hint"].as_str().unwrap();
    assert!(
        hint.contains(&format!("compozy workspace info {}", text(fake.path("a")))),
        "{hint}"
    );
    assert_eq!(fake.state.sessions.lock().unwrap()[0].workspace_name, "a");
}

#[test]
fn a_session_goes_off_an_account_and_back_onto_it() {
    let fake = Fake::with_two();
    let session = fake.add_session(Some("a"));
    let home = fake.state.workspaces.lock().unwrap()[0].id.clone();
    let json = fake
        .run("", &["workspace", "detach", &session, "--workspace", "a"])
        .done()
        .json();
    assert_eq!(
        json,
        json!({"from_workspace_id": home, "detached": true, "revision": "r7"})
    );
    assert!(
        fake.last::<DetachSessionRequest>("DetachSession")
            .workspace
            .is_some()
    );
    let json = fake.run("", &["workspace", "detach", &session]).done().json();
    assert_eq!(json["detached"], false);
    assert!(
        fake.last::<DetachSessionRequest>("DetachSession")
            .workspace
            .is_none()
    );

    let json = fake.run("a", &["workspace", "attach", &session]).done().json();
    assert_eq!(
        json,
        json!({"resolution_source": "cwd", "workspace_id": home, "from_workspace_id": "", "attached": true,
            "revision": "r7"})
    );
    let request = fake.last::<AttachSessionRequest>("AttachSession");
    assert_eq!((request.session_id, request.request_id.len()), (session, 26));
}

#[test]
fn sessions_are_moved_within_an_account() {
    let fake = Fake::with_two();
    let ids = [0, 1, 2].map(|_| fake.add_session(Some("a")));
    let other = fake.add_session(Some("b"));
    let run = |arguments: &[&str]| {
        fake.run("", &[&["workspace", "move-session"], arguments].concat())
            .done()
    };
    let json = run(&[&ids[2], "--before", &ids[0]]).json();
    assert_eq!((&json["next_id"], &json["moved"]), (&json!(ids[0]), &json!(true)));
    let json = run(&[&ids[2]]).json();
    assert_eq!(json["next_id"], "");
    let error = run(&[&ids[0], "--before", &other]).error(65);
    assert_eq!(error["reason"], "WORKSPACE_MOVE_INVALID");
    assert!(
        error["hint"].as_str().unwrap().contains("--sort manual"),
        "{error}"
    );
}

#[test]
fn c088_a_workspace_with_live_sessions_stays_and_names_them() {
    let fake = Fake::with_two();
    let session = fake.add_session(Some("a"));
    let error = fake.run("", &["workspace", "remove", "a"]).done().error(65);
    assert_eq!(error["reason"], "WORKSPACE_HAS_LIVE_SESSIONS");
    assert_eq!(error["metadata"]["ids"], session.as_str());
    let hint = error["hint"].as_str().unwrap();
    assert!(
        hint.contains(&format!("compozy session stop {session}")) && hint.contains("--ungroup-live"),
        "{hint}"
    );
    assert_eq!(fake.state.workspaces.lock().unwrap().len(), 2);
    // They may stay, without a workspace.
    let json = fake
        .run("", &["workspace", "remove", "a", "--ungroup-live"])
        .done()
        .json();
    assert_eq!(json["kept_session_count"], 1);
    let request = fake.last::<RemoveWorkspaceRequest>("RemoveWorkspace");
    assert_eq!(
        (request.live(), request.sessions()),
        (LiveSessions::Ungroup, RemovedSessions::Keep)
    );
}

#[test]
fn c089_stopped_sessions_go_with_their_workspace_and_its_directory_stays() {
    let fake = Fake::with_two();
    let session = fake.add_session(Some("a"));
    fake.change_session(&session, sessions::stopped);
    std::fs::write(fake.path("a/file"), "bytes").unwrap();
    let done = fake
        .run("", &["workspace", "remove", "a", "--delete-sessions"])
        .done();
    assert_eq!(done.json()["deleted_session_count"], 1);
    assert_eq!(std::fs::read(fake.path("a/file")).unwrap(), b"bytes");
    assert!(fake.state.sessions.lock().unwrap().is_empty());
}

#[test]
fn the_sessions_of_a_workspace_are_shown_with_it() {
    let fake = Fake::with_two();
    let session = fake.add_session(Some("a"));
    fake.add_session(Some("b"));
    let json = fake.run("", &["workspace", "info", "a"]).done().json();
    let shown = json["sessions"].as_array().unwrap();
    assert_eq!((shown.len(), &shown[0]["id"]), (1, &json!(session)));
    let done = fake.run_form("human", "", &["workspace", "info", "a"]).done();
    assert!(done.stdout.contains(&session), "{}", done.stdout);
}
