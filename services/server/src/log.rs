//! The log: JSON lines in the home, and text on stderr for somebody who looks. Every line carries a trace id.

mod file;
mod line;

use std::io::IsTerminal;
use std::sync::Arc;

use compozy_domain::Clock;
use opentelemetry_sdk::trace::SdkTracer;
use tracing::Metadata;
use tracing_opentelemetry::OpenTelemetryLayer;
use tracing_subscriber::filter::{FilterFn, LevelFilter, Targets, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry};

use crate::config::{LogConfig, LogStderr};
use crate::failure::{Failure, FailureKind};
use crate::home::Home;

pub use self::file::RotatingFile;
use self::line::JsonLines;

/// The target of what the process says on stderr anyway when it ends.
pub const LAST_WORDS: &str = "compozyd::last_words";

/// Only what is there: an absent layer in their midst has no filter, and then every span of every library is made.
type Layers = Vec<Box<dyn Layer<Registry> + Send + Sync>>;

/// Sets up logging for the whole process, once.
///
/// # Errors
/// When the file can't be opened, or logging was set up before.
pub fn begin(
    home: &Home,
    config: &LogConfig,
    clock: &Arc<dyn Clock>,
    tracer: Option<SdkTracer>,
) -> Result<(), Failure> {
    let path = home.log_path();
    let file = RotatingFile::open(&path, config, Arc::clone(clock))
        .map_err(|error| Failure::io("open", &path, &error))?;
    let level: Targets = config
        .level
        .parse()
        .map_err(|_| Failure::config("log.level is not valid"))?;
    let lines = JsonLines::new(Box::new(file), Arc::clone(clock));
    let mut layers: Layers = vec![lines.with_filter(events(&level)).boxed()];
    layers.extend(stderr_layer(config.stderr, &level, clock));
    layers.extend(tracer.map(|tracer| OpenTelemetryLayer::new(tracer).with_filter(own_spans()).boxed()));
    Registry::default()
        .with(layers)
        .try_init()
        .map_err(|error| Failure::new(FailureKind::Internal, format!("logging can't be set up: {error}")))?;
    log_panics();
    Ok(())
}

fn stderr_layer(
    choice: LogStderr,
    level: &Targets,
    clock: &Arc<dyn Clock>,
) -> Option<Box<dyn Layer<Registry> + Send + Sync>> {
    let terminal = std::io::stderr().is_terminal();
    let text = match choice {
        LogStderr::None => return None,
        LogStderr::Auto if !terminal => return None,
        LogStderr::Auto | LogStderr::Text => true,
        LogStderr::Json => false,
    };
    if !text {
        let lines = JsonLines::new(Box::new(std::io::stderr()), Arc::clone(clock));
        return Some(lines.with_filter(events(level)).boxed());
    }
    let layer = tracing_subscriber::fmt::layer()
        .compact()
        .with_target(false)
        .with_ansi(terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()))
        .with_writer(std::io::stderr);
    let heard = level.clone();
    let text = filter_fn(move |metadata| metadata.target() != LAST_WORDS && is_heard(&heard, metadata));
    Some(layer.with_filter(text.with_max_level_hint(most(level))).boxed())
}

/// Spans are for traces: a log that takes none costs nothing while no collector listens.
fn events(level: &Targets) -> FilterFn<impl Fn(&Metadata<'_>) -> bool + use<>> {
    let heard = level.clone();
    filter_fn(move |metadata| is_heard(&heard, metadata)).with_max_level_hint(most(level))
}

fn is_heard(level: &Targets, metadata: &Metadata<'_>) -> bool {
    metadata.is_event() && level.would_enable(metadata.target(), metadata.level())
}

/// The most talkative level of all targets: what lies above it ends at one look, wherever it is written.
fn most(level: &Targets) -> LevelFilter {
    let of_targets = level.clone().into_iter().map(|(_, level)| level);
    let all = of_targets.chain(level.default_level());
    all.max().unwrap_or(LevelFilter::OFF)
}

/// Our own spans go to the collector, those of the libraries below do not; the exporter's own calls least of all.
fn own_spans() -> FilterFn<impl Fn(&Metadata<'_>) -> bool> {
    filter_fn(|metadata| metadata.is_span() && metadata.target().starts_with("compozy"))
        .with_max_level_hint(LevelFilter::INFO)
}

fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let message = panic.payload_as_str().unwrap_or("no message");
        tracing::error!(place, message, "panic");
    }));
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use tracing::Subscriber as _;

    use super::*;
    use crate::clock::SystemClock;

    #[test]
    fn what_nobody_hears_costs_one_look() {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let level: Targets = "warn,compozy_store=info".parse().unwrap();
        let lines = JsonLines::new(Box::new(std::io::sink()), Arc::clone(&clock));
        let mut layers: Layers = vec![lines.with_filter(events(&level)).boxed()];
        layers.extend(stderr_layer(LogStderr::Text, &level, &clock));
        let subscriber = Registry::default().with(layers);
        assert_eq!(subscriber.max_level_hint(), Some(LevelFilter::INFO));
        tracing::subscriber::with_default(subscriber, || {
            assert!(tracing::info_span!(target: "h2", "a span of a library").is_disabled());
            assert!(tracing::info_span!("a span of ours").is_disabled());
        });
    }
}
