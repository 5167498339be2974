//! A small builder for statements whose conditions vary.

use compozy_domain::{Visibility, WorkspaceId};

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

    /// Adds that a column is one of these ids. An empty list holds for no row; neither engine takes one as it is.
    pub(crate) fn and_one_of<'t>(&mut self, column: &str, ids: impl IntoIterator<Item = &'t str>) {
        let ids: Vec<&str> = ids.into_iter().collect();
        let Some(last) = ids.last() else {
            return self.and("1 = 0".to_owned());
        };
        // The last one again up to a power of two: lists of every length share a few prepared statements.
        let filling = std::iter::repeat_n(last, ids.len().next_power_of_two() - ids.len());
        let placeholders = self.bind_all(ids.iter().chain(filling).copied());
        self.and(format!("{column} IN ({placeholders})"));
    }

    /// Adds that a column is the id of a workspace that exists for a caller.
    pub(crate) fn and_visible(&mut self, column: &str, visibility: &Visibility) {
        if let Visibility::Only(ids) = visibility {
            self.and_one_of(column, ids.iter().map(WorkspaceId::as_str));
        }
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
