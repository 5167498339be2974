//! A call without a client library, which would keep the deadline by itself and never let the server show its own.

use std::path::Path;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::UnixStream;
use tonic::Status;

use crate::running::{PATIENCE, spawn};

/// An empty message as gRPC frames it.
const EMPTY: Bytes = Bytes::from_static(&[0; 5]);

/// Calls a method with an empty message and answers its status.
pub async fn call(socket: &Path, path: &str, headers: &[(&str, &str)]) -> Status {
    let stream = UnixStream::connect(socket).await.unwrap();
    let handshake = hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream));
    let (mut sender, connection) = handshake.await.unwrap();
    spawn(connection);
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(format!("http://localhost{path}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let sent = sender.send_request(request.body(Full::new(EMPTY)).unwrap());
    let response = tokio::time::timeout(PATIENCE, sent)
        .await
        .expect("no answer")
        .unwrap();
    if let Some(status) = Status::from_header_map(response.headers()) {
        return status;
    }
    let rest = tokio::time::timeout(PATIENCE, response.into_body().collect())
        .await
        .expect("no end")
        .unwrap();
    Status::from_header_map(rest.trailers().expect("no trailers")).expect("no status")
}
