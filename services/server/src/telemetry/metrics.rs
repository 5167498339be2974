//! Numbers, under the names of OpenTelemetry's RPC conventions where there is one.

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use tonic::Code;

/// Upper bounds in seconds: from a warm read to the default deadline.
const BOUNDS: [f64; 14] = [
    0.0002, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0,
];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    rpc_system_name: &'static str,
    rpc_method: Arc<str>,
    rpc_response_status_code: &'static str,
}

/// All numbers of one server.
pub struct Metrics {
    registry: Mutex<Registry>,
    durations: Family<CallLabels, Histogram, fn() -> Histogram>,
    /// Calls that are not answered completely.
    pub calls_in_flight: Gauge,
    /// Open connections, sockets and TCP.
    pub connections: Gauge,
    /// Connections that were closed at once because there were too many.
    pub connections_refused: Counter<u64, AtomicU64>,
    /// TLS handshakes that failed or took too long.
    pub handshakes_failed: Counter<u64, AtomicU64>,
    /// 1 while the store answers.
    pub store_ready: Gauge,
    /// The newest position of the change log.
    pub change_log_head: Gauge,
    /// Everything up to this position of the change log was trimmed.
    pub change_log_floor: Gauge,
    /// Committed changes that have no position yet.
    pub change_log_pending: Gauge,
    /// Seconds that the oldest of them has waited.
    pub numbering_lag: Gauge<f64, AtomicU64>,
}

impl Metrics {
    /// Everything at zero.
    #[must_use]
    pub fn new() -> Arc<Self> {
        let metrics = Self {
            registry: Mutex::new(Registry::default()),
            durations: Family::new_with_constructor(|| Histogram::new(BOUNDS)),
            calls_in_flight: Gauge::default(),
            connections: Gauge::default(),
            connections_refused: Counter::default(),
            handshakes_failed: Counter::default(),
            store_ready: Gauge::default(),
            change_log_head: Gauge::default(),
            change_log_floor: Gauge::default(),
            change_log_pending: Gauge::default(),
            numbering_lag: Gauge::default(),
        };
        metrics.register(|registry| metrics.describe(registry));
        Arc::new(metrics)
    }

    /// Lets another part of the server add its numbers.
    pub fn register(&self, add: impl FnOnce(&mut Registry)) {
        add(&mut self.registry.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Counts a finished call.
    pub fn count_call(&self, method: &Arc<str>, code: Code, took: Duration) {
        let labels = CallLabels {
            rpc_system_name: "grpc",
            rpc_method: Arc::clone(method),
            rpc_response_status_code: code_name(code),
        };
        self.durations.get_or_create(&labels).observe(took.as_secs_f64());
    }

    /// The text that Prometheus reads.
    #[must_use]
    pub fn text(&self) -> String {
        let registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        // Writing to a String can't fail.
        let _ = prometheus_client::encoding::text::encode(&mut text, &registry);
        text
    }

    fn describe(&self, registry: &mut Registry) {
        registry.register_with_unit(
            "rpc_server_call_duration",
            "Time from the request's headers to the last byte of the answer",
            Unit::Seconds,
            self.durations.clone(),
        );
        registry.register(
            "rpc_server_calls_in_flight",
            "Calls under way",
            self.calls_in_flight.clone(),
        );
        registry.register(
            "compozy_connections",
            "Open connections",
            self.connections.clone(),
        );
        registry.register(
            "compozy_connections_refused",
            "Connections closed at once, above the limit",
            self.connections_refused.clone(),
        );
        registry.register(
            "compozy_tls_handshakes_failed",
            "TLS handshakes that failed or took too long",
            self.handshakes_failed.clone(),
        );
        registry.register(
            "compozy_store_ready",
            "1 while the store answers",
            self.store_ready.clone(),
        );
        registry.register(
            "compozy_change_log_head",
            "Newest position of the change log, as last seen",
            self.change_log_head.clone(),
        );
        registry.register(
            "compozy_change_log_floor",
            "Position up to which the change log was trimmed",
            self.change_log_floor.clone(),
        );
        registry.register(
            "compozy_change_log_pending",
            "Committed changes that wait for their position",
            self.change_log_pending.clone(),
        );
        registry.register_with_unit(
            "compozy_change_log_numbering_lag",
            "How long the oldest change without a position has waited",
            Unit::Seconds,
            self.numbering_lag.clone(),
        );
        registry.register(
            "compozy_defects",
            "Failures that are defects of this program, all servers of the process",
            crate::status::DEFECTS.clone(),
        );
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Metrics").finish_non_exhaustive()
    }
}

/// The name of a status, as the gRPC specification writes it.
#[must_use]
pub const fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_method_and_status() {
        let metrics = Metrics::new();
        let method: Arc<str> = "a.B/C".into();
        metrics.count_call(&method, Code::Ok, Duration::from_millis(3));
        metrics.count_call(&method, Code::NotFound, Duration::from_millis(3));
        let text = metrics.text();
        let line = "rpc_server_call_duration_seconds_count{rpc_system_name=\"grpc\",rpc_method=\"a.B/C\",\
                    rpc_response_status_code=\"NOT_FOUND\"} 1";
        assert!(text.contains(line), "{text}");
        assert!(
            text.contains("compozy_store_ready 0") && text.contains("compozy_defects_total"),
            "{text}"
        );
    }
}
