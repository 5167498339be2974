//! One key of a `config.toml`, set or taken out, with every other byte of the file as it was: a value that is there is
//! replaced in its place, a line that goes is cut out, and only for what is new a place is looked for.

mod editing;
mod find;
mod insert;
mod literal;

use std::fmt;

use compozy_domain::{Diagnostic, Layer};

use self::editing::Editing;
use self::find::Found;
use self::literal::literal;

/// A file after an edit. May hold secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct Edited {
    /// The whole file.
    pub text: String,
    /// Line of the key in it, from 1; `None` if it is not in it.
    pub line: Option<u32>,
    /// Whether anything is different.
    pub changed: bool,
}

/// Sets a key in the text of a layer's `config.toml`; `path` is for messages. `value` is a TOML value; for a key that
/// takes a text, the text alone will do. The result is checked as a whole, but for unknown keys that a file of another
/// layer than the user's held before.
///
/// # Errors
/// Everything that is wrong with the key, the value or the result, sorted.
pub fn set(layer: Layer, path: &str, text: &str, key: &str, value: &str) -> Result<Edited, Vec<Diagnostic>> {
    let editing = Editing::new(layer, path, text, key)?;
    let kind = editing.kind()?;
    let Some(literal) = literal(kind, value) else {
        let message = format!("`{}` {}", editing.key(), kind.rule());
        return Err(editing.refused("config_bad_value", message, "write the value as TOML does"));
    };
    let new = match editing.find() {
        Some(Found::Value { value, .. }) => editing.with(&value, &literal.to_string()),
        Some(Found::Table) => return Err(editing.is_a_table("set")),
        None => editing.inserted(literal)?,
    };
    editing.finish(new, true)
}

/// Takes a key out of the text of a layer's `config.toml`; `path` is for messages. Comments above it stay.
///
/// # Errors
/// Everything that is wrong with the key or the result, sorted.
pub fn unset(layer: Layer, path: &str, text: &str, key: &str) -> Result<Edited, Vec<Diagnostic>> {
    let editing = Editing::new(layer, path, text, key)?;
    let new = match editing.find() {
        None => editing.body().to_owned(),
        Some(Found::Value {
            value,
            is_inline: false,
        }) => editing.with(&editing.lines(&value), ""),
        Some(Found::Value { is_inline: true, .. }) => editing.removed()?,
        Some(Found::Table) => return Err(editing.is_a_table("take out")),
    };
    editing.finish(new, false)
}

impl fmt::Debug for Edited {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Edited");
        shown.field("line", &self.line).field("changed", &self.changed);
        shown.finish_non_exhaustive()
    }
}
