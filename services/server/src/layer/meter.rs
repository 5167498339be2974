//! Counts and times every call until its last byte, and writes one log line for each that failed.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body::{Frame, SizeHint};
use tonic::body::Body;
use tonic::{Code, Status};
use tonic_types::StatusExt;
use tower::Service;

use super::call::Call;
use super::{Answer, Calls};
use crate::telemetry::{Metrics, code_name};

#[derive(Debug, Clone)]
pub(super) struct Meter<S> {
    inner: S,
    metrics: Arc<Metrics>,
}

impl<S> Meter<S> {
    pub(super) fn new(inner: S, metrics: Arc<Metrics>) -> Self {
        Self { inner, metrics }
    }
}

impl<S: Calls> Service<Request<Body>> for Meter<S> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Answer {
        let call = Call::of(request.extensions());
        let mut running = Running::begin(call, Arc::clone(&self.metrics));
        let inner = self.inner.call(request);
        Box::pin(async move {
            let response = inner.await?;
            // A call that fails before its first message has its status in the headers.
            if let Some(status) = Status::from_header_map(response.headers()) {
                running.finish(&status);
                return Ok(response);
            }
            Ok(response.map(|body| Body::new(MeteredBody { body, running })))
        })
    }
}

/// A call that is being counted. Dropped before its status is known, it was given up by the caller.
#[derive(Debug)]
struct Running {
    call: Arc<Call>,
    metrics: Arc<Metrics>,
    begun: Instant,
    finished: bool,
}

impl Running {
    fn begin(call: Arc<Call>, metrics: Arc<Metrics>) -> Self {
        metrics.calls_in_flight.inc();
        Self {
            call,
            metrics,
            begun: Instant::now(),
            finished: false,
        }
    }

    fn finish(&mut self, status: &Status) {
        self.count(status.code());
        if status.code() != Code::Ok {
            log_failure(&self.call, status, self.begun);
        }
    }

    fn count(&mut self, code: Code) {
        if std::mem::replace(&mut self.finished, true) {
            return;
        }
        self.metrics.calls_in_flight.dec();
        self.metrics
            .count_call(&self.call.method.name, code, self.begun.elapsed());
        let span = tracing::Span::current();
        span.record("rpc.response.status_code", code_name(code));
        if is_our_fault(code) {
            span.record("otel.status_code", "ERROR");
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.finished {
            self.count(Code::Cancelled);
            tracing::debug!(
                method = &*self.call.method.name,
                code = "CANCELLED",
                "the caller gave up"
            );
        }
    }
}

/// One line, at a level that says who has to act.
fn log_failure(call: &Call, status: &Status, begun: Instant) {
    let reason = status
        .get_details_error_info()
        .map(|info| info.reason)
        .unwrap_or_default();
    let (method, code) = (&*call.method.name, code_name(status.code()));
    let principal = call.principal.get().map_or("", String::as_str);
    let millis = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let message = status.message();
    match status.code() {
        code_ if is_our_fault(code_) => {
            tracing::error!(
                method,
                code,
                reason,
                principal,
                millis,
                error = message,
                "call failed"
            );
        }
        Code::Unavailable | Code::DeadlineExceeded | Code::ResourceExhausted => {
            tracing::warn!(
                method,
                code,
                reason,
                principal,
                millis,
                error = message,
                "call failed"
            );
        }
        _ => tracing::info!(
            method,
            code,
            reason,
            principal,
            millis,
            error = message,
            "call failed"
        ),
    }
}

fn is_our_fault(code: Code) -> bool {
    matches!(code, Code::Internal | Code::Unknown | Code::DataLoss)
}

struct MeteredBody {
    body: Body,
    running: Running,
}

impl MeteredBody {
    fn trailers(&mut self, trailers: &HeaderMap) {
        if let Some(status) = Status::from_header_map(trailers) {
            self.running.finish(&status);
        }
    }
}

impl http_body::Body for MeteredBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        match &frame {
            Some(Ok(frame)) => {
                if let Some(trailers) = frame.trailers_ref() {
                    self.trailers(trailers);
                }
            }
            Some(Err(status)) => {
                let status = status.clone();
                self.running.finish(&status);
            }
            None => {}
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
