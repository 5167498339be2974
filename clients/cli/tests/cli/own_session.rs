//! Section 1: the session that the caller itself runs in.

use compozy_client::proto::session::v1::SessionState;
use tonic::Code;

use crate::fake::{Fake, failed, sessions};
use crate::run::{Done, Run, text};

/// A run within a session of that agent.
fn within(run: Run, session: &str, agent: &str) -> Done {
    run.env("COMPOZY_SESSION_ID", session)
        .env("COMPOZY_AGENT", agent)
        .done()
}

/// Name of the workspace, `resolution_source` and the lines of notes.
#[track_caller]
fn tells(done: &Done, name: &str, source: &str, notes: usize) {
    let json = done.json();
    assert_eq!(
        (&json["workspace"]["name"], &json["resolution_source"]),
        (&name.into(), &source.into())
    );
    assert_eq!(done.stderr.lines().count(), notes, "{}", done.stderr);
}

#[test]
fn c004_c006_the_own_session_decides_before_the_directory() {
    let fake = Fake::with_two();
    let session = fake.add_session(Some("a"));
    for directory in ["", "b"] {
        let run = fake.run(directory, &["workspace", "info"]);
        tells(&within(run, &session, "general"), "a", "session_identity", 0);
    }
}

#[test]
fn the_own_session_decides_for_every_command_of_a_workspace() {
    let fake = Fake::with_two();
    let session = fake.add_session(Some("a"));
    let commands: [&[&str]; 11] = [
        &["workspace", "status"],
        &["workspace", "identity", "show"],
        &["workspace", "attach", &session],
        &["resolve"],
        &["config", "show"],
        &["config", "explain"],
        &["agent", "list"],
        &["skill", "list"],
        &["profile", "current"],
        &["session", "new"],
        &["session", "list", "--here"],
    ];
    for command in commands {
        let done = within(fake.run("b", command), &session, "general");
        assert_eq!(
            done.json()["resolution_source"],
            "session_identity",
            "{command:?}"
        );
    }
}

#[test]
fn what_is_named_goes_before_the_own_session() {
    let fake = Fake::with_two();
    let session = fake.add_session(Some("a"));
    let run = fake.run("", &["workspace", "info"]).env("COMPOZY_WORKSPACE", " ");
    tells(&within(run, &session, "general"), "a", "session_identity", 0);
    let run = fake.run("", &["workspace", "info"]).env("COMPOZY_WORKSPACE", "a");
    tells(&within(run, &session, "general"), "a", "env", 0);
    let run = fake.run("b", &["workspace", "info", "none"]);
    let error = within(run, &session, "general").error(66);
    assert_eq!(error["metadata"]["resolution_source"], "positional");
}

#[test]
fn c012_another_workspace_than_the_own_one_is_told_apart_and_works() {
    let fake = Fake::with_two();
    let session = fake.add_session(Some("a"));
    let run = fake.run("", &["workspace", "info"]).env("COMPOZY_WORKSPACE", "b");
    let done = within(run, &session, "general");
    tells(&done, "b", "cross_workspace_attempt", 1);
    assert!(
        done.stderr.contains(&session) && done.stderr.contains("another workspace"),
        "{}",
        done.stderr
    );
    for arguments in [
        &["workspace", "info", "b"][..],
        &["workspace", "info", "--workspace", "b"],
    ] {
        let done = within(fake.run("a", arguments), &session, "general");
        tells(&done, "b", "cross_workspace_attempt", 1);
    }
}

#[test]
fn c013_the_own_workspace_is_the_own_one_however_it_is_spelled() {
    let fake = Fake::with_two();
    let session = fake.add_session(Some("a"));
    let workspace = fake.state.workspaces.lock().unwrap()[0].clone();
    let deep = text(fake.directory("a/deep"));
    for reference in [&workspace.root_dir, &deep, &workspace.id, &workspace.durable_id] {
        let run = fake.run("b", &["workspace", "info", reference]);
        tells(&within(run, &session, "general"), "a", "positional", 0);
    }
}

#[test]
fn c014_credentials_that_say_nothing_do_not_disturb_what_is_named() {
    let fake = Fake::with_two();
    let loose = fake.add_session(None);
    for (session, agent) in [
        ("sess-0123456789abcdef", "general"),
        ("x", "general"),
        (&loose, "y"),
    ] {
        let run = fake.run("b", &["workspace", "info", "--workspace", "a"]);
        tells(&within(run, session, agent), "a", "flag", 0);
    }
}

#[test]
fn c017_another_agent_than_that_of_the_session_is_noted_and_passed_over() {
    let fake = Fake::with_two();
    let session = fake.add_session(Some("a"));
    let done = within(fake.run("b", &["workspace", "info"]), &session, "other");
    tells(&done, "b", "cwd", 1);
    assert!(
        done.stderr.contains("COMPOZY_AGENT") && done.stderr.contains("does not match"),
        "{}",
        done.stderr
    );
}

#[test]
fn c018_a_session_that_is_gone_or_without_a_workspace_is_noted_and_passed_over() {
    let fake = Fake::with_two();
    let loose = fake.add_session(None);
    for (session, why) in [
        ("sess-0123456789abcdef", "deleted"),
        (&loose, "belongs to no workspace"),
        ("nonsense", "no id of a session"),
    ] {
        let done = within(fake.run("b", &["workspace", "info"]), session, "general");
        tells(&done, "b", "cwd", 1);
        assert!(done.stderr.contains(why), "{}", done.stderr);
    }
}

#[test]
fn c172_a_session_that_is_over_is_noted_and_passed_over() {
    let fake = Fake::with_two();
    let session = fake.add_session(Some("a"));
    fake.change_session(&session, sessions::stopped);
    for word in ["stopped", "orphaned"] {
        let done = within(fake.run("b", &["workspace", "info"]), &session, "general");
        tells(&done, "b", "cwd", 1);
        assert!(done.stderr.contains(word), "{}", done.stderr);
        fake.change_session(&session, |session| session.set_state(SessionState::Orphaned));
    }
}

#[test]
fn a_daemon_that_cannot_tell_is_a_failure_and_not_another_workspace() {
    let fake = Fake::with_two();
    let session = fake.add_session(Some("a"));
    let away = failed(Code::FailedPrecondition, "RECORD_NOT_UNDERSTOOD", "Too new.", &[]);
    fake.fail("GetSession", away);
    let run = fake.run("b", &["workspace", "info"]);
    let error = within(run, &session, "general").error(65);
    assert_eq!(error["reason"], "RECORD_NOT_UNDERSTOOD");
}

#[test]
fn a_daemon_without_sessions_leaves_it_to_the_directory() {
    let fake = Fake::with_two();
    let unknown = failed(Code::Unimplemented, "METHOD_UNKNOWN", "No such method.", &[]);
    fake.fail("GetSession", unknown.clone());
    fake.fail("ListSessions", unknown);
    let done = within(fake.run("b", &["workspace", "info"]), "sess-1", "general");
    tells(&done, "b", "cwd", 1);
}
