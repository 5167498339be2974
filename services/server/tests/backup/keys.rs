//! Keys and epochs, changed by the real `compozyd` beside a daemon.

use compozy_proto::workspace::v1::ListWorkspacesRequest;
use tonic::Code;

use crate::daemon::{Daemon, Place, explained, said};

fn page(cursor: &str) -> ListWorkspacesRequest {
    ListWorkspacesRequest {
        limit: 1,
        cursor: cursor.to_owned(),
        ..Default::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn w323_a_cursor_outlives_one_new_key_and_not_two() {
    let place = Place::new();
    let daemon = Daemon::start(&place.home("h")).await;
    for name in ["a", "b", "c"] {
        daemon.register(&place.directory(name)).await;
    }
    let cursor = daemon
        .list(page(""))
        .await
        .unwrap()
        .page
        .unwrap()
        .next_cursor
        .unwrap();
    let rotate = || {
        let output = place.compozyd(&daemon.home, &["rotate-key"]);
        assert!(output.status.success(), "{}", said(&output));
    };
    rotate();
    let second = daemon.list(page(&cursor)).await.unwrap();
    assert_eq!(second.workspaces.len(), 1);
    let newer = second.page.unwrap().next_cursor.unwrap();
    rotate();
    let status = daemon.list(page(&cursor)).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    let info = explained(&status);
    assert_eq!(
        (info.reason.as_str(), info.metadata["cause"].as_str()),
        ("CURSOR_INVALID", "key_retired")
    );
    daemon.list(page(&newer)).await.unwrap();
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_epoch_waits_until_no_daemon_runs_and_shows_in_every_revision() {
    let place = Place::new();
    let home = place.home("h");
    let nothing = place.compozyd(&home, &["rotate-key"]);
    assert_eq!(nothing.status.code(), Some(65), "{}", said(&nothing));
    assert!(!home.path().exists(), "no catalog is made on the way");

    let daemon = Daemon::start(&home).await;
    let before = daemon.list(page("")).await.unwrap().page.unwrap().revision;
    let refused = place.compozyd(&home, &["new-epoch"]);
    assert_eq!(refused.status.code(), Some(69), "{}", said(&refused));
    assert_eq!(
        daemon.list(page("")).await.unwrap().page.unwrap().revision,
        before
    );
    daemon.stop().await;
    let begun = place.compozyd(&home, &["new-epoch"]);
    assert!(begun.status.success(), "{}", said(&begun));
    let daemon = Daemon::start(&home).await;
    assert_ne!(
        daemon.list(page("")).await.unwrap().page.unwrap().revision,
        before
    );
    daemon.stop().await;
}
