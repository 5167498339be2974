//! `watch`: lines as they come, and the ends of it.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use compozy_client::proto::change::v1::watch_catalog_response::Message;
use compozy_client::proto::change::v1::{
    Change, ChangeOp, ChangeReason, GoingAway, OnExpired, RemovedSessions, Resync, ResyncReason, SnapshotRow,
    WatchCatalogRequest, WatchStart,
};
use compozy_client::proto::workspace::v1::workspace_ref::Form;
use compozy_client::proto::workspace::v1::{Workspace, WorkspaceRef};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

use crate::fake::changes::{batch, heartbeat, renamed, row_of, synced};
use crate::fake::{Fake, failed};
use crate::run::{Done, Run, until};

/// A watch that runs, and the lines that it has written.
pub struct Watching {
    child: Child,
    stdout: BufReader<ChildStdout>,
    /// Dropped with it. As long as it is there, the child has an end.
    _alive: mpsc::Sender<()>,
}

/// How long a watch of a test may run: one that waits for a line that never comes fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(60);

impl Watching {
    pub fn start(run: Run) -> Self {
        let mut child = run
            .command()
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (alive, ended) = mpsc::channel();
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        std::thread::spawn(move || {
            if ended.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
                // Not reaped before its test has ended, so it is still this process.
                let _ = kill_process(pid, Signal::KILL);
            }
        });
        Self {
            child,
            stdout,
            _alive: alive,
        }
    }

    /// The next line, which has to be a whole one.
    #[track_caller]
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        assert!(line.ends_with('\n'), "{line:?}: {}", self.complaints());
        line.trim_end().to_owned()
    }

    #[track_caller]
    pub fn json(&mut self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    /// What it has said on stderr, to its end; only for one that has failed.
    fn complaints(&mut self) -> String {
        let _ = self.child.kill();
        let mut text = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            stderr.read_to_string(&mut text).unwrap();
        }
        text
    }

    pub fn interrupt(self) -> Done {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, Signal::INT).unwrap();
        self.ended()
    }

    /// Waits for its end; what was not read yet is its output.
    pub fn ended(mut self) -> Done {
        let mut stdout = String::new();
        self.stdout.read_to_string(&mut stdout).unwrap();
        let output = self.child.wait_with_output().unwrap();
        Done {
            stdout,
            ..Done::from(output)
        }
    }
}

fn watch(fake: &Fake, form: &str, arguments: &[&str]) -> Watching {
    let all = [&["watch"], arguments].concat();
    Watching::start(fake.run_form(form, "", &all))
}

fn workspace(fake: &Fake, name: &str) -> Workspace {
    let workspaces = fake.state.workspaces.lock().unwrap();
    workspaces.iter().find(|one| one.name() == name).unwrap().clone()
}

fn request(fake: &Fake) -> WatchCatalogRequest {
    fake.last("WatchCatalog")
}

fn watches(fake: &Fake) -> usize {
    fake.calls()
        .iter()
        .filter(|call| **call == "WatchCatalog")
        .count()
}

#[test]
fn c050_a_stream_is_lines_of_json_with_a_token_each() {
    let fake = Fake::with_two();
    let (a, b) = (workspace(&fake, "a"), workspace(&fake, "b"));
    let mut watching = watch(&fake, "json", &["--rows"]);
    assert_eq!(watching.line(), r#"{"event":"synced","token":"t0"}"#);
    let with_row = Change {
        row: Some(row_of(&a)),
        ..renamed(1, &a)
    };
    let removed = Change {
        op: ChangeOp::Deleted.into(),
        reason: ChangeReason::Removed.into(),
        removed_sessions: RemovedSessions::Kept.into(),
        session_count: 3,
        ..renamed(2, &b)
    };
    fake.state.watches.tell(&batch(vec![with_row, removed]));
    let line = watching.json();
    let expected = json!({
        "event": "changed", "token": "t1", "kind": "WORKSPACE", "op": "UPSERTED", "reason": "RENAMED",
        "host_id": a.host_id, "workspace_id": a.id, "from_workspace_id": "", "session_id": "",
        "profile_id": "", "internal": false, "version": 1, "removed_sessions": "UNSPECIFIED",
        "session_count": 0, "at": "2026-05-04T14:30:00Z", "row": line["row"],
    });
    assert_eq!(line, expected);
    assert_eq!(line["row"]["workspace"]["name"], "a");
    let line = watching.json();
    assert_eq!(
        (&line["event"], &line["token"]),
        (&json!("removed"), &json!("t2"))
    );
    assert_eq!(
        (&line["removed_sessions"], &line["session_count"]),
        (&json!("KEPT"), &json!(3))
    );
    assert!(line.get("row").is_none());
    assert_eq!(watching.interrupt().exit, 130);
    assert!(request(&fake).include_rows);
}

#[test]
fn people_get_a_line_with_local_time_and_notes_beside_it() {
    let fake = Fake::with_two();
    let a = workspace(&fake, "a");
    let row = |workspace| {
        Message::SnapshotRow(SnapshotRow {
            row: Some(row_of(workspace)),
        })
    };
    fake.state.watches.begin_with(vec![row(&a), synced("t0")]);
    let run = fake
        .run_form("human", "", &["watch", "--snapshot"])
        .env("TZ", "UTC-9");
    let mut watching = Watching::start(run);
    let columns = |line: String| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let begins = ["2026-05-04", "23:30:00", "workspace"];
    assert_eq!(
        columns(watching.line()),
        [&begins[..], &["present", "a", &a.root_dir]].concat()
    );
    let with_row = Change {
        row: Some(row_of(&a)),
        ..renamed(1, &a)
    };
    let removed = Change {
        op: ChangeOp::Deleted.into(),
        reason: ChangeReason::Removed.into(),
        removed_sessions: RemovedSessions::Deleted.into(),
        session_count: 1,
        ..renamed(3, &a)
    };
    fake.state
        .watches
        .tell(&batch(vec![with_row, renamed(2, &a), removed]));
    assert_eq!(
        columns(watching.line()),
        [&begins[..], &["upserted", "renamed", "a"]].concat()
    );
    assert_eq!(
        columns(watching.line()),
        [&begins[..], &["upserted", "renamed", &a.id]].concat()
    );
    let last = [
        &begins[..],
        &["deleted", "removed", &a.id, "1", "session", "deleted"],
    ]
    .concat();
    assert_eq!(columns(watching.line()), last);
    fake.state.watches.tell(&Message::Resync(Resync {
        workspace_ids: vec![a.id.clone()],
        reason: ResyncReason::Behind.into(),
        token: "t9".to_owned(),
    }));
    fake.state.watches.tell(&batch(vec![renamed(10, &a)]));
    watching.line();
    let done = watching.interrupt();
    let notes: Vec<&str> = done.stderr.lines().collect();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert_eq!(notes[0], "note: from here on it is live");
    assert!(
        notes[1].contains("missing") && notes[1].contains(&a.id),
        "{notes:?}"
    );
}

#[test]
fn c071_an_interrupt_ends_a_watch_without_half_a_line() {
    let fake = Fake::with_two();
    let a = workspace(&fake, "a");
    let mut watching = watch(&fake, "jsonl", &[]);
    watching.line();
    fake.state
        .watches
        .tell(&batch((1..=500).map(|number| renamed(number, &a)).collect()));
    watching.line();
    let done = watching.interrupt();
    assert_eq!((done.exit, done.stderr.as_str()), (130, ""));
    assert!(done.stdout.is_empty() || done.stdout.ends_with('\n'));
    for line in done.stdout.lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["event"], "changed");
    }
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly_also_when_nothing_happens() {
    let fake = Fake::start();
    for form in ["jsonl", "human"] {
        let mut watching = watch(&fake, form, &[]);
        until("the watch", || watches(&fake) > 0);
        if form == "jsonl" {
            watching.line();
        }
        let Watching { child, stdout, .. } = watching;
        drop(stdout);
        let done = Done::from(child.wait_with_output().unwrap());
        assert_eq!(done.exit, 0, "{form}");
        assert!(!done.stderr.contains("error"), "{form}: {}", done.stderr);
    }
}

#[test]
fn it_goes_on_after_the_end_of_a_stream_and_tells_about_it_once() {
    let fake = Fake::with_two();
    let a = workspace(&fake, "a");
    let away = failed(Code::Unavailable, "STORE_UNAVAILABLE", "The store is away.", &[]);
    let mut watching = watch(&fake, "jsonl", &[]);
    watching.line();
    fake.state.watches.tell(&batch(vec![renamed(1, &a)]));
    assert_eq!(watching.json()["token"], "t1");
    // Two failures in a row are one interruption.
    fake.fail("WatchCatalog", away.clone());
    let before = watches(&fake);
    fake.state.watches.end(&away);
    let line = watching.json();
    assert_eq!(line["event"], "reconnecting");
    assert_eq!(
        (&line["error"]["reason"], &line["error"]["message"]),
        (&json!("STORE_UNAVAILABLE"), &json!("The store is away."))
    );
    until("another attempt", || watches(&fake) > before);
    fake.state
        .watches
        .begin_with(vec![batch(vec![renamed(2, &a)]), synced("t2")]);
    fake.recover("WatchCatalog");
    assert_eq!(watching.json(), json!({"event": "reconnected"}));
    assert_eq!(watching.json()["token"], "t2");
    assert_eq!(request(&fake).resume_token, "t1");

    // One that asks to come again is no interruption, if it is there.
    fake.state.watches.begin_with(vec![batch(vec![renamed(3, &a)])]);
    fake.state.watches.tell(&Message::GoingAway(GoingAway {
        token: "t2b".to_owned(),
        reason: 0,
    }));
    assert_eq!(watching.json()["token"], "t3");
    assert_eq!(request(&fake).resume_token, "t2b");
    assert_eq!(watching.interrupt().exit, 130);
}

#[test]
fn people_are_told_that_the_connection_is_lost_and_back() {
    let fake = Fake::with_two();
    let a = workspace(&fake, "a");
    let mut watching = watch(&fake, "human", &[]);
    // Counted when it has its beginning: the next one is for the stream after it.
    until("the watch", || fake.state.watches.open_count() == 1);
    fake.state.watches.begin_with(vec![batch(vec![renamed(1, &a)])]);
    fake.state.watches.tell(&batch(vec![renamed(1, &a)]));
    watching.line();
    fake.state.watches.end(&Status::internal("stream reset"));
    watching.line();
    let done = watching.interrupt();
    let notes: Vec<&str> = done.stderr.lines().collect();
    let expected = [
        "note: from here on it is live",
        "note: stream reset; trying again",
        "note: the connection is back",
    ];
    assert_eq!(notes, expected);
}

#[test]
fn c068_one_watch_too_many_says_when_to_come_again() {
    let fake = Fake::start();
    let mut details = ErrorDetails::with_error_info(
        "TOO_MANY_WATCHERS",
        "compozy.dev",
        [("limit".to_owned(), "1".to_owned())],
    );
    details.set_retry_info(Some(Duration::from_secs(5)));
    let mut first = watch(&fake, "jsonl", &[]);
    first.line();
    let status = Status::with_error_details(Code::ResourceExhausted, "Too many watches.", details);
    fake.fail("WatchCatalog", status);
    let done = fake.run("", &["watch"]).done();
    assert_eq!(
        done.stdout.lines().count(),
        1,
        "an error of a stream is a line, too"
    );
    let error = done.error(75);
    assert_eq!(
        (&error["reason"], &error["hint"]),
        (&json!("TOO_MANY_WATCHERS"), &json!("try again in 5 s"))
    );
    // The others go on.
    fake.add("a");
    fake.state
        .watches
        .tell(&batch(vec![renamed(1, &workspace(&fake, "a"))]));
    assert_eq!(first.json()["token"], "t1");
    first.interrupt();
}

#[test]
fn a_place_that_is_reached_without_an_event_is_told() {
    let fake = Fake::with_two();
    let mut watching = watch(&fake, "jsonl", &["--heartbeat", "1s"]);
    watching.line();
    let is_told = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // As a server does: a client that hears nothing connects again.
            while !is_told.load(std::sync::atomic::Ordering::SeqCst) {
                fake.state.watches.tell(&heartbeat("t9"));
                std::thread::sleep(Duration::from_millis(200));
            }
        });
        let line = watching.line();
        is_told.store(true, std::sync::atomic::Ordering::SeqCst);
        assert_eq!(line, r#"{"event":"position","token":"t9"}"#);
    });
    watching.interrupt();
}

#[test]
fn c120_a_token_goes_on_after_it() {
    let fake = Fake::with_two();
    let mut watching = watch(&fake, "jsonl", &["--from-token", "t7", "--on-expired", "resync"]);
    watching.line();
    watching.interrupt();
    let request = request(&fake);
    assert_eq!(
        (request.resume_token.as_str(), request.start()),
        ("t7", WatchStart::Unspecified)
    );
    assert_eq!(request.on_expired(), OnExpired::Resync);
}

#[test]
fn c121_a_token_that_is_too_old_or_of_another_home() {
    let fake = Fake::start();
    let about = [("oldest_token", "t40")];
    fake.fail(
        "WatchCatalog",
        failed(Code::OutOfRange, "RESUME_TOKEN_EXPIRED", "They are gone.", &about),
    );
    let error = fake.run("", &["watch", "--from-token", "t7"]).done().error(66);
    assert_eq!(
        (&error["reason"], &error["metadata"]["oldest_token"]),
        (&json!("RESUME_TOKEN_EXPIRED"), &json!("t40"))
    );
    let hint = error["hint"].as_str().unwrap();
    for part in ["--snapshot", "--on-expired resync", "--from-token t40"] {
        assert!(hint.contains(part), "{hint}");
    }
    let other = failed(
        Code::InvalidArgument,
        "CURSOR_INVALID",
        "Of another catalog.",
        &[],
    );
    fake.fail("WatchCatalog", other);
    let error = fake.run("", &["watch", "--from-token", "t7"]).done().error(65);
    assert_eq!(error["reason"], "CURSOR_INVALID");
    assert!(
        error["hint"].as_str().unwrap().contains("--from-token"),
        "{error}"
    );
    // Once for each: a token does not become better.
    assert_eq!(watches(&fake), 2);
}

#[test]
fn the_choices_are_those_of_the_request() {
    let fake = Fake::start();
    let mut watching = watch(
        &fake,
        "jsonl",
        &[
            "--kind",
            "workspace",
            "--kind",
            "WORKSPACE_ORDER",
            "--earliest",
            "--ungrouped",
            "--include-internal",
            "--heartbeat",
            "30s",
        ],
    );
    watching.line();
    watching.interrupt();
    let request = request(&fake);
    assert_eq!(request.kinds, [1, 2]);
    assert_eq!(request.start(), WatchStart::Earliest);
    assert!(request.ungrouped && request.include_internal && !request.include_rows);
    assert_eq!(request.heartbeat.unwrap().seconds, 30);
    assert!(request.workspaces.is_empty());
}

#[test]
fn what_makes_no_sense_is_refused_before_any_request() {
    let fake = Fake::with_two();
    let refused: [&[&str]; 10] = [
        &["--from-token", "t7", "--snapshot"],
        &["--from-token", "t7", "--earliest"],
        &["--snapshot", "--earliest"],
        &["--from-token", ""],
        &["--workspace="],
        &["--workspace", "a", "--workspace", "  "],
        &["--kind", "file"],
        &["--on-expired", "ignore"],
        &["--heartbeat", "often"],
        &["-o", "toon"],
    ];
    for arguments in refused {
        let all = [&["watch"], arguments].concat();
        let done = Run::new(fake.home(), &fake.path(""), &all).done();
        assert_eq!(done.exit, 64, "{arguments:?}: {}", done.stderr);
    }
    assert!(fake.calls().is_empty());
}

/// The reference that was watched, and what the lines say about where it came from.
fn watched(
    fake: &Fake,
    directory: &str,
    arguments: &[&str],
    environment: Option<&str>,
) -> (Vec<String>, Value) {
    let all = [&["watch"], arguments].concat();
    let mut run = fake.run_form("jsonl", directory, &all);
    if let Some(name) = environment {
        run = run.env("COMPOZY_WORKSPACE", name);
    }
    let mut watching = Watching::start(run);
    let line = watching.json();
    watching.interrupt();
    let id = |reference: WorkspaceRef| match reference.form {
        Some(Form::Id(id)) => id,
        other => panic!("{other:?} is watched"),
    };
    let ids = request(fake).workspaces.into_iter().map(id).collect();
    (ids, line["resolution_source"].clone())
}

#[test]
fn all_workspaces_are_watched_unless_some_are_named() {
    let fake = Fake::with_two();
    fake.directory("b/deep");
    let (a, b) = (workspace(&fake, "a").id, workspace(&fake, "b").id);
    assert_eq!(watched(&fake, "b", &[], None), (vec![], Value::Null));
    assert_eq!(watched(&fake, "b", &[], Some(" ")), (vec![], Value::Null));
    let both = ["--workspace", "a", "--workspace", "./deep"];
    assert_eq!(
        watched(&fake, "b", &both, Some("none")),
        (vec![a.clone(), b.clone()], json!("flag"))
    );
    assert_eq!(
        watched(&fake, "b", &[], Some("a")),
        (vec![a.clone()], json!("env"))
    );
    assert_eq!(
        watched(&fake, "b", &["--here"], Some("a")),
        (vec![a], json!("env"))
    );
    assert_eq!(
        watched(&fake, "b/deep", &["--here"], None),
        (vec![b], json!("cwd"))
    );
}

#[test]
fn a_workspace_that_is_not_there_is_named_with_its_source() {
    let fake = Fake::with_two();
    let run = fake.run("", &["watch"]).env("COMPOZY_WORKSPACE", "none");
    let error = run.done().error(66);
    assert_eq!(error["reason"], "WORKSPACE_NOT_FOUND");
    assert_eq!(error["metadata"]["resolution_source"], "env");
    assert!(error["message"].as_str().unwrap().contains("COMPOZY_WORKSPACE"));
    let error = fake.run("", &["watch", "--here"]).done().error(66);
    assert!(
        error["message"].as_str().unwrap().contains("lies in none"),
        "{error}"
    );
    assert_eq!(watches(&fake), 0);
}
