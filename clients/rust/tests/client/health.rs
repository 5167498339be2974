//! Waiting for a server.

use std::time::Duration;

use compozy_client::{Client, Code, Endpoint, ErrorKind, ServingStatus};
use tonic_health::pb::HealthCheckResponse;
use tonic_health::pb::health_check_response::ServingStatus as Wire;

use crate::server::{Answer, Scripted, message};

fn says(status: Wire) -> Answer {
    message(&HealthCheckResponse {
        status: status.into(),
    })
}

#[tokio::test]
async fn it_waits_until_the_server_serves() {
    let server = Scripted::on_socket(|number, _| match number {
        0 => says(Wire::NotServing),
        1 => Answer::Status(tonic::Status::unavailable("starting")),
        2 => Answer::Cut,
        _ => says(Wire::Serving),
    });
    server
        .client()
        .wait_until_serving(Duration::from_secs(30))
        .await
        .unwrap();
    assert_eq!(server.seen().len(), 4);
}

#[tokio::test]
async fn it_gives_up_with_what_it_saw_last() {
    let server = Scripted::on_socket(|_, _| says(Wire::NotServing));
    let error = server
        .client()
        .wait_until_serving(Duration::from_millis(200))
        .await
        .unwrap_err();
    assert_eq!(
        (error.code(), error.kind()),
        (Code::DeadlineExceeded, ErrorKind::Deadline)
    );

    let client = Client::builder()
        .endpoint(Endpoint::socket("/nowhere.sock"))
        .build()
        .unwrap();
    let error = client
        .wait_until_serving(Duration::from_millis(200))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Transport);
}

#[tokio::test]
async fn a_service_that_is_not_there_is_no_error() {
    let server = Scripted::on_socket(|_, _| Answer::Status(tonic::Status::not_found("unknown")));
    assert_eq!(
        server.client().check_health("x").await.unwrap(),
        ServingStatus::ServiceUnknown
    );
}
