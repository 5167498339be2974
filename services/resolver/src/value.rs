//! Effective values: what is left of the files after merging.

use std::collections::BTreeMap;

/// A table, sorted by key.
pub type Table = BTreeMap<String, Value>;

/// What stands in the place of a secret, everywhere.
pub const REDACTED: &str = "<redacted>";

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A text.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// Another number.
    Float(f64),
    /// true or false.
    Flag(bool),
    /// A TOML date or time, as written.
    Time(String),
    /// A list.
    List(Vec<Value>),
    /// A table.
    Table(Table),
}

impl Value {
    /// The text, if it is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The table, if it is one.
    #[must_use]
    pub fn as_table(&self) -> Option<&Table> {
        match self {
            Self::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The value with every scalar in it redacted, so that only its shape and keys can be seen.
    #[must_use]
    pub fn redacted(&self) -> Self {
        match self {
            Self::List(items) => Self::List(items.iter().map(Self::redacted).collect()),
            Self::Table(table) => {
                let entries = table.iter();
                Self::Table(
                    entries
                        .map(|(key, value)| (key.clone(), value.redacted()))
                        .collect(),
                )
            }
            _ => Self::Text(REDACTED.to_owned()),
        }
    }
}
