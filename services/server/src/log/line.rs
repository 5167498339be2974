//! One event as one JSON object on one line.

use std::fmt;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use compozy_domain::Clock;
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use crate::clock::rfc3339;
use crate::trace_context;

/// Bytes of one value at most; a caller must not fill the disk with one call.
const VALUE_BYTES_MAX: usize = 8 * 1024;

/// Writes events as JSON lines.
pub(super) struct JsonLines {
    output: Mutex<Box<dyn Write + Send>>,
    clock: Arc<dyn Clock>,
}

impl JsonLines {
    pub(super) fn new(output: Box<dyn Write + Send>, clock: Arc<dyn Clock>) -> Self {
        Self {
            output: Mutex::new(output),
            clock,
        }
    }

    fn line(&self, event: &Event<'_>) -> Vec<u8> {
        let metadata = event.metadata();
        let mut fields = Fields(Map::new());
        fields.put("time", rfc3339(self.clock.now()).into());
        fields.put("level", metadata.level().as_str().into());
        fields.put("target", metadata.target().into());
        fields.put("trace_id", trace_context::current().id().into());
        event.record(&mut fields);
        let mut line = Value::Object(fields.0).to_string().into_bytes();
        line.push(b'\n');
        line
    }
}

impl<S: Subscriber> Layer<S> for JsonLines {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let line = self.line(event);
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        // There is no other place to say that the log can't be written.
        let _ = output.write_all(&line);
    }
}

struct Fields(Map<String, Value>);

impl Fields {
    fn put(&mut self, key: &str, value: Value) {
        self.0.insert(key.to_owned(), value);
    }

    fn put_text(&mut self, field: &Field, text: &str) {
        let mut end = text.len().min(VALUE_BYTES_MAX);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.put(field.name(), text[..end].into());
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put_text(field, &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put_text(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field.name(), value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field.name(), value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field.name(), value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field.name(), value.into());
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use tracing_subscriber::layer::SubscriberExt;

    use super::*;
    use crate::clock::SystemClock;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_event_is_one_object_with_time_level_trace_and_fields() {
        let shared = Shared::default();
        let lines = JsonLines::new(Box::new(shared.clone()), Arc::new(SystemClock));
        let subscriber = tracing_subscriber::registry().with(lines);
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn!(count = 3, path = %"/p\n\"q\"", "two\nlines");
        });
        let bytes = shared.0.lock().unwrap().clone();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(text.lines().count(), 1);
        let object: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(object["level"], "WARN");
        assert_eq!(object["message"], "two\nlines");
        assert_eq!(
            (&object["count"], &object["path"]),
            (&3.into(), &"/p\n\"q\"".into())
        );
        assert_eq!(object["trace_id"].as_str().unwrap().len(), 32);
        assert!(object["time"].as_str().unwrap().ends_with('Z'));
    }
}
