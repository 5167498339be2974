//! While the server shuts down, nothing new is begun; health still answers. What is in flight is waited for.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use compozy_domain::CatalogError;
use http::{Request, Response};
use http_body::{Frame, SizeHint};
use tonic::Status;
use tonic::body::Body;
use tower::Service;

use super::call::Call;
use super::{Answer, Calls, refuse};
use crate::shutdown::{CallInFlight, Shutdown};

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
        // A watch of health lasts as long as its connection; the drain must not wait for it.
        if Call::of(request.extensions()).method.open {
            return Box::pin(self.inner.call(request));
        }
        let Some(in_flight) = self.shutdown.enter() else {
            return Box::pin(std::future::ready(Ok(refuse(CatalogError::Draining))));
        };
        let inner = self.inner.call(request);
        Box::pin(async move {
            let response = inner.await?;
            Ok(response.map(|body| {
                Body::new(InFlightBody {
                    body,
                    _in_flight: in_flight,
                })
            }))
        })
    }
}

struct InFlightBody {
    body: Body,
    _in_flight: CallInFlight,
}

impl http_body::Body for InFlightBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
