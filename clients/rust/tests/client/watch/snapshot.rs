//! A snapshot is whole, or begins again and says so.

use compozy_client::proto::change::v1::WatchStart;
use compozy_client::{ResyncCause, WatchEvent, WatchRequest};

use super::feed::{
    asked, changes, ends, expect_changes, heartbeat, next, plain_row, row, stays, synced, tokens,
};
use crate::server::{Answer, Scripted};

fn is_row(number: usize) -> WatchEvent {
    WatchEvent::Row(plain_row(number))
}

const BEGINS_AGAIN: WatchEvent = WatchEvent::Resync {
    workspace_ids: Vec::new(),
    reason: ResyncCause::SnapshotCut,
};

#[tokio::test]
async fn rows_come_first_and_a_token_with_synced() {
    let server = Scripted::on_socket(|number, _| match number {
        0 => ends(vec![row(1), heartbeat("h1"), row(2), synced("t0"), changes([1])]),
        _ => stays(vec![changes([2]), synced("t2"), changes([3])]),
    });
    let mut watch = server.client().watch(WatchRequest::new().snapshot());
    for number in [1, 2] {
        assert_eq!(next(&mut watch).await, is_row(number));
        assert_eq!(watch.token(), None, "no token says which rows are missing");
    }
    assert_eq!(next(&mut watch).await, WatchEvent::Synced);
    assert_eq!(watch.token(), Some("t0"));
    // The reconnect is not told: nothing was missed, and no rows come a second time.
    expect_changes(&mut watch, 1..=3).await;
    assert_eq!(tokens(&server.seen()), ["", "t1"]);
    let starts: Vec<WatchStart> = server.seen().iter().map(|seen| asked(seen).start()).collect();
    assert_eq!(starts, [WatchStart::Snapshot, WatchStart::Unspecified]);
}

#[tokio::test]
async fn a_snapshot_that_is_cut_begins_again_and_says_so_first() {
    let server = Scripted::on_port(|number, _| match number {
        0 => ends(vec![row(1), heartbeat("h1"), row(2)]),
        1 => Answer::Page(503),
        2 => ends(vec![row(1)]),
        _ => stays(vec![row(2), row(3), synced("t0"), changes([1])]),
    })
    .await;
    let mut watch = server.client().watch(WatchRequest::new().snapshot());
    let expected = [
        is_row(1),
        is_row(2),
        BEGINS_AGAIN,
        is_row(1),
        BEGINS_AGAIN,
        is_row(2),
        is_row(3),
    ];
    for event in expected {
        assert_eq!(next(&mut watch).await, event);
        assert_eq!(watch.token(), None);
    }
    assert_eq!(next(&mut watch).await, WatchEvent::Synced);
    expect_changes(&mut watch, [1]).await;
    for seen in server.seen() {
        let request = asked(&seen);
        assert_eq!(
            (request.start(), request.resume_token.as_str()),
            (WatchStart::Snapshot, "")
        );
    }
}

#[tokio::test]
async fn a_snapshot_that_is_cut_before_its_first_row_just_begins_again() {
    let server = Scripted::on_socket(|number, _| match number {
        0 => ends(vec![heartbeat("h1")]),
        _ => stays(vec![row(1), synced("t0")]),
    });
    let mut watch = server.client().watch(WatchRequest::new().snapshot());
    assert_eq!(next(&mut watch).await, is_row(1));
    assert_eq!(next(&mut watch).await, WatchEvent::Synced);
}

#[tokio::test]
async fn the_earliest_change_is_asked_for_until_one_came() {
    let server = Scripted::on_socket(|number, _| match number {
        0 => stays(vec![crate::server::Beat::Cut]),
        1 => ends(vec![changes([1, 2])]),
        _ => stays(vec![changes([3]), synced("t3")]),
    });
    let mut watch = server.client().watch(WatchRequest::new().earliest());
    expect_changes(&mut watch, 1..=3).await;
    assert_eq!(next(&mut watch).await, WatchEvent::Synced);
    let starts: Vec<WatchStart> = server.seen().iter().map(|seen| asked(seen).start()).collect();
    assert_eq!(
        starts,
        [
            WatchStart::Earliest,
            WatchStart::Earliest,
            WatchStart::Unspecified
        ]
    );
}
