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

/// A call of a method with an empty message.
fn request(path: &str, headers: &[(&str, &str)]) -> Request<Full<Bytes>> {
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(format!("http://localhost{path}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Full::new(EMPTY)).unwrap()
}

/// A stream that is open, and nobody reads it.
pub struct Unread {
    _response: http::Response<hyper::body::Incoming>,
    _connection: Box<dyn std::any::Any>,
}

/// Opens a stream whose client has room for nothing.
pub async fn open_without_window(socket: &Path, path: &str) -> Unread {
    let stream = UnixStream::connect(socket).await.unwrap();
    let mut builder = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
    builder.initial_stream_window_size(0);
    let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await.unwrap();
    let connection = spawn(connection);
    let sent = sender.send_request(request(path, &[]));
    Unread {
        _response: tokio::time::timeout(PATIENCE, sent)
            .await
            .expect("no headers")
            .unwrap(),
        _connection: Box::new((sender, connection)),
    }
}

/// Opens a stream whose client then stops as a process does: its socket stays, and nothing is read or written.
pub async fn open_and_freeze(socket: &Path, path: &str) -> Unread {
    let stream = UnixStream::connect(socket).await.unwrap();
    let handshake = hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream));
    let (mut sender, connection) = handshake.await.unwrap();
    let mut connection = Box::pin(connection);
    let sent = tokio::time::timeout(PATIENCE, sender.send_request(request(path, &[])));
    let response = tokio::select! {
        response = sent => response.expect("no headers").unwrap(),
        ended = &mut connection => panic!("the connection ended: {ended:?}"),
    };
    Unread {
        _response: response,
        _connection: Box::new((sender, connection)),
    }
}

/// Calls a method with an empty message and answers its status.
pub async fn call(socket: &Path, path: &str, headers: &[(&str, &str)]) -> Status {
    let stream = UnixStream::connect(socket).await.unwrap();
    let handshake = hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream));
    let (mut sender, connection) = handshake.await.unwrap();
    spawn(connection);
    let sent = sender.send_request(request(path, headers));
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
