//! A gap is told.

use compozy_client::proto::change::v1::{Change, ChangeOp, OnExpired, ResyncReason};
use compozy_client::{ResyncCause, WatchEvent, WatchRequest};

use super::feed::{asked, change, changes, ends, expect_changes, next, resync, says, stays, synced, tokens};
use crate::server::Scripted;

fn gap(reason: ResyncCause, workspace_ids: &[&str]) -> WatchEvent {
    WatchEvent::Resync {
        workspace_ids: workspace_ids.iter().map(|id| (*id).to_owned()).collect(),
        reason,
    }
}

#[tokio::test]
async fn a_gap_in_the_stream_is_handed_out_with_what_is_unknown() {
    let server = Scripted::on_socket(|number, _| match number {
        0 => ends(vec![
            synced("t0"),
            changes([1]),
            resync(ResyncReason::Behind, &["ws_1", "ws_2"], "t5"),
        ]),
        _ => stays(vec![changes([6]), synced("t6"), changes([7])]),
    });
    let mut watch = server.client().watch(WatchRequest::new());
    assert_eq!(next(&mut watch).await, WatchEvent::Synced);
    expect_changes(&mut watch, [1]).await;
    assert_eq!(
        next(&mut watch).await,
        gap(ResyncCause::Behind, &["ws_1", "ws_2"])
    );
    assert_eq!(watch.token(), Some("t5"));
    expect_changes(&mut watch, [6, 7]).await;
    assert_eq!(tokens(&server.seen()), ["", "t5"]);
}

#[tokio::test]
async fn a_gap_at_the_beginning_ends_with_synced_each_time() {
    let server = Scripted::on_socket(|number, _| match number {
        0 => ends(vec![
            resync(ResyncReason::Expired, &[], "t5"),
            synced("t5"),
            changes([6]),
        ]),
        1 => ends(vec![resync(ResyncReason::Epoch, &[], "t1"), synced("t1")]),
        _ => stays(vec![synced("t1"), resync(ResyncReason::Unspecified, &[], "t2")]),
    });
    let request = WatchRequest::new().resume("old").resync_when_expired();
    let mut watch = server.client().watch(request);
    assert_eq!(next(&mut watch).await, gap(ResyncCause::Expired, &[]));
    assert_eq!(next(&mut watch).await, WatchEvent::Synced);
    expect_changes(&mut watch, [6]).await;
    assert_eq!(next(&mut watch).await, gap(ResyncCause::Epoch, &[]));
    assert_eq!(next(&mut watch).await, WatchEvent::Synced);
    assert_eq!(watch.token(), Some("t1"));
    assert_eq!(next(&mut watch).await, gap(ResyncCause::Other, &[]));
    assert_eq!(tokens(&server.seen()), ["old", "t6", "t1"]);
    assert_eq!(asked(&server.seen()[1]).on_expired(), OnExpired::Resync);
}

#[tokio::test]
async fn what_is_gone_is_told_from_what_changed() {
    use compozy_client::proto::change::v1::ChangeBatch;
    use compozy_client::proto::change::v1::watch_catalog_response::Message;
    let with = |op: i32| Change { op, ..change(1) };
    let (deleted, newer) = (with(ChangeOp::Deleted.into()), with(99));
    let sent = ChangeBatch {
        changes: vec![deleted.clone(), newer.clone()],
    };
    let server =
        Scripted::on_socket(move |_, _| stays(vec![says(Message::Changes(sent.clone())), synced("t1")]));
    let mut watch = server.client().watch(WatchRequest::new());
    assert_eq!(next(&mut watch).await, WatchEvent::Removed(deleted));
    assert_eq!(next(&mut watch).await, WatchEvent::Changed(newer));
}
