//! `compozy watch` against a real daemon: what a script sees, over restarts too.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdout};
use std::sync::mpsc;
use std::time::Duration;

use compozy_client::proto::workspace::v1::{ListWorkspacesRequest, UpdateWorkspaceRequest, Workspace};
use compozy_e2e::{Daemon, Done, Environment, Run, by_id, register, until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// A watch that runs, in JSON.
struct Watching {
    child: Child,
    stdout: BufReader<ChildStdout>,
    /// Dropped with it. As long as it is there, the child has an end.
    _alive: mpsc::Sender<()>,
}

/// How long a watch of a test may run: one that waits for a line that never comes fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(240);

impl Watching {
    fn start(environment: &Environment, arguments: &[&str]) -> Self {
        let mut child = Run::compozy(environment, &[&["watch"], arguments].concat()).spawn();
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

    /// One that is past its `synced`.
    #[track_caller]
    fn synced(environment: &Environment, arguments: &[&str]) -> Self {
        let mut watching = Self::start(environment, arguments);
        assert_eq!(watching.line()["event"], "synced");
        watching
    }

    /// The next line.
    #[track_caller]
    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        match serde_json::from_str(&line) {
            Ok(value) => value,
            Err(error) => {
                self.child.kill().unwrap();
                let mut said = String::new();
                self.child
                    .stderr
                    .take()
                    .unwrap()
                    .read_to_string(&mut said)
                    .unwrap();
                panic!("{error}: {line:?}; {said}");
            }
        }
    }

    /// The next change; what happens to the connection is passed over.
    #[track_caller]
    fn change(&mut self) -> Value {
        loop {
            let line = self.line();
            match line["event"].as_str().unwrap() {
                "changed" | "removed" => return line,
                "reconnecting" | "reconnected" | "position" => {}
                _ => panic!("{line}"),
            }
        }
    }

    fn interrupt(mut self) -> Done {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, Signal::INT).unwrap();
        let mut stdout = String::new();
        self.stdout.read_to_string(&mut stdout).unwrap();
        let output = self.child.wait_with_output().unwrap();
        Done {
            stdout,
            ..Done::from(output)
        }
    }
}

/// Registers a directory of this name and answers the record.
async fn add(environment: &Environment, daemon: &Daemon, name: &str) -> Workspace {
    let path = environment.make(name);
    register(daemon.client(), path).await.unwrap().workspace.unwrap()
}

async fn retitle(daemon: &Daemon, workspace: &Workspace, title: &str) {
    let request = UpdateWorkspaceRequest {
        r#ref: Some(by_id(&workspace.id)),
        workspace: Some(Workspace {
            title: Some(title.to_owned()),
            ..Workspace::default()
        }),
        update_mask: Some(prost_types::FieldMask {
            paths: vec!["title".to_owned()],
        }),
        ..UpdateWorkspaceRequest::default()
    };
    daemon.client().update_workspace(request).await.unwrap();
}

async fn revision(daemon: &Daemon) -> String {
    let request = ListWorkspacesRequest::default();
    let page = daemon.client().list_workspaces(request).await.unwrap().page;
    page.unwrap().revision
}

#[tokio::test(flavor = "multi_thread")]
async fn c050_a_watch_is_lines_of_json() {
    let environment = Environment::new();
    let daemon = Daemon::start(&environment).await;
    let there = add(&environment, &daemon, "there").await;
    let mut watching = Watching::start(&environment, &["--snapshot", "--rows"]);
    let row = watching.line();
    assert_eq!(
        (&row["event"], &row["row"]["workspace"]["id"]),
        (&"row".into(), &there.id.as_str().into())
    );
    assert_eq!(watching.line()["event"], "synced");
    let new = add(&environment, &daemon, "new").await;
    let line = watching.change();
    assert_eq!(
        (&line["event"], &line["kind"], &line["reason"]),
        (&"changed".into(), &"WORKSPACE".into(), &"CREATED".into())
    );
    assert_eq!(line["workspace_id"], new.id);
    assert_eq!(line["row"]["workspace"]["name"], "new");
    assert!(!line["token"].as_str().unwrap().is_empty());
    assert_eq!(watching.interrupt().exit, 130);
}

#[tokio::test(flavor = "multi_thread")]
async fn c068_one_watch_more_than_the_limit() {
    let environment = Environment::new();
    environment.configure("[workspaces]\nregister_home = false\n[limits]\nwatchers = 1\n");
    let daemon = Daemon::start(&environment).await;
    let mut first = Watching::synced(&environment, &[]);
    let error = Run::compozy(&environment, &["watch"]).done().error(75);
    assert_eq!(error["reason"], "TOO_MANY_WATCHERS");
    assert!(
        error["hint"].as_str().unwrap().starts_with("try again in "),
        "{error}"
    );
    let new = add(&environment, &daemon, "new").await;
    assert_eq!(first.change()["workspace_id"], new.id);
    // Its seat is free as soon as it has ended.
    assert_eq!(first.interrupt().exit, 130);
    until("a free seat", || {
        let mut next = Watching::start(&environment, &[]);
        let is_in = next.line()["event"] == "synced";
        next.interrupt();
        is_in
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn c071_an_interrupt_leaves_no_half_line() {
    let environment = Environment::new();
    let daemon = Daemon::start(&environment).await;
    let workspace = add(&environment, &daemon, "a").await;
    let mut watching = Watching::synced(&environment, &["--rows"]);
    for number in 0..20 {
        retitle(&daemon, &workspace, &format!("title {number}")).await;
    }
    watching.change();
    let done = watching.interrupt();
    assert_eq!((done.exit, done.stderr.as_str()), (130, ""));
    for line in done.stdout.split_inclusive('\n') {
        assert!(line.ends_with('\n'), "{line:?}");
        let value: Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["event"], "changed");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c119_a_watch_goes_on_over_restarts_with_every_change_once() {
    let environment = Environment::new();
    let mut daemon = Daemon::start(&environment).await;
    let mut watching = Watching::synced(&environment, &[]);
    let mut expected = Vec::new();
    for round in 0..4 {
        for number in 0..3 {
            expected.push(add(&environment, &daemon, &format!("r{round}n{number}")).await.id);
        }
        // In order, and as loss of power would.
        if round % 2 == 0 {
            daemon.stop();
        } else {
            daemon.kill();
        }
        daemon = Daemon::start(&environment).await;
    }
    expected.push(add(&environment, &daemon, "last").await.id);
    let mut seen = Vec::new();
    while seen.last() != expected.last() {
        let change = watching.change();
        // Registrations also append to the manual order, where a release does that.
        if change["kind"] == "WORKSPACE" {
            seen.push(change["workspace_id"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(seen, expected);
    assert_eq!(watching.interrupt().stderr, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn c120_a_watch_from_a_token_begins_after_it() {
    let environment = Environment::new();
    let daemon = Daemon::start(&environment).await;
    let mut first = Watching::synced(&environment, &[]);
    let mut ids = Vec::new();
    for name in ["a", "b", "c"] {
        ids.push(add(&environment, &daemon, name).await.id);
    }
    let token = first.change()["token"].as_str().unwrap().to_owned();
    first.interrupt();
    let mut second = Watching::start(&environment, &["--from-token", &token]);
    assert_eq!(second.change()["workspace_id"], ids[1]);
    assert_eq!(second.change()["workspace_id"], ids[2]);
    assert_eq!(second.line()["event"], "synced");
    second.interrupt();

    // Also one of a workspace that is there no more, by its id and the token of its own watch.
    let filter = ["--workspace", &ids[2]];
    let mut filtered = Watching::synced(&environment, &filter);
    let line = Run::compozy(&environment, &["workspace", "remove", "c"]).done();
    line.exits(0);
    let removed = filtered.change();
    assert_eq!(
        (&removed["event"], &removed["resolution_source"]),
        (&"removed".into(), &"flag".into())
    );
    let token = removed["token"].as_str().unwrap().to_owned();
    filtered.interrupt();
    Watching::synced(&environment, &[&filter[..], &["--from-token", &token]].concat()).interrupt();
}

#[tokio::test(flavor = "multi_thread")]
async fn c121_a_token_that_is_too_old_or_of_another_home() {
    let environment = Environment::new();
    environment.configure("[workspaces]\nregister_home = false\n[changes]\nretain_entries = 2\n");
    let daemon = Daemon::start(&environment).await;
    let token = revision(&daemon).await;
    let workspace = add(&environment, &daemon, "a").await;
    for number in 0..5 {
        retitle(&daemon, &workspace, &format!("title {number}")).await;
    }
    let from_token = |token: &str| Run::compozy(&environment, &["watch", "--from-token", token]);
    // Until the log is trimmed, the changes are still there.
    until("the log to be trimmed", || {
        let mut watching = Watching::start(&environment, &["--from-token", &token]);
        let is_error = watching.line().get("error").is_some();
        watching.interrupt();
        is_error
    });
    let error = from_token(&token).done().error(66);
    assert_eq!(error["reason"], "RESUME_TOKEN_EXPIRED");
    let oldest = error["metadata"]["oldest_token"].as_str().unwrap();
    assert!(error["hint"].as_str().unwrap().contains(oldest), "{error}");
    // From the one that it names on, everything that is kept comes.
    let mut watching = Watching::start(&environment, &["--from-token", oldest]);
    let versions = [watching.change(), watching.change()].map(|change| change["version"].as_i64().unwrap());
    assert_eq!(versions[1], versions[0] + 1);
    assert_eq!(watching.line()["event"], "synced");
    watching.interrupt();
    // Whoever wants to go on is told what is missing.
    let mut watching = Watching::start(&environment, &["--from-token", &token, "--on-expired", "resync"]);
    let resync = watching.line();
    assert_eq!(
        (&resync["event"], &resync["reason"]),
        (&"resync".into(), &"EXPIRED".into())
    );
    assert_eq!(watching.line()["event"], "synced");
    watching.interrupt();

    let other = Environment::new();
    let other_daemon = Daemon::start(&other).await;
    let error = from_token(&revision(&other_daemon).await).done().error(65);
    assert_eq!(error["reason"], "CURSOR_INVALID");
}
