//! A place for what is new, and a way out of tables that are values.

use toml_edit::{ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::find::{is_called, is_value, table_mut};
use crate::config::keys::{self, Kind};

/// The text with a key that is not in it yet; `None` if something above it is no table.
pub(super) fn insert(text: &str, parts: &[&str], value: Value) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    let (last, above) = parts.split_last()?;
    for end in 1..=above.len() {
        open(document.as_table_mut(), &above[..end])?;
    }
    let is_inline = is_value(document.as_table(), above);
    let table = table_mut(document.as_table_mut(), above)?;
    let value = match is_inline {
        true => behind_the_last(table, value),
        false => value,
    };
    table.insert(last, Item::Value(value));
    Some(document.to_string())
}

/// The blank before the end of a table on one line belongs to its last value, whichever that is.
fn behind_the_last(table: &mut dyn TableLike, mut value: Value) -> Value {
    let last = table.iter_mut().last();
    let last = last.and_then(|(_, item)| item.as_value_mut());
    if let Some(decor) = last.map(Value::decor_mut)
        && let Some(end) = decor.suffix().cloned()
    {
        value.decor_mut().set_prefix(" ");
        value.decor_mut().set_suffix(end);
        decor.set_suffix("");
    }
    value
}

/// The text without a key in a table that is a value; `None` if it is not there.
pub(super) fn remove(text: &str, parts: &[&str]) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    let (last, above) = parts.split_last()?;
    table_mut(document.as_table_mut(), above)?.remove(last)?;
    Some(document.to_string())
}

/// Sees to it that there is a table, if the ones above it are there.
fn open(root: &mut dyn TableLike, parts: &[&str]) -> Option<()> {
    let (last, above) = parts.split_last()?;
    if is_list(above) {
        let (list, above) = above.split_last()?;
        return open_entry(table_mut(root, above)?.get_mut(list)?, last);
    }
    let is_inline = is_value(root, above);
    let table = table_mut(root, above)?;
    if table.contains_key(last) {
        return Some(());
    }
    let new = match (is_list(parts), is_inline) {
        (true, false) => Item::ArrayOfTables(ArrayOfTables::new()),
        (true, true) => return None,
        (false, true) => Item::Value(Value::InlineTable(InlineTable::new())),
        (false, false) => {
            let mut table = Table::new();
            // It gets a header only if something ends up right in it.
            table.set_implicit(true);
            Item::Table(table)
        }
    };
    table.insert(last, new);
    Some(())
}

/// Sees to it that a list by name has an entry.
fn open_entry(list: &mut Item, name: &str) -> Option<()> {
    match list {
        Item::ArrayOfTables(tables) => {
            if !tables.iter().any(|table| is_called(table, name)) {
                let mut table = Table::new();
                table.insert("name", Item::Value(name.into()));
                tables.push(table);
            }
        }
        Item::Value(Value::Array(items)) => {
            let has_name = |item: &Value| item.as_inline_table().is_some_and(|table| is_called(table, name));
            if !items.iter().any(has_name) {
                let mut table = InlineTable::new();
                table.insert("name", name.into());
                items.push(table);
            }
        }
        _ => return None,
    }
    Some(())
}

fn is_list(parts: &[&str]) -> bool {
    keys::rule(parts).is_some_and(|rule| rule.kind == Kind::Named)
}
