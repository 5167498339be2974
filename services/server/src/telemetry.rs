//! What the server tells about itself: numbers for Prometheus, spans for a collector.

mod metrics;
mod scrape;
mod traces;

pub use self::metrics::{Metrics, code_name};
pub use self::scrape::TELEMETRY_PATHS;
pub use self::traces::Traces;

pub(crate) use self::scrape::answer;
