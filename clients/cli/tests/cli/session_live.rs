//! `session list --watch`: what is there, and what changes on it.

use compozy_client::proto::change::v1::{Change, ChangeKind, ChangeOp, ChangeReason, WatchCatalogRequest};
use compozy_client::proto::workspace::v1::workspace_ref::Form;
use serde_json::json;
use tonic::{Code, Status};

use crate::fake::changes::batch;
use crate::fake::{failed, sessions};
use crate::run::until;
use crate::session_list::with_three;
use crate::watch::Watching;

/// A change of a session as change number `number`.
fn change(number: u32, session_id: &str, workspace_id: &str) -> Change {
    Change {
        token: format!("t{number}"),
        kind: ChangeKind::Session.into(),
        op: ChangeOp::Upserted.into(),
        reason: ChangeReason::State.into(),
        session_id: session_id.to_owned(),
        workspace_id: workspace_id.to_owned(),
        version: i64::from(number),
        ..Change::default()
    }
}

#[test]
fn a_watched_list_tells_what_is_there_and_what_changes_on_it() {
    let (fake, all) = with_three();
    let home = fake.state.workspaces.lock().unwrap()[0].id.clone();
    let run = fake.run(
        "a",
        &["session", "list", "--watch", "--here", "--state", "active"],
    );
    let mut watching = Watching::start(run);
    let row = watching.json();
    assert_eq!(
        row.as_object().unwrap().keys().next().unwrap(),
        "resolution_source"
    );
    assert_eq!(
        (&row["event"], &row["session"]["id"]),
        (&"row".into(), &all[0].as_str().into())
    );
    assert_eq!(
        watching.json(),
        json!({"resolution_source": "cwd", "event": "synced", "total": 1})
    );
    until("the watch", || fake.state.watches.open_count() == 1);
    let request = fake.last::<WatchCatalogRequest>("WatchCatalog");
    assert_eq!(request.resume_token, "r7");
    assert_eq!(request.workspaces[0].form, Some(Form::Id(home.clone())));

    // A new one, one that changes, and nothing for one that matches no more than before.
    let new = fake.add_session(Some("a"));
    fake.state.watches.tell(&batch(vec![change(1, &new, &home)]));
    let line = watching.json();
    assert_eq!(
        (&line["event"], &line["session"]["id"]),
        (&"changed".into(), &new.as_str().into())
    );
    fake.change_session(&all[0], |session| session.name = "parser".to_owned());
    fake.state.watches.tell(&batch(vec![change(2, &all[0], &home)]));
    assert_eq!(watching.json()["session"]["name"], "parser");
    fake.state
        .watches
        .tell(&batch(vec![change(3, &all[1], "ws_other")]));
    // One that matches no more is off the list.
    fake.change_session(&new, sessions::stopped);
    fake.state.watches.tell(&batch(vec![change(4, &new, &home)]));
    let line = watching.json();
    assert_eq!(
        (&line["event"], &line["session_id"]),
        (&"removed".into(), &new.as_str().into())
    );
    assert_eq!(watching.interrupt().exit, 130);
}

#[test]
fn a_watched_list_outlives_a_daemon_that_comes_back() {
    let (fake, all) = with_three();
    let mut watching = Watching::start(fake.run("", &["session", "list", "--watch"]));
    (0..4).for_each(|_| drop(watching.line()));
    until("the watch", || fake.state.watches.open_count() == 1);
    // More often than the client repeats a call.
    fake.fail(
        "ListSessions",
        failed(Code::Unavailable, "DRAINING", "It shuts down.", &[]),
    );
    fake.change_session(&all[0], |session| session.name = "parser".to_owned());
    fake.state.watches.tell(&batch(vec![change(1, &all[0], "")]));
    let asked = || {
        fake.calls()
            .iter()
            .filter(|method| **method == "ListSessions")
            .count()
    };
    until("attempts in vain", || asked() > 5);
    fake.state.watches.end(&Status::unavailable("gone"));
    fake.recover("ListSessions");
    let mut line = watching.json();
    while line["event"] == "reconnecting" || line["event"] == "reconnected" {
        line = watching.json();
    }
    assert_eq!(
        (&line["event"], &line["session"]["name"]),
        (&"changed".into(), &"parser".into())
    );
    watching.interrupt();
}

#[test]
fn people_off_a_terminal_get_a_line_for_each_change() {
    let (fake, all) = with_three();
    let run = fake.run_form("human", "", &["session", "list", "--watch"]);
    let mut watching = Watching::start(run);
    assert!(watching.line().starts_with(&format!("present   {}", all[0])));
    drop((watching.line(), watching.line()));
    until("the watch", || fake.state.watches.open_count() == 1);
    fake.change_session(&all[2], sessions::stopped);
    fake.state.watches.tell(&batch(vec![change(1, &all[2], "")]));
    let line = watching.line();
    assert!(
        line.starts_with(&format!("changed   {}", all[2])) && line.contains("stopped"),
        "{line}"
    );
    watching.interrupt();
}
