//! Lines of the daemon's log.

use serde::Serialize;
use serde_json::Value;

use super::table::Cell;
use super::time::Time;
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
            let text = sentence(entry, |time| human.time(Some(time)).text);
            human.line(&text);
        }
    }
}

/// The names that a line's time may have.
const TIMES: [&str; 2] = ["time", "timestamp"];

/// Time, level and message, then the other fields as they are.
fn sentence(entry: &Value, local: impl Fn(Time) -> String) -> String {
    let Value::Object(fields) = entry else {
        return entry.to_string();
    };
    let mut first = Vec::new();
    if let Some(value) = TIMES.iter().find_map(|name| fields.get(*name)) {
        let time = value.as_str().and_then(Time::parse);
        first.push(time.map_or_else(|| plain(value), local));
    }
    for name in ["level", "message"] {
        if let Some(value) = fields.get(name) {
            first.push(plain(value));
        }
    }
    for (name, value) in fields {
        if !matches!(
            name.as_str(),
            "time" | "timestamp" | "level" | "message" | "fields"
        ) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c046_the_time_comes_first_and_is_local() {
        let entry = serde_json::json!({
            "level": "INFO", "message": "started", "time": "2026-05-04T14:30:00.5Z", "pid": 7
        });
        let told = sentence(&entry, |time| {
            assert_eq!(Some(time), Time::new(1_777_905_000, 500_000_000));
            "there and then".to_owned()
        });
        assert_eq!(told, "there and then INFO started pid=7");
    }

    #[test]
    fn a_time_that_cannot_be_read_stays_as_it_is() {
        let entry = serde_json::json!({ "message": "m", "time": "noon" });
        assert_eq!(sentence(&entry, |_| unreachable!("there is no time")), "noon m");
    }
}
