//! Lines of the daemon's log.

use serde::Serialize;
use serde_json::Value;

use super::table::Cell;
use super::{Answer, Human};

/// Entries of the log, oldest first. A line that is no JSON object is an entry with a message only.
#[derive(Debug, Serialize)]
pub(crate) struct LogView {
    pub(crate) entries: Vec<Value>,
}

impl Answer for LogView {
    const ROWS: Option<&'static str> = Some("entries");

    fn human(&self, human: &mut Human) {
        for entry in &self.entries {
            human.line(&sentence(entry));
        }
    }
}

/// Time, level and message, then the other fields as they are.
fn sentence(entry: &Value) -> String {
    let Value::Object(fields) = entry else {
        return entry.to_string();
    };
    let mut first = Vec::new();
    for name in ["timestamp", "level", "message"] {
        if let Some(value) = fields.get(name) {
            first.push(plain(value));
        }
    }
    for (name, value) in fields {
        if !matches!(name.as_str(), "timestamp" | "level" | "message" | "fields") {
            first.push(format!("{name}={}", plain(value)));
        }
    }
    // tracing's JSON keeps the message among the fields.
    if let Some(Value::Object(inner)) = fields.get("fields") {
        for (name, value) in inner {
            let text = if name == "message" {
                plain(value)
            } else {
                format!("{name}={}", plain(value))
            };
            first.push(text);
        }
    }
    Cell::plain(first.join(" ")).text
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
