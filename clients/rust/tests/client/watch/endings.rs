//! When a watch ends, and what it leaves behind.

use std::sync::Mutex;
use std::time::Duration;

use compozy_client::proto::workspace::v1::GetWorkspaceRequest;
use compozy_client::{ATTEMPTS, Client, Code, Endpoint, ErrorKind, ErrorReason, WatchEvent, WatchRequest};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::Status;

use super::feed::{asked, changes, ending, expect_changes, failed, next, quiet_until, stays, synced, within};
use crate::server::{Answer, Beat, Scripted, unavailable};

#[tokio::test]
async fn nobody_waits_for_ever_for_a_server_that_is_not_there() {
    let client = Client::builder()
        .endpoint(Endpoint::socket("/nowhere.sock"))
        .build()
        .unwrap();
    let mut watch = client.watch(WatchRequest::new());
    let error = ending(&mut watch).await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Transport);
    assert!(error.message().contains("cannot be reached"), "{error}");
    assert!(ending(&mut watch).await.is_none(), "it stays at its end");
}

#[tokio::test]
async fn the_first_connection_is_tried_as_often_as_a_call() {
    let server = Scripted::on_socket(|_, _| unavailable(None));
    let error = ending(&mut server.client().watch(WatchRequest::new()))
        .await
        .unwrap()
        .unwrap_err();
    assert_eq!(error.reason(), ErrorReason::StoreUnavailable);
    assert_eq!(server.seen().len(), usize::try_from(ATTEMPTS).unwrap());

    // Also where it is the stream that fails, after its headers.
    let server = Scripted::on_socket(|number, _| match number {
        0..3 => stays(vec![Beat::End(failed(
            Code::Unavailable,
            "STORE_UNAVAILABLE",
            None,
        ))]),
        _ => stays(vec![synced("t0")]),
    });
    let mut watch = server.client().watch(WatchRequest::new());
    assert_eq!(next(&mut watch).await, WatchEvent::Synced);
    assert_eq!(server.seen().len(), 4);
}

#[tokio::test]
async fn a_server_that_takes_the_call_and_says_nothing_is_given_up() {
    let server = Scripted::on_socket(|_, _| Answer::Silence);
    let error = ending(&mut server.client().watch(WatchRequest::new()))
        .await
        .unwrap()
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.code(), server.seen().len()),
        (ErrorKind::Deadline, Code::DeadlineExceeded, 1)
    );
}

#[tokio::test]
async fn one_watch_too_many_is_an_error_at_first_and_waited_for_later() {
    let full = || failed(Code::ResourceExhausted, "TOO_MANY_WATCHERS", None);
    let server = Scripted::on_socket(move |_, _| Answer::Status(full()));
    let error = ending(&mut server.client().watch(WatchRequest::new()))
        .await
        .unwrap()
        .unwrap_err();
    assert_eq!(
        (error.reason(), server.seen().len()),
        (ErrorReason::TooManyWatchers, 1)
    );

    let server = Scripted::on_socket(move |number, _| match number {
        0 => super::feed::ends(vec![synced("t0")]),
        1..8 => Answer::Status(full()),
        _ => stays(vec![changes([1])]),
    });
    let mut watch = server.client().watch(WatchRequest::new());
    assert_eq!(next(&mut watch).await, WatchEvent::Synced);
    expect_changes(&mut watch, [1]).await;
}

#[tokio::test]
async fn an_answer_that_will_stay_ends_the_watch() {
    let lasting = [
        (
            failed(Code::OutOfRange, "RESUME_TOKEN_EXPIRED", None),
            ErrorReason::ResumeTokenExpired,
        ),
        (
            failed(Code::InvalidArgument, "CURSOR_INVALID", None),
            ErrorReason::CursorInvalid,
        ),
        (
            failed(Code::PermissionDenied, "SCOPE_DENIED", None),
            ErrorReason::ScopeDenied,
        ),
        (failed(Code::Internal, "DEFECT", None), ErrorReason::Defect),
        (Status::unimplemented("No such method."), ErrorReason::Unspecified),
    ];
    for (status, reason) in lasting {
        let code = status.code();
        let server = Scripted::on_socket(move |number, _| match number {
            0 => super::feed::ends(vec![synced("t0"), changes([1])]),
            _ => stays(vec![Beat::End(status.clone())]),
        });
        let mut watch = server.client().watch(WatchRequest::new());
        assert_eq!(next(&mut watch).await, WatchEvent::Synced);
        expect_changes(&mut watch, [1]).await;
        let error = ending(&mut watch).await.unwrap().unwrap_err();
        assert_eq!((error.code(), error.reason()), (code, reason));
        assert_eq!(watch.token(), Some("t1"), "it can still be gone on from");
        assert!(ending(&mut watch).await.is_none());
        assert_eq!(server.seen().len(), 2);
    }
}

/// A server that tells on its one stream what the test sends, and is silent otherwise.
fn fed() -> (tokio::sync::mpsc::UnboundedSender<Beat>, Scripted) {
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
    let receiver = Mutex::new(Some(receiver));
    let server = Scripted::on_socket(move |_, seen| {
        if seen.path.ends_with("/GetWorkspace") {
            return Answer::Silence;
        }
        let beats = receiver.lock().unwrap().take().unwrap();
        Answer::Stream(Box::pin(UnboundedReceiverStream::new(beats)))
    });
    (sender, server)
}

#[tokio::test]
async fn the_deadline_of_the_client_is_not_that_of_a_watch() {
    let (sender, server) = fed();
    let client = server.client().with_deadline(Duration::from_millis(100));
    let mut watch = client.watch(WatchRequest::new());
    quiet_until(&mut watch, |_| !server.seen().is_empty()).await;
    let late = client.get_workspace(GetWorkspaceRequest::default()).await;
    assert_eq!(late.unwrap_err().kind(), ErrorKind::Deadline);
    assert!(sender.send(synced("t0")).is_ok());
    assert_eq!(next(&mut watch).await, WatchEvent::Synced);
    assert!(!server.seen()[0].headers.contains_key("grpc-timeout"));
    assert_eq!(server.seen()[0].headers["authorization"], "Bearer secret");
}

#[tokio::test]
async fn a_dropped_watch_ends_its_call_and_its_connection() {
    let (sender, server) = fed();
    let client = server.client();
    let mut watch = client.watch(WatchRequest::new());
    assert!(sender.send(synced("t0")).is_ok());
    assert_eq!(next(&mut watch).await, WatchEvent::Synced);
    assert_eq!(server.open(), 1);
    drop(watch);
    within(sender.closed()).await;
    within(async {
        while server.open() > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    drop(client);
}

#[tokio::test]
async fn nothing_is_sent_before_it_is_polled_or_with_an_empty_token() {
    let server = Scripted::on_socket(|_, _| stays(vec![synced("t0")]));
    drop(server.client().watch(WatchRequest::new()));
    let mut watch = server.client().watch(WatchRequest::new().resume(""));
    let error = ending(&mut watch).await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    assert!(server.seen().is_empty());
    let mut watch = server.client().watch(WatchRequest::new().resume("mine"));
    assert_eq!(watch.token(), Some("mine"));
    next(&mut watch).await;
    assert_eq!(asked(&server.seen()[0]).resume_token, "mine");
}
