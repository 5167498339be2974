//! Values, and whole trees of them, as they may be shown.

use super::{has_word, looks_secret, shown_arguments, shown_text, shown_variable};
use crate::config::keys::{self, Kind, Secrecy};
use crate::mcp;
use crate::value::{Table, Value};

const SERVERS: &str = "mcp_servers";

/// Whether values below a key are secrets whatever they are called: headers of any kind, and what [`looks_secret`].
pub(crate) fn hides_all(key: &str) -> bool {
    looks_secret(key) || has_word(key, &["header", "headers"])
}

/// What may be shown of the value at this path.
pub(crate) fn shown(path: &[&str], value: &Value) -> Value {
    // What a server's own form shows, the tree shows.
    if let [SERVERS, _, key, below @ ..] = path {
        match (*key, value) {
            ("url", Value::Text(url)) => return Value::Text(mcp::shown_url(url)),
            _ if keys::rule_above(path).is_none() => {
                let is_hidden = below.iter().any(|key| mcp::is_suspicious(key));
                return if is_hidden {
                    value.redacted()
                } else {
                    mcp::shown_field(key, value)
                };
            }
            _ => {}
        }
    }
    match keys::rule_above(path) {
        Some(rule) => match rule.secrecy {
            Secrecy::Always => value.redacted(),
            Secrecy::ByName if path.last().is_some_and(|key| hides_all(key)) => value.redacted(),
            Secrecy::Content => shown_value(value),
            Secrecy::ByName => shown_variable_in(value),
            Secrecy::Open => shown_text_in(value),
        },
        None if path.iter().skip(known_parts(path)).any(|key| hides_all(key)) => value.redacted(),
        None => shown_value(value),
    }
}

/// Whether something of the value at this path is a secret.
pub(crate) fn hides(path: &[&str], value: &Value) -> bool {
    !is_same(&shown(path, value), value)
}

/// Equality that holds for numbers that are none, too.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Float(one), Value::Float(other)) => one.to_bits() == other.to_bits(),
        (Value::List(one), Value::List(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Table(one), Value::Table(other)) => {
            one.len() == other.len()
                && one
                    .values()
                    .zip(other.values())
                    .all(|(one, other)| is_same(one, other))
        }
        (one, other) => one == other,
    }
}

/// What may be shown of a whole tree.
pub(crate) fn shown_tree(tree: &Table) -> Table {
    let entries = tree.iter();
    entries
        .map(|(key, value)| (key.clone(), shown_below(&mut vec![key.clone()], value)))
        .collect()
}

/// Entries of lists by name are told apart by it, as in the keys of leaves.
fn shown_below(path: &mut Vec<String>, value: &Value) -> Value {
    let parts: Vec<&str> = path.iter().map(String::as_str).collect();
    let is_named = keys::rule(&parts).is_some_and(|rule| matches!(rule.kind, Kind::Named));
    match value {
        Value::Table(table) => Value::Table(shown_entries(path, table)),
        Value::List(items) if is_named => {
            let entries = items.iter();
            Value::List(entries.map(|item| shown_named(path, item)).collect())
        }
        _ => shown(&parts, value),
    }
}

fn shown_entries(path: &mut Vec<String>, table: &Table) -> Table {
    let mut shown = Table::new();
    for (key, value) in table {
        path.push(key.clone());
        shown.insert(key.clone(), shown_below(path, value));
        path.pop();
    }
    shown
}

fn shown_named(path: &mut Vec<String>, item: &Value) -> Value {
    let Some(table) = item.as_table() else {
        return item.redacted();
    };
    let name = table.get("name").and_then(Value::as_text).unwrap_or_default();
    path.push(name.to_owned());
    let mut shown = shown_entries(path, table);
    path.pop();
    if let Some(name) = table.get("name") {
        shown.insert("name".to_owned(), name.clone());
    }
    Value::Table(shown)
}

/// Parts of a path that are names of tables or of somebody's things, which say nothing about their values.
fn known_parts(path: &[&str]) -> usize {
    match path.first() {
        Some(&SERVERS) => 2,
        _ => 1,
    }
}

/// What may be shown of a value whose meaning nobody here knows, such as a hook of a front matter.
#[must_use]
pub fn shown_value(value: &Value) -> Value {
    match value {
        Value::Table(table) => {
            let entries = table.iter();
            let shown = |key: &str, value: &Value| match hides_all(key) {
                true => value.redacted(),
                false => shown_value(value),
            };
            Value::Table(
                entries
                    .map(|(key, value)| (key.clone(), shown(key, value)))
                    .collect(),
            )
        }
        Value::List(items) => shown_list(items, shown_value),
        other => shown_text_in(other),
    }
}

fn shown_text_in(value: &Value) -> Value {
    match value {
        Value::Text(text) => Value::Text(shown_text(text)),
        Value::List(items) => shown_list(items, shown_text_in),
        other => other.clone(),
    }
}

fn shown_variable_in(value: &Value) -> Value {
    match value {
        Value::Text(text) => Value::Text(shown_variable(text)),
        other => shown_text_in(other),
    }
}

/// A list of texts may be the arguments of a program.
pub(crate) fn shown_list(items: &[Value], shown: impl Fn(&Value) -> Value) -> Value {
    let texts: Option<Vec<String>> = items
        .iter()
        .map(|item| item.as_text().map(str::to_owned))
        .collect();
    Value::List(match texts {
        Some(texts) => shown_arguments(&texts).into_iter().map(Value::Text).collect(),
        None => items.iter().map(shown).collect(),
    })
}
