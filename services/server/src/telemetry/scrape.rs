//! The plain port of `telemetry.listen`: `/metrics` for Prometheus and `grpc.health.v1` for probes that have
//! neither a token nor a certificate. Nothing else is there.

use std::sync::Arc;

use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use tonic::body::Body;

use super::Metrics;
use crate::accept::Answer;

/// What can be asked, for the log.
pub const TELEMETRY_PATHS: &str = "/metrics and grpc.health.v1.Health";

const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const HEALTH_PREFIX: &str = "/grpc.health.v1.Health/";

/// Answers one request; `health` answers those of the health service.
pub(crate) fn answer(
    metrics: &Arc<Metrics>,
    health: impl FnOnce(Request<Body>) -> Answer,
    request: Request<Body>,
) -> Answer {
    if request.uri().path().starts_with(HEALTH_PREFIX) {
        return health(request);
    }
    let response = match (request.method(), request.uri().path()) {
        (&Method::GET | &Method::HEAD, "/metrics") => text(StatusCode::OK, metrics.text(), OPENMETRICS),
        _ => text(
            StatusCode::NOT_FOUND,
            "not found\n".to_owned(),
            "text/plain; charset=utf-8",
        ),
    };
    Box::pin(std::future::ready(Ok(response)))
}

fn text(status: StatusCode, text: String, kind: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::new(Full::from(text)));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
