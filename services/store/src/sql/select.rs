//! A small builder for statements whose conditions vary.

use crate::sql::db::Value;

/// Conditions joined by AND, with the values that they bind.
#[derive(Debug, Default)]
pub(crate) struct Conditions {
    parts: Vec<String>,
    binds: Vec<Value>,
}

impl Conditions {
    /// Binds a value and answers its placeholder.
    pub(crate) fn bind(&mut self, value: impl Into<Value>) -> String {
        self.binds.push(value.into());
        format!("${}", self.binds.len())
    }

    /// Binds values and answers their placeholders, with commas between.
    pub(crate) fn bind_all<V: Into<Value>>(&mut self, values: impl IntoIterator<Item = V>) -> String {
        let placeholders: Vec<String> = values.into_iter().map(|value| self.bind(value)).collect();
        placeholders.join(", ")
    }

    /// Adds a condition.
    pub(crate) fn and(&mut self, condition: String) {
        self.parts.push(condition);
    }

    /// The WHERE clause, with a leading blank; empty without conditions.
    pub(crate) fn clause(&self) -> String {
        if self.parts.is_empty() {
            String::new()
        } else {
            format!(" WHERE {}", self.parts.join(" AND "))
        }
    }

    /// The bound values, in the order of their placeholders.
    pub(crate) fn binds(&self) -> &[Value] {
        &self.binds
    }
}
