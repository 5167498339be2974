//! What can be printed: serde gives the three forms for programs, a function the one for people.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::human::Human;

/// An answer to a command.
pub(crate) trait Answer: Serialize {
    /// The list whose members are the records of jsonl; without one the answer is one record.
    const ROWS: Option<&'static str> = None;

    /// Writes the answer for a person.
    fn human(&self, human: &mut Human);

    /// What a person should know beside the data. Programs find it in the data.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// An answer of a command that is about one workspace: says first how that one was told.
#[derive(Debug, Serialize)]
pub(crate) struct Sourced<A> {
    pub(crate) resolution_source: &'static str,
    #[serde(flatten)]
    pub(crate) answer: A,
}

impl<A: Answer> Answer for Sourced<A> {
    const ROWS: Option<&'static str> = A::ROWS;

    fn human(&self, human: &mut Human) {
        self.answer.human(human);
    }

    fn notes(&self) -> Vec<String> {
        self.answer.notes()
    }
}

/// An answer as jsonl.
pub(super) fn lines(answer: &Value, rows: Option<&str>) -> String {
    let (Some(rows), Value::Object(object)) = (rows, answer) else {
        return format!("{answer}\n");
    };
    let Some(Value::Array(records)) = object.get(rows) else {
        return format!("{answer}\n");
    };
    let mut text = String::new();
    for record in records {
        text.push_str(&format!("{}\n", sourced(object, record)));
    }
    if let Some(page) = object.get("page") {
        text.push_str(&format!("{}\n", page_line(page)));
    }
    text
}

pub(super) fn page_line(page: &Value) -> Value {
    json!({"type": "page", "page": page})
}

/// Repeats how the workspace was told on every record.
fn sourced(answer: &Map<String, Value>, record: &Value) -> Value {
    let (Some(source), Value::Object(fields)) = (answer.get("resolution_source"), record) else {
        return record.clone();
    };
    let mut with_source = Map::new();
    with_source.insert("resolution_source".to_owned(), source.clone());
    with_source.extend(fields.clone());
    Value::Object(with_source)
}
