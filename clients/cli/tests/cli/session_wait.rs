//! `session wait`: until a session is in a state, or it takes too long.

use compozy_client::proto::change::v1::{Change, ChangeKind, ChangeOp, ChangeReason, WatchCatalogRequest};
use compozy_client::proto::session::v1::{RuntimeState, SessionState};
use compozy_client::proto::workspace::v1::workspace_ref::Form;

use crate::fake::changes::batch;
use crate::fake::{Fake, sessions};
use crate::run::until;
use crate::watch::Watching;

fn change(session_id: &str, workspace_id: &str, reason: ChangeReason) -> Change {
    let op = if reason == ChangeReason::Left {
        ChangeOp::Deleted
    } else {
        ChangeOp::Upserted
    };
    Change {
        token: "t1".to_owned(),
        kind: ChangeKind::Session.into(),
        op: op.into(),
        reason: reason.into(),
        session_id: session_id.to_owned(),
        workspace_id: workspace_id.to_owned(),
        ..Change::default()
    }
}

#[test]
fn c069_a_wait_that_takes_too_long_fails_as_such() {
    let fake = Fake::with_two();
    let session = fake.add_session(Some("a"));
    let started = std::time::Instant::now();
    let arguments = [
        "session",
        "wait",
        &session,
        "--until",
        "stopped",
        "--timeout",
        "1s",
    ];
    let error = fake.run("", &arguments).done().error(75);
    assert!(started.elapsed().as_millis() >= 1_000);
    assert_eq!(
        (&error["code"], &error["metadata"]["state"]),
        (&"DEADLINE_EXCEEDED".into(), &"active".into())
    );
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains(&session) && message.contains("is active after 1 s"),
        "{message}"
    );
}

#[test]
fn what_is_so_already_is_not_waited_for() {
    let fake = Fake::with_two();
    let session = fake.add_session(Some("a"));
    let arguments = [
        "session",
        "wait",
        &session,
        "--until",
        "stopped",
        "--until",
        "ACTIVE",
        "--timeout",
        "0s",
    ];
    let json = fake.run("", &arguments).done().json();
    assert_eq!(json["session"]["state"], "ACTIVE");
    assert_eq!(fake.calls(), ["GetSession"]);
}

#[test]
fn a_wait_ends_with_the_change() {
    let fake = Fake::with_two();
    let (session, other) = (fake.add_session(Some("a")), fake.add_session(Some("a")));
    let home = fake.state.workspaces.lock().unwrap()[0].id.clone();
    let run = fake.run("", &["session", "wait", &session, "--until", "stopped"]);
    let waiting = Watching::start(run);
    until("the watch", || fake.state.watches.open_count() == 1);
    let request = fake.last::<WatchCatalogRequest>("WatchCatalog");
    assert_eq!(request.resume_token, "r7");
    assert_eq!(request.workspaces[0].form, Some(Form::Id(home.clone())));
    // Somebody else's change is no reason to look.
    fake.state
        .watches
        .tell(&batch(vec![change(&other, &home, ChangeReason::State)]));
    fake.change_session(&session, sessions::stopped);
    fake.state
        .watches
        .tell(&batch(vec![change(&session, &home, ChangeReason::State)]));
    let done = waiting.ended();
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let looks = fake
        .calls()
        .iter()
        .filter(|method| **method == "GetSession")
        .count();
    assert_eq!(looks, 2);
}

#[test]
fn a_wait_follows_its_session_to_another_account() {
    let fake = Fake::with_two();
    let session = fake.add_session(Some("a"));
    let home = fake.state.workspaces.lock().unwrap()[0].id.clone();
    let run = fake.run("", &["session", "wait", &session, "--until", "orphaned"]);
    let waiting = Watching::start(run);
    until("the watch", || fake.state.watches.open_count() == 1);
    fake.change_session(&session, |session| session.workspace_id.clear());
    fake.state
        .watches
        .tell(&batch(vec![change(&session, &home, ChangeReason::Left)]));
    until("another watch", || fake.state.watches.open_count() == 2);
    assert!(fake.last::<WatchCatalogRequest>("WatchCatalog").ungrouped);
    fake.change_session(&session, |session| session.set_state(SessionState::Orphaned));
    fake.state
        .watches
        .tell(&batch(vec![change(&session, "", ChangeReason::State)]));
    assert_eq!(waiting.ended().exit, 0);
}

#[test]
fn a_session_that_is_removed_meanwhile_is_a_failure() {
    let fake = Fake::with_two();
    let session = fake.add_session(Some("a"));
    let home = fake.state.workspaces.lock().unwrap()[0].id.clone();
    let run = fake.run("", &["session", "wait", &session, "--until", "stopped"]);
    let waiting = Watching::start(run);
    until("the watch", || fake.state.watches.open_count() == 1);
    fake.state.sessions.lock().unwrap().clear();
    fake.state
        .watches
        .tell(&batch(vec![change(&session, &home, ChangeReason::Removed)]));
    let done = waiting.ended();
    assert_eq!(done.exit, 66, "{}", done.stderr);
}

#[test]
fn a_stop_that_is_answered_early_is_waited_for_all_the_same() {
    let fake = Fake::with_two();
    let session = fake.add_session(Some("a"));
    let home = fake.state.workspaces.lock().unwrap()[0].id.clone();
    fake.change_session(&session, |session| {
        session.runtime.as_mut().unwrap().set_state(RuntimeState::Bound);
    });
    // As by a daemon that ends: it says that the session is stopping, long before the wait is over.
    let run = fake.run("", &["session", "stop", &session, "--wait", "60s"]);
    let waiting = Watching::start(run);
    until("the watch", || fake.state.watches.open_count() == 1);
    let request = fake.last::<WatchCatalogRequest>("WatchCatalog");
    assert_eq!(request.workspaces[0].form, Some(Form::Id(home.clone())));
    fake.change_session(&session, sessions::stopped);
    fake.state
        .watches
        .tell(&batch(vec![change(&session, &home, ChangeReason::State)]));
    let done = waiting.ended();
    assert_eq!(done.exit, 0, "{}", done.stderr);
    assert!(done.stdout.contains("\"STOPPED\""), "{}", done.stdout);
}

#[test]
fn a_wait_needs_a_state_that_there_is() {
    let fake = Fake::with_two();
    let done = fake.run("", &["session", "wait", "sess-1"]).done();
    assert_eq!(done.exit, 64);
    let done = fake
        .run("", &["session", "wait", "sess-1", "--until", "tired"])
        .done();
    assert_eq!(done.exit, 64);
    for word in ["starting", "active", "stopping", "stopped", "orphaned"] {
        assert!(done.stderr.contains(word), "{}", done.stderr);
    }
    assert!(fake.calls().is_empty());
}
