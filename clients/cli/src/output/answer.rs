//! What can be printed: serde gives the three forms for programs, a function the one for people.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::diagnostic::DiagnosticView;
use super::human::Human;

/// An answer to a command.
pub(crate) trait Answer: Serialize {
    /// The list whose members are the records of jsonl; without one the answer is one record.
    const ROWS: Option<&'static str> = None;

    /// Writes the answer for a person.
    fn human(&self, human: &mut Human);

    /// What was found out beside the data that was asked for, for people; by place, each with its remedy.
    fn findings(&self) -> Vec<&DiagnosticView> {
        Vec::new()
    }

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

    fn findings(&self) -> Vec<&DiagnosticView> {
        self.answer.findings()
    }

    fn notes(&self) -> Vec<String> {
        self.answer.notes()
    }
}

/// What stands above the records of a list and is repeated on each of them: how the workspace was told, and
/// which profile the records are of.
const REPEATED: [&str; 3] = ["resolution_source", "profile_name", "profile_source"];

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

/// Repeats on a record what holds for all of them.
fn sourced(answer: &Map<String, Value>, record: &Value) -> Value {
    let Value::Object(fields) = record else {
        return record.clone();
    };
    let mut whole = Map::new();
    for name in REPEATED {
        if let Some(value) = answer.get(name) {
            whole.insert(name.to_owned(), value.clone());
        }
    }
    whole.extend(fields.clone());
    Value::Object(whole)
}
