//! The innermost layer: a channel that adds the headers of every call, and that does not take an
//! answer which is no gRPC for one.

use std::error::Error as StdError;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName};
use http::{HeaderValue, Request, Response};
use tonic::body::Body;
use tonic::transport::Channel;
use tower::{Service, ServiceExt};

/// Metadata that names the program that calls.
pub(crate) const CLIENT_NAME: HeaderName = HeaderName::from_static("compozy-client-name");
/// Metadata that names its version.
pub(crate) const CLIENT_VERSION: HeaderName = HeaderName::from_static("compozy-client-version");

/// A channel with the headers of one client.
#[derive(Debug, Clone)]
pub(crate) struct Wire {
    pub(crate) channel: Channel,
    pub(crate) client_name: HeaderValue,
    pub(crate) client_version: HeaderValue,
    pub(crate) authorization: Option<HeaderValue>,
}

impl Wire {
    /// The same headers on another channel.
    pub(crate) fn on(&self, channel: Channel) -> Self {
        Self {
            channel,
            ..self.clone()
        }
    }
}

/// Something answered over HTTP that is no gRPC server.
#[derive(Debug)]
pub(crate) struct NotGrpc {
    pub(crate) http_status: u16,
}

impl fmt::Display for NotGrpc {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the answer is no gRPC: HTTP {}", self.http_status)
    }
}

impl StdError for NotGrpc {}

type BoxError = Box<dyn StdError + Send + Sync>;
type Answer = Pin<Box<dyn Future<Output = Result<Response<Body>, BoxError>> + Send>>;

impl Service<Request<Body>> for Wire {
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = Answer;

    /// Always ready: waiting for the channel is part of the call, so that its failure keeps its cause.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Body>) -> Answer {
        let headers = request.headers_mut();
        headers.insert(CLIENT_NAME, self.client_name.clone());
        headers.insert(CLIENT_VERSION, self.client_version.clone());
        if let Some(authorization) = &self.authorization {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        let channel = self.channel.clone();
        Box::pin(async move {
            let response = channel.oneshot(request).await?;
            if is_grpc(&response) {
                return Ok(response);
            }
            Err(NotGrpc {
                http_status: response.status().as_u16(),
            }
            .into())
        })
    }
}

/// gRPC is always HTTP 200 with its own content type, errors included. Some proxies answer a bare
/// `grpc-status` without a content type; that is an answer too.
fn is_grpc(response: &Response<Body>) -> bool {
    let headers = response.headers();
    let content_type = headers
        .get(CONTENT_TYPE)
        .map(HeaderValue::as_bytes)
        .unwrap_or_default();
    content_type.starts_with(b"application/grpc") || headers.contains_key("grpc-status")
}
