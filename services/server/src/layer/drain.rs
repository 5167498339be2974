//! While the server shuts down, nothing new is begun; health still answers. What is in flight is waited for, and
//! told to come again elsewhere when the patience has an end.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use compozy_domain::CatalogError;
use http::{HeaderMap, Request, Response};
use http_body::{Frame, SizeHint};
use pin_project_lite::pin_project;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tonic::Status;
use tonic::body::Body;
use tower::Service;

use super::call::Call;
use super::{Answer, Calls, refuse};
use crate::shutdown::{AnswerInFlight, CallInFlight, Shutdown};
use crate::status::{cut_off, status};

#[derive(Debug, Clone)]
pub(super) struct Drain<S> {
    inner: S,
    shutdown: Shutdown,
}

impl<S> Drain<S> {
    pub(super) fn new(inner: S, shutdown: Shutdown) -> Self {
        Self { inner, shutdown }
    }
}

impl<S: Calls> Service<Request<Body>> for Drain<S> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Answer {
        let method = &Call::of(request.extensions()).method;
        // A watch of health lasts as long as its connection; the drain must not wait for it.
        if method.open {
            return Box::pin(self.inner.call(request));
        }
        let Some(in_flight) = self.shutdown.enter() else {
            return Box::pin(std::future::ready(Ok(refuse(CatalogError::Draining))));
        };
        if method.streaming {
            let hurried = self.shutdown.hurried();
            return Box::pin(stream(self.inner.call(request), in_flight.answered(), hurried));
        }
        Box::pin(unary(self.inner.call(request), in_flight))
    }
}

/// Answers a call, or says that it can't be waited for any longer.
async fn unary(
    answer: impl Future<Output = Result<Response<Body>, Infallible>>,
    in_flight: CallInFlight,
) -> Result<Response<Body>, Infallible> {
    let response = tokio::select! {
        biased;
        response = answer => response?,
        () = in_flight.hurried() => return Ok(cut_off().into_http()),
    };
    let in_flight = in_flight.answered();
    Ok(response.map(|body| {
        Body::new(InFlightBody {
            body: Some(body),
            hurried: None,
            _in_flight: in_flight,
        })
    }))
}

/// Lets a stream run until its client has the last of it, or it can't be waited for any longer.
async fn stream(
    answer: impl Future<Output = Result<Response<Body>, Infallible>>,
    in_flight: AnswerInFlight,
    hurried: CancellationToken,
) -> Result<Response<Body>, Infallible> {
    let Some(response) = hurried.run_until_cancelled(answer).await else {
        return Ok(refuse(CatalogError::Draining));
    };
    Ok(response?.map(|body| {
        Body::new(InFlightBody {
            body: Some(body),
            hurried: Some(hurried.cancelled_owned()),
            _in_flight: in_flight,
        })
    }))
}

pin_project! {
    /// An answer that the drain waits for. A stream's ends with a status when it no longer does.
    struct InFlightBody {
        body: Option<Body>,
        #[pin]
        hurried: Option<WaitForCancellationFutureOwned>,
        _in_flight: AnswerInFlight,
    }
}

impl http_body::Body for InFlightBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = self.project();
        let Some(body) = this.body else {
            return Poll::Ready(None);
        };
        let frame = Pin::new(body).poll_frame(context);
        let has_ended = this
            .hurried
            .as_pin_mut()
            .is_some_and(|hurried| frame.is_pending() && hurried.poll(context).is_ready());
        if !has_ended {
            return frame;
        }
        *this.body = None;
        let mut trailers = HeaderMap::new();
        // Ours are always valid headers; without them the caller sees a broken stream.
        let _ = status(CatalogError::Draining).add_header(&mut trailers);
        Poll::Ready(Some(Ok(Frame::trailers(trailers))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(http_body::Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body
            .as_ref()
            .map_or_else(SizeHint::default, http_body::Body::size_hint)
    }
}
