//! Deadlines, retries, request ids and the headers of a call.

use std::time::{Duration, Instant};

use compozy_client::proto::admin::v1::BackupRequest;
use compozy_client::proto::workspace::v1::{
    GetWorkspaceRequest, GetWorkspaceResponse, RegisterWorkspaceRequest, RegisterWorkspaceResponse,
};
use compozy_client::{ATTEMPTS, Client, Code, Endpoint, ErrorKind, ErrorReason, WatchRequest};

use crate::server::{Answer, Scripted, message, unavailable};

fn found() -> Answer {
    message(&GetWorkspaceResponse {
        revision: "r1".to_owned(),
        ..Default::default()
    })
}

#[tokio::test]
async fn a_call_carries_authority_program_token_and_deadline() {
    let server = Scripted::on_socket(|_, _| found());
    server
        .client()
        .get_workspace(GetWorkspaceRequest::default())
        .await
        .unwrap();
    let seen = &server.seen()[0];
    assert_eq!(seen.authority, "localhost");
    assert_eq!(seen.path, "/compozy.workspace.v1.WorkspaceService/GetWorkspace");
    assert_eq!(seen.headers["authorization"], "Bearer secret");
    assert_eq!(seen.headers["compozy-client-name"], "compozy-client");
    assert_eq!(seen.headers["compozy-client-version"], env!("CARGO_PKG_VERSION"));
    assert!(
        seen.headers["user-agent"]
            .to_str()
            .unwrap()
            .starts_with("compozy-client/")
    );
    // Ten seconds less what has passed, in nanoseconds to milliseconds.
    let timeout = seen.headers["grpc-timeout"].to_str().unwrap();
    let (number, unit) = timeout.split_at(timeout.len() - 1);
    let number: u64 = number.parse().unwrap();
    let micros = match unit {
        "n" => number / 1_000,
        "u" => number,
        "m" => number * 1_000,
        _ => number * 1_000_000,
    };
    assert!((9_000_000..=10_000_000).contains(&micros), "{timeout}");
}

#[tokio::test]
async fn a_write_keeps_its_request_id_over_its_retries() {
    let server = Scripted::on_socket(|number, _| match number {
        0..3 => unavailable(None),
        _ => message(&RegisterWorkspaceResponse::default()),
    });
    let request = RegisterWorkspaceRequest {
        path: "/p".to_owned(),
        ..Default::default()
    };
    server.client().register_workspace(request).await.unwrap();
    let ids: Vec<String> = server
        .seen()
        .iter()
        .map(|seen| seen.decode::<RegisterWorkspaceRequest>().request_id)
        .collect();
    assert_eq!(ids.len(), 4);
    assert_eq!(ids[0].len(), 26);
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
}

#[tokio::test]
async fn four_attempts_are_all() {
    let server = Scripted::on_socket(|_, _| unavailable(None));
    let started = Instant::now();
    let error = server
        .client()
        .get_workspace(GetWorkspaceRequest::default())
        .await
        .unwrap_err();
    assert_eq!(
        (error.code(), error.reason()),
        (Code::Unavailable, ErrorReason::StoreUnavailable)
    );
    assert!(error.is_retryable());
    assert_eq!(server.seen().len(), usize::try_from(ATTEMPTS).unwrap());
    // At least half of 50, 100 and 200 ms lie between them.
    assert!(started.elapsed() >= Duration::from_millis(175));
}

#[tokio::test]
async fn the_servers_delay_is_waited_for_or_told() {
    let delay = Duration::from_millis(400);
    let server = Scripted::on_socket(move |number, _| {
        if number == 0 {
            unavailable(Some(delay))
        } else {
            found()
        }
    });
    let started = Instant::now();
    server
        .client()
        .get_workspace(GetWorkspaceRequest::default())
        .await
        .unwrap();
    assert!(started.elapsed() >= delay);

    // One that ends after the deadline is not waited for.
    let server = Scripted::on_socket(|_, _| unavailable(Some(Duration::from_secs(60))));
    let error = server
        .client()
        .get_workspace(GetWorkspaceRequest::default())
        .await
        .unwrap_err();
    assert_eq!(
        (error.retry_after(), server.seen().len()),
        (Some(Duration::from_secs(60)), 1)
    );
}

#[tokio::test]
async fn other_answers_and_a_write_without_an_id_are_sent_once() {
    let server = Scripted::on_socket(|_, _| Answer::Status(tonic::Status::cancelled("by the server")));
    let error = server
        .client()
        .get_workspace(GetWorkspaceRequest::default())
        .await
        .unwrap_err();
    assert_eq!(
        (error.code(), error.kind(), server.seen().len()),
        (Code::Cancelled, ErrorKind::Answer, 1)
    );

    let server = Scripted::on_socket(|_, _| unavailable(None));
    server.client().shutdown().await.unwrap_err();
    assert_eq!(server.seen().len(), 1);
    server.client().backup("/bk").await.unwrap_err();
    assert_eq!(server.seen().len(), 2);
    assert_eq!(server.seen()[1].decode::<BackupRequest>().directory, "/bk");
}

#[tokio::test]
async fn a_cut_connection_is_opened_again() {
    let server = Scripted::on_socket(|number, _| if number == 0 { Answer::Cut } else { found() });
    server
        .client()
        .get_workspace(GetWorkspaceRequest::default())
        .await
        .unwrap();
    assert_eq!(server.seen().len(), 2);

    let server = Scripted::on_port(|_, _| Answer::Cut).await;
    let error = server
        .client()
        .get_workspace(GetWorkspaceRequest::default())
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.code(), server.seen().len()),
        (ErrorKind::Transport, Code::Unavailable, 4)
    );
    assert!(error.message().contains("ended before an answer"), "{error}");
}

#[tokio::test]
async fn a_deadline_holds_on_this_side() {
    let server = Scripted::on_socket(|_, _| Answer::Silence);
    let client = server.client().with_deadline(Duration::from_millis(100));
    let started = Instant::now();
    let error = client
        .get_workspace(GetWorkspaceRequest::default())
        .await
        .unwrap_err();
    assert_eq!(
        (error.code(), error.reason()),
        (Code::DeadlineExceeded, ErrorReason::DeadlineExceeded)
    );
    assert_eq!(error.kind(), ErrorKind::Deadline);
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn an_attempt_that_is_not_answered_does_not_hide_what_was_said_before() {
    let server = Scripted::on_socket(|number, _| match number {
        0 => unavailable(None),
        _ => Answer::Silence,
    });
    let client = server.client().with_deadline(Duration::from_millis(500));
    let error = client
        .get_workspace(GetWorkspaceRequest::default())
        .await
        .unwrap_err();
    assert_eq!(
        (error.code(), error.reason()),
        (Code::Unavailable, ErrorReason::StoreUnavailable)
    );
    assert_eq!(
        error.message(),
        "The store is away. (repeated, and not answered within 500ms)"
    );
    assert_eq!(server.seen().len(), 2);

    // The server may be the one that says that the time is up.
    let server = Scripted::on_socket(|number, _| match number {
        0 => unavailable(None),
        _ => Answer::Status(tonic::Status::deadline_exceeded("Too late.")),
    });
    let error = server
        .client()
        .get_workspace(GetWorkspaceRequest::default())
        .await
        .unwrap_err();
    assert_eq!(error.reason(), ErrorReason::StoreUnavailable, "{error}");
}

#[tokio::test]
async fn a_web_page_is_no_answer() {
    let server = Scripted::on_port(|_, _| Answer::Page(404)).await;
    let error = server
        .client()
        .get_workspace(GetWorkspaceRequest::default())
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.code(), server.seen().len()),
        (ErrorKind::Transport, Code::Unavailable, 1)
    );
    assert!(
        error.message().contains("HTTP 404") && !error.is_retryable(),
        "{error}"
    );

    // A proxy whose backend is away: it may come back.
    let server = Scripted::on_port(|number, _| if number < 2 { Answer::Page(503) } else { found() }).await;
    server
        .client()
        .get_workspace(GetWorkspaceRequest::default())
        .await
        .unwrap();
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn nobody_there_is_told_with_the_cause() {
    let client = Client::builder()
        .endpoint(Endpoint::socket("/nowhere.sock"))
        .build()
        .unwrap();
    let error = client
        .get_workspace(GetWorkspaceRequest::default())
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.code()),
        (ErrorKind::Transport, Code::Unavailable)
    );
    for part in ["unix:///nowhere.sock", "cannot be reached", "No such file"] {
        assert!(error.message().contains(part), "{error}");
    }
}

#[test]
fn clients_and_their_calls_can_be_shared() {
    fn shared<T: Send + Sync>() {}
    fn sendable<T: Send>(_: T) {}
    shared::<Client>();
    shared::<compozy_client::Error>();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let _inside = runtime.enter();
    let client = Client::builder()
        .endpoint(Endpoint::socket("/s"))
        .build()
        .unwrap();
    sendable(client.get_workspace(GetWorkspaceRequest::default()));
    sendable(client.workspace_rows(Default::default()));
    sendable(client.watch(WatchRequest::new()));
}
