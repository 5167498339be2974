//! The merged configuration, and what may be shown of it.

use std::fmt;

use compozy_domain::Diagnostic;

use super::{Origin, key, secrets};
use crate::mcp::McpServer;
use crate::value::{Table, Value};

/// One effective value, and everything that was said about it.
#[derive(Clone, PartialEq)]
pub struct Leaf {
    /// Dotted key; a part that is no bare word is quoted. Entries of lists by name are called by it, those of other
    /// lists that merge by their place, from 0.
    pub key: String,
    /// The value. A secret stays one: see [`Leaf::shown`].
    pub value: Value,
    /// Whether it, or something in it, is a secret.
    pub is_secret: bool,
    /// Who says so.
    pub winner: Origin,
    /// Who said something before, nearest below the winner first.
    pub losers: Vec<(Origin, Value)>,
}

/// The merged configuration of a workspace.
#[derive(Clone, PartialEq)]
pub struct EffectiveConfig {
    /// Everything, as a tree. Holds secrets: see [`EffectiveConfig::shown`].
    pub(crate) tree: Table,
    /// Every leaf, sorted by key.
    pub(crate) leaves: Vec<Leaf>,
    /// The MCP servers in the order in which the layers brought them.
    pub(crate) servers: Vec<McpServer>,
    /// Warnings: unknown keys that pass, unknown fields of servers.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl EffectiveConfig {
    /// Every leaf, sorted by key.
    #[must_use]
    pub fn leaves(&self) -> &[Leaf] {
        &self.leaves
    }

    /// The leaf of a dotted key, however it is quoted.
    #[must_use]
    pub fn leaf(&self, key: &str) -> Option<&Leaf> {
        let parts = key::split(key)?;
        let key = key::join(parts.iter().map(String::as_str));
        let at = self.leaves.binary_search_by(|leaf| leaf.key.as_str().cmp(&key));
        at.ok().map(|at| &self.leaves[at])
    }

    /// The MCP servers, in the order in which the layers brought them. They hold secrets: see [`McpServer::shown`].
    #[must_use]
    pub fn servers(&self) -> &[McpServer] {
        &self.servers
    }

    /// Warnings and notes about the files, sorted.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Who says what a key is.
    #[must_use]
    pub fn origin(&self, key: &str) -> Option<&Origin> {
        self.leaf(key).map(|leaf| &leaf.winner)
    }

    /// A text.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        self.leaf(key)?.value.as_text()
    }

    /// true or false.
    #[must_use]
    pub fn flag(&self, key: &str) -> Option<bool> {
        match self.leaf(key)?.value {
            Value::Flag(flag) => Some(flag),
            _ => None,
        }
    }

    /// A list of texts; empty if nobody says anything.
    #[must_use]
    pub fn texts(&self, key: &str) -> Vec<&str> {
        match self.leaf(key).map(|leaf| &leaf.value) {
            Some(Value::List(items)) => items.iter().filter_map(Value::as_text).collect(),
            _ => Vec::new(),
        }
    }

    /// Everything as a tree, as one file would say it, with secrets in it: for the process that uses them, and nobody
    /// else.
    #[must_use]
    pub fn tree_with_secrets(&self) -> &Table {
        &self.tree
    }

    /// Everything as a tree that may be shown.
    #[must_use]
    pub fn shown(&self) -> Table {
        secrets::shown_tree(&self.tree)
    }
}

impl Leaf {
    /// The value as it may be shown.
    #[must_use]
    pub fn shown(&self) -> Value {
        self.shown_value(&self.value)
    }

    /// Who said something before, and what, as it may be shown.
    #[must_use]
    pub fn shown_losers(&self) -> Vec<(&Origin, Value)> {
        let losers = self.losers.iter();
        losers
            .map(|(origin, value)| (origin, self.shown_value(value)))
            .collect()
    }

    fn shown_value(&self, value: &Value) -> Value {
        match key::split(&self.key) {
            Some(parts) => {
                let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
                secrets::shown(&parts, value)
            }
            None => value.redacted(),
        }
    }
}

impl fmt::Debug for Leaf {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Leaf");
        shown.field("key", &self.key).field("winner", &self.winner);
        shown.finish_non_exhaustive()
    }
}

impl fmt::Debug for EffectiveConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("EffectiveConfig");
        shown.field("leaves", &self.leaves.len());
        shown.finish_non_exhaustive()
    }
}
