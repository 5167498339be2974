//! A panic in a call is an INTERNAL answer, not a dead server. The hook has logged where it happened.

use std::any::Any;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use compozy_domain::CatalogError;
use futures::FutureExt;
use http::{HeaderMap, Request, Response};
use http_body::{Frame, SizeHint};
use tonic::Status;
use tonic::body::Body;
use tower::Service;

use super::{Answer, Calls, refuse};

#[derive(Debug, Clone)]
pub(super) struct Catch<S> {
    inner: S,
}

impl<S> Catch<S> {
    pub(super) fn new(inner: S) -> Self {
        Self { inner }
    }
}

impl<S: Calls> Service<Request<Body>> for Catch<S> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Answer {
        let inner = match catch_unwind(AssertUnwindSafe(|| self.inner.call(request))) {
            Ok(inner) => inner,
            Err(panic) => return Box::pin(std::future::ready(Ok(refuse(defect(panic.as_ref()))))),
        };
        Box::pin(async move {
            match AssertUnwindSafe(inner).catch_unwind().await {
                Ok(Ok(response)) => Ok(response.map(|body| Body::new(CaughtBody { body: Some(body) }))),
                Err(panic) => Ok(refuse(defect(panic.as_ref()))),
            }
        })
    }
}

fn defect(panic: &(dyn Any + Send)) -> CatalogError {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    CatalogError::Defect {
        detail: format!("a call panicked: {}", text.unwrap_or("no message")),
    }
}

/// `None` after a panic: the body is not touched again.
struct CaughtBody {
    body: Option<Body>,
}

impl http_body::Body for CaughtBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };
        let body = Pin::new(body);
        match catch_unwind(AssertUnwindSafe(|| body.poll_frame(context))) {
            Ok(frame) => frame,
            Err(panic) => {
                self.body = None;
                let mut trailers = HeaderMap::new();
                let status = crate::status::status(defect(panic.as_ref()));
                // Ours are always valid headers; without them the caller sees a broken stream.
                let _ = status.add_header(&mut trailers);
                Poll::Ready(Some(Ok(Frame::trailers(trailers))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(http_body::Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body
            .as_ref()
            .map(http_body::Body::size_hint)
            .unwrap_or_default()
    }
}
