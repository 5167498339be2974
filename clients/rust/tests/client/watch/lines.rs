//! The connections: small windows, streams apart from calls, and a reader that does not read.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use compozy_client::proto::workspace::v1::{GetWorkspaceRequest, GetWorkspaceResponse};
use compozy_client::{Client, Endpoint, WatchEvent, WatchRequest};
use futures::StreamExt;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

use super::feed::{asked, changes, expect_changes, next, stays, synced, within};
use crate::server::{Answer, Scripted, message};

/// What a client announces at the beginning of a connection: the window of a stream and by how much it
/// raises the one of the connection.
async fn announced(listener: &TcpListener) -> (u32, u32) {
    let (mut stream, _) = within(listener.accept()).await.unwrap();
    let mut preface = [0; 24];
    within(stream.read_exact(&mut preface)).await.unwrap();
    let (mut window, mut raised) = (None, None);
    while window.is_none() || raised.is_none() {
        let mut head = [0; 9];
        within(stream.read_exact(&mut head)).await.unwrap();
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        within(stream.read_exact(&mut payload)).await.unwrap();
        let number = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().unwrap());
        match head[3] {
            // SETTINGS, of which 4 is INITIAL_WINDOW_SIZE.
            4 => {
                let settings = payload.chunks(6).filter(|one| one[..2] == [0, 4]);
                window = settings.map(|one| number(&one[2..])).next().or(window);
            }
            // WINDOW_UPDATE of the connection.
            8 if head[5..] == [0; 4] => raised = Some(number(&payload)),
            other => panic!("frame of type {other}"),
        }
    }
    (window.unwrap(), raised.unwrap())
}

#[tokio::test]
async fn the_window_of_a_watch_is_small() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let client = Client::builder()
        .endpoint(Endpoint::parse(&address).unwrap())
        .token("secret")
        .build()
        .unwrap();
    let mut watch = client.watch(WatchRequest::new());
    let (window, raised) = tokio::select! {
        announced = announced(&listener) => announced,
        item = watch.next() => panic!("{item:?}"),
    };
    assert_eq!(window, 64 * 1024);
    // HTTP/2 begins with 64 KiB less one byte.
    assert_eq!(raised + 65_535, 16 * 1024 * 1024);
}

/// Changes for each reader: more than its window holds.
const CHANGES: usize = 4_000;
/// About as many frames of one change fill a window.
const WINDOW: usize = 1_600;

#[tokio::test]
async fn sixteen_readers_that_do_not_read_harm_nobody_and_lose_nothing() {
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = sent.clone();
    let server = Scripted::on_socket(move |_, seen| {
        if seen.path.ends_with("/GetWorkspace") {
            return message(&GetWorkspaceResponse::default());
        }
        assert_eq!(asked(seen).resume_token, "", "nobody comes a second time");
        let counted = counted.clone();
        let beats = futures::stream::iter(1..=CHANGES).map(move |number| {
            counted.fetch_add(1, Ordering::SeqCst);
            changes([number])
        });
        let begin = futures::stream::iter([synced("t0")]);
        Answer::Stream(begin.chain(beats).chain(futures::stream::pending()).boxed())
    });
    let client = server.client();
    let mut watches: Vec<_> = (0..16).map(|_| client.watch(WatchRequest::new())).collect();
    for watch in &mut watches {
        assert_eq!(next(watch).await, WatchEvent::Synced);
    }
    // The server fills the windows with frames that are as small as they come, and then has to wait.
    within(async {
        while sent.load(Ordering::SeqCst) < 16 * WINDOW {
            let answer = client.get_workspace(GetWorkspaceRequest::default()).await;
            assert!(answer.is_ok(), "a call finds its way: {answer:?}");
        }
    })
    .await;
    assert!(sent.load(Ordering::SeqCst) < 16 * CHANGES);
    for watch in &mut watches {
        expect_changes(watch, 1..=CHANGES).await;
    }
    let streams = server
        .seen()
        .into_iter()
        .filter(|seen| !seen.path.ends_with("/GetWorkspace"));
    let connections: Vec<usize> = streams.map(|seen| seen.connection).collect();
    assert_eq!(connections.len(), 16, "no stream was broken and begun again");
    assert!(
        connections.iter().all(|one| *one == connections[0]),
        "{connections:?}"
    );
}

#[tokio::test]
async fn a_seventeenth_watch_has_another_connection() {
    let server = Scripted::on_socket(|_, _| stays(vec![synced("t0")]));
    let client = server.client();
    let mut watches: Vec<_> = (0..17).map(|_| client.watch(WatchRequest::new())).collect();
    for watch in &mut watches {
        assert_eq!(next(watch).await, WatchEvent::Synced);
    }
    let seen = server.seen();
    assert!(seen[..16].iter().all(|one| one.connection == seen[0].connection));
    assert_ne!(seen[16].connection, seen[0].connection);
}
