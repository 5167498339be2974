//! What the user's file says, by key. The resolver's table of keys has checked every value, so what has another type
//! than it is asked for is not there.

use std::time::Duration;

use compozy_resolver::config::{ConfigFile, span};
use compozy_resolver::node::{Content, Node};

/// A checked file.
#[derive(Debug)]
pub(super) struct Values(pub(super) ConfigFile);

impl Values {
    /// Line and column of a key, if it is in the file.
    pub(super) fn place(&self, key: &str) -> Option<(u32, u32)> {
        self.0.get(key).map(|node| (node.line, node.column))
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.0.get(key).is_some()
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(Node::as_text)
    }

    pub(super) fn texts(&self, key: &str) -> Vec<String> {
        match self.0.get(key).map(|node| &node.content) {
            Some(Content::List(items)) => items
                .iter()
                .filter_map(Node::as_text)
                .map(str::to_owned)
                .collect(),
            _ => Vec::new(),
        }
    }

    pub(super) fn flag(&self, key: &str) -> Option<bool> {
        match self.0.get(key)?.content {
            Content::Flag(flag) => Some(flag),
            _ => None,
        }
    }

    pub(super) fn count(&self, key: &str) -> Option<u64> {
        match self.0.get(key)?.content {
            Content::Integer(count) => u64::try_from(count).ok(),
            _ => None,
        }
    }

    pub(super) fn span(&self, key: &str) -> Option<Duration> {
        self.text(key).and_then(span)
    }
}
