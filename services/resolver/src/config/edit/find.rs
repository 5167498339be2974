//! Where a value stands in the text of a file.

use std::ops::Range;

use toml_edit::{Document, InlineTable, Item, Table, TableLike, Value};

/// What stands at a key.
pub(super) enum Found {
    Value {
        /// Its bytes, from the first to the last that belong to it.
        value: Range<usize>,
        /// Whether it is in a table that is itself a value.
        is_inline: bool,
    },
    /// A table that has lines of its own.
    Table,
}

/// Looks for a key.
pub(super) fn find(text: &str, parts: &[&str]) -> Option<Found> {
    let document = Document::parse(text).ok()?;
    let (item, is_inline) = item(document.as_table(), parts, false)?;
    match item {
        Item::Value(value) => Some(Found::Value {
            value: value.span()?,
            is_inline,
        }),
        _ => Some(Found::Table),
    }
}

/// Whether the table of a dotted key is itself a value, or in one.
pub(super) fn is_value(root: &dyn TableLike, parts: &[&str]) -> bool {
    let is_inline = |parts: &[&str]| {
        let found = item(root, parts, false);
        found.is_some_and(|(item, is_inline)| is_inline || item.is_inline_table())
    };
    // An entry of a list by name is no item of its own, but its name is.
    is_inline(parts) || matches!(item(root, &[parts, &["name"]].concat(), false), Some((_, true)))
}

fn item<'t>(table: &'t dyn TableLike, parts: &[&str], is_inline: bool) -> Option<(&'t Item, bool)> {
    let (part, rest) = parts.split_first()?;
    let found = table.get(part)?;
    let Some((name, below)) = rest.split_first() else {
        return Some((found, is_inline));
    };
    match found {
        Item::ArrayOfTables(tables) => {
            let table = tables.iter().find(|table| is_called(*table, name))?;
            item(table, below, is_inline)
        }
        Item::Value(Value::Array(items)) => {
            let mut tables = items.iter().filter_map(Value::as_inline_table);
            item(tables.find(|table| is_called(*table, name))?, below, true)
        }
        Item::Value(Value::InlineTable(table)) => item(table, rest, true),
        found => item(found.as_table_like()?, rest, is_inline),
    }
}

/// The table of a dotted key that is there already.
pub(super) fn table_mut<'t>(table: &'t mut dyn TableLike, parts: &[&str]) -> Option<&'t mut dyn TableLike> {
    let Some((part, rest)) = parts.split_first() else {
        return Some(table);
    };
    match table.get_mut(part)? {
        Item::ArrayOfTables(tables) => {
            let (name, rest) = rest.split_first()?;
            let mut tables = tables.iter_mut();
            let table: &mut Table = tables.find(|table| is_called(*table, name))?;
            table_mut(table, rest)
        }
        Item::Value(Value::Array(items)) => {
            let (name, rest) = rest.split_first()?;
            let mut tables = items.iter_mut().filter_map(Value::as_inline_table_mut);
            let table: &mut InlineTable = tables.find(|table| is_called(*table, name))?;
            table_mut(table, rest)
        }
        item => table_mut(item.as_table_like_mut()?, rest),
    }
}

/// Whether an entry of a list by name is the one of this name.
pub(super) fn is_called(table: &dyn TableLike, name: &str) -> bool {
    let own = table.get("name").and_then(Item::as_str);
    own.is_some_and(|own| own.trim() == name)
}
