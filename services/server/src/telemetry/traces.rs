//! Spans for a collector, when `OTEL_EXPORTER_OTLP_ENDPOINT` (or `_TRACES_ENDPOINT`) names one. What is sent, how
//! much of it and under which name follow OpenTelemetry's own variables.

use std::time::Duration;

use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};

use crate::failure::Failure;

const ENDPOINT_VARIABLES: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
];
/// How long the last spans may take on their way out; a collector that is down takes all of it.
const FLUSH_MAX: Duration = Duration::from_secs(4);

/// The way to the collector.
#[derive(Debug)]
pub struct Traces {
    provider: SdkTracerProvider,
}

impl Traces {
    /// Sets up the export, if a collector is named. Needs a runtime around it.
    ///
    /// # Errors
    /// When the collector's address can't be used.
    pub fn begin() -> Result<Option<Self>, Failure> {
        let named = |name: &&str| std::env::var(name).is_ok_and(|value| !value.trim().is_empty());
        let Some(variable) = ENDPOINT_VARIABLES.iter().find(|name| named(name)) else {
            return Ok(None);
        };
        let exporter = SpanExporter::builder()
            .with_tonic()
            .build()
            .map_err(|error| Failure::config(format!("{variable} can't be used: {error}")))?;
        let resource = Resource::builder().with_service_name("compozyd");
        let version = opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource.with_attribute(version).build())
            .build();
        Ok(Some(Self { provider }))
    }

    /// What makes the spans.
    #[must_use]
    pub fn tracer(&self) -> SdkTracer {
        self.provider.tracer("compozyd")
    }

    /// Sends what is left, not longer than this and never longer than 4 s.
    pub async fn end(self, patience: Duration) {
        let patience = patience.min(FLUSH_MAX);
        let provider = self.provider;
        // The export blocks its thread while this runtime carries the bytes.
        let flush = tokio::task::spawn_blocking(move || provider.shutdown_with_timeout(patience));
        match tokio::time::timeout(patience, flush).await {
            Ok(Ok(Ok(()))) => {}
            _ => tracing::warn!("the last spans did not reach the collector"),
        }
    }
}
