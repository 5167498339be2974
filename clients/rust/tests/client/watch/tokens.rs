//! The token to persist: it moves when the event that it belongs to was handed out, and never back.

use compozy_client::{WatchEvent, WatchRequest};
use futures::FutureExt;

use super::feed::{changes, expect_changes, heartbeat, next, quiet_until, stays, synced, tokens};
use crate::server::Scripted;

#[tokio::test]
async fn it_moves_with_each_event_and_with_heartbeats() {
    let server = Scripted::on_socket(|_, _| {
        stays(vec![
            synced("t0"),
            changes([1, 2, 3]),
            heartbeat("h1"),
            changes([4]),
            heartbeat("h2"),
        ])
    });
    let mut watch = server.client().watch(WatchRequest::new());
    assert_eq!(watch.token(), None);
    assert_eq!(next(&mut watch).await, WatchEvent::Synced);
    assert_eq!(watch.token(), Some("t0"));
    // One after the other, although they come in one message and the heartbeat is there already.
    expect_changes(&mut watch, 1..=4).await;
    quiet_until(&mut watch, |watch| watch.token() == Some("h2")).await;
    assert!(futures::StreamExt::next(&mut watch).now_or_never().is_none());
}

#[tokio::test]
async fn what_is_not_handed_out_comes_again() {
    let server = Scripted::on_socket(|number, _| match number {
        0 => stays(vec![synced("t0"), changes([1, 2, 3]), heartbeat("h1")]),
        _ => stays(vec![changes([2, 3])]),
    });
    let mut watch = server.client().watch(WatchRequest::new());
    assert_eq!(next(&mut watch).await, WatchEvent::Synced);
    expect_changes(&mut watch, [1]).await;
    let token = watch.token().unwrap().to_owned();
    drop(watch);
    let mut watch = server.client().watch(WatchRequest::new().resume(token));
    expect_changes(&mut watch, [2, 3]).await;
    assert_eq!(tokens(&server.seen()), ["", "t1"]);
}
