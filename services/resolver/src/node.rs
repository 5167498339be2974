//! A parsed file as a tree in which everything knows its place, whatever language it was written in: TOML, JSON and
//! the front matter's YAML all become this.

use crate::value::{Table, Value};

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Line of its key in a table, or of the value itself in a list; from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The value.
    pub content: Content,
}

/// What a node holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Nothing: JSON's and YAML's null.
    Null,
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
    List(Vec<Node>),
    /// A table: keys in the order of the file, each once.
    Table(Vec<(String, Node)>),
}

impl Node {
    /// The text, if it is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The entries, if it is a table.
    #[must_use]
    pub fn as_table(&self) -> Option<&[(String, Self)]> {
        match &self.content {
            Content::Table(entries) => Some(entries),
            _ => None,
        }
    }

    /// The entry of a table.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_table()?
            .iter()
            .find_map(|(name, node)| (name == key).then_some(node))
    }

    /// What kind of value it is, for messages: "a text", "a list".
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self.content {
            Content::Null => "null",
            Content::Text(_) => "a text",
            Content::Integer(_) => "a whole number",
            Content::Float(_) => "a number",
            Content::Flag(_) => "true or false",
            Content::Time(_) => "a date or time",
            Content::List(_) => "a list",
            Content::Table(_) => "a table",
        }
    }

    /// The value without its places. Null entries of tables and lists stay out.
    #[must_use]
    pub fn to_value(&self) -> Option<Value> {
        Some(match &self.content {
            Content::Null => return None,
            Content::Text(text) => Value::Text(text.clone()),
            Content::Integer(number) => Value::Integer(*number),
            Content::Float(number) => Value::Float(*number),
            Content::Flag(flag) => Value::Flag(*flag),
            Content::Time(text) => Value::Time(text.clone()),
            Content::List(items) => Value::List(items.iter().filter_map(Self::to_value).collect()),
            Content::Table(entries) => Value::Table(table(entries)),
        })
    }
}

fn table(entries: &[(String, Node)]) -> Table {
    entries
        .iter()
        .filter_map(|(key, node)| Some((key.clone(), node.to_value()?)))
        .collect()
}
