//! Every failure explains itself: what the transport answers by its own becomes one of our statuses.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body::{Frame, SizeHint};
use tonic::body::Body;
use tonic::{Code, Status};
use tower::Service;

use super::{Answer, Calls};
use crate::status::{adopt, is_ours};

#[derive(Debug, Clone)]
pub(super) struct Explain<S> {
    inner: S,
}

impl<S> Explain<S> {
    pub(super) fn new(inner: S) -> Self {
        Self { inner }
    }
}

impl<S: Calls> Service<Request<Body>> for Explain<S> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Answer {
        let inner = self.inner.call(request);
        Box::pin(async move {
            let mut response = inner.await?;
            explain(response.headers_mut());
            Ok(response.map(|body| Body::new(ExplainedBody { body })))
        })
    }
}

/// Replaces a bare status in headers or trailers.
fn explain(headers: &mut HeaderMap) {
    let Some(status) = Status::from_header_map(headers) else {
        return;
    };
    if status.code() == Code::Ok || is_ours(&status) {
        return;
    }
    // Only fails for headers that can't be written; then the bare status goes out.
    let _ = adopt(status.code(), status.message()).add_header(headers);
}

struct ExplainedBody {
    body: Body,
}

impl http_body::Body for ExplainedBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let mut frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if let Some(Ok(frame)) = &mut frame
            && let Some(trailers) = frame.trailers_mut()
        {
            explain(trailers);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
