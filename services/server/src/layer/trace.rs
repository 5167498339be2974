//! The outermost layer: every call belongs to a trace, the caller's own if it sent one. The answer names it.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use compozy_domain::Random;
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body::{Frame, SizeHint};
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState};
use tonic::body::Body;
use tower::Service;
use tracing::{Instrument, Span};
use tracing_opentelemetry::OpenTelemetrySpanExt;

use super::call::Call;
use super::{Answer, Calls};
use crate::methods::{Method, Methods};
use crate::trace_context::{self, TRACE_ID, TRACEPARENT, TraceContext};

#[derive(Debug, Clone)]
pub(super) struct Trace<S> {
    inner: S,
    methods: Methods,
    random: Arc<dyn Random>,
}

impl<S> Trace<S> {
    pub(super) fn new(inner: S, methods: Methods, random: Arc<dyn Random>) -> Self {
        Self {
            inner,
            methods,
            random,
        }
    }
}

impl<S: Calls> Service<Request<Body>> for Trace<S> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> Answer {
        let method = self.methods.find(request.uri().path());
        let (trace, span) = begin(&method, request.headers(), self.random.as_ref());
        request.extensions_mut().insert(Call::new(method));
        let inner = trace_context::within_sync(trace, || span.in_scope(|| self.inner.call(request)));
        let inner = trace_context::within(trace, inner.instrument(span.clone()));
        Box::pin(async move {
            let mut response = inner.await?;
            name(trace, response.headers_mut());
            Ok(response.map(|body| Body::new(TracedBody { body, trace, span })))
        })
    }
}

/// The call's place in its trace. With a collector the span decides it, else we do.
fn begin(method: &Method, headers: &HeaderMap, random: &dyn Random) -> (TraceContext, Span) {
    let incoming = headers
        .get(TRACEPARENT)
        .and_then(|value| value.to_str().ok())
        .and_then(TraceContext::parse);
    let span = tracing::info_span!(
        "call",
        otel.name = &*method.name,
        otel.kind = "server",
        otel.status_code = tracing::field::Empty,
        rpc.system.name = "grpc",
        rpc.method = &*method.name,
        rpc.response.status_code = tracing::field::Empty,
    );
    if !span.is_disabled() {
        if let Some(incoming) = incoming {
            // Fails only if the collector's layer is not there; then the span is of no use anyway.
            let _ = span.set_parent(opentelemetry::Context::new().with_remote_span_context(remote(incoming)));
        }
        let recorded = span.context();
        let recorded = recorded.span().span_context().clone();
        if recorded.is_valid() {
            return (ours(&recorded), span);
        }
    }
    let trace = incoming.map_or_else(|| TraceContext::begin(random), |incoming| incoming.child(random));
    (trace, span)
}

fn remote(trace: TraceContext) -> SpanContext {
    let flags = if trace.sampled {
        TraceFlags::SAMPLED
    } else {
        TraceFlags::default()
    };
    let (trace_id, span_id) = (TraceId::from(trace.trace_id), SpanId::from(trace.span_id));
    SpanContext::new(trace_id, span_id, flags, true, TraceState::default())
}

fn ours(recorded: &SpanContext) -> TraceContext {
    TraceContext {
        trace_id: u128::from_be_bytes(recorded.trace_id().to_bytes()),
        span_id: u64::from_be_bytes(recorded.span_id().to_bytes()),
        sampled: recorded.is_sampled(),
    }
}

fn name(trace: TraceContext, headers: &mut HeaderMap) {
    // Both are hex digits and dashes, which every header may hold.
    if let Ok(value) = HeaderValue::from_str(&trace.header()) {
        headers.insert(TRACEPARENT, value);
    }
    if let Ok(value) = HeaderValue::from_str(&trace.id()) {
        headers.insert(TRACE_ID, value);
    }
}

/// The rest of the answer belongs to the trace too.
struct TracedBody {
    body: Body,
    trace: TraceContext,
    span: Span,
}

impl http_body::Body for TracedBody {
    type Data = Bytes;
    type Error = tonic::Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, tonic::Status>>> {
        let this = &mut *self;
        let body = Pin::new(&mut this.body);
        trace_context::within_sync(this.trace, || this.span.in_scope(|| body.poll_frame(context)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
