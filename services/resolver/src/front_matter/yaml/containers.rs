//! Lists and tables whose end was not seen yet, one in the other.

use std::collections::HashSet;

use super::super::{DEPTH_MAX, Finding, Place};
use super::fault;
use crate::node::{Content, Node};

/// The containers around what comes next, from the outside to the inside.
#[derive(Debug, Default)]
pub(super) struct Containers {
    open: Vec<Container>,
}

/// A list or table, complete.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) content: Content,
    pub(super) place: Place,
    /// Its anchor; 0 if it has none.
    pub(super) anchor: usize,
}

/// What a container holds so far.
#[derive(Debug)]
pub(super) enum Inside {
    List(Vec<Node>),
    Table {
        entries: Vec<(String, Node)>,
        known: HashSet<String>,
        /// The key whose value comes next.
        key: Option<(String, Place)>,
    },
}

#[derive(Debug)]
struct Container {
    place: Place,
    anchor: usize,
    inside: Inside,
}

impl Containers {
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Begins one more.
    pub(super) fn begin(&mut self, inside: Inside, anchor: usize, place: Place) -> Result<(), Finding> {
        if self.wants_key() {
            return Err(fault::no_key(place));
        }
        if self.open.len() == DEPTH_MAX {
            return Err(fault::too_deep(place));
        }
        let place = self.place_of_value(place);
        self.open.push(Container {
            place,
            anchor,
            inside,
        });
        Ok(())
    }

    /// Ends the innermost one.
    pub(super) fn end(&mut self) -> Option<Ended> {
        let Container {
            place,
            anchor,
            inside,
        } = self.open.pop()?;
        let content = match inside {
            Inside::List(items) => Content::List(items),
            Inside::Table { entries, .. } => Content::Table(entries),
        };
        Some(Ended {
            content,
            place,
            anchor,
        })
    }

    /// Puts a complete value where it belongs; gives it back if there is nothing around it.
    pub(super) fn put(&mut self, node: Node) -> Option<Node> {
        match self.inside_mut() {
            None => return Some(node),
            Some(Inside::List(items)) => items.push(node),
            Some(Inside::Table { entries, known, key }) => {
                // Of two values of one key the first one stays.
                if let Some((key, _)) = key.take()
                    && known.insert(key.clone())
                {
                    entries.push((key, node));
                }
            }
        }
        None
    }

    /// Whether the innermost table has this key already.
    pub(super) fn has_key(&self, text: &str) -> bool {
        matches!(self.inside(), Some(Inside::Table { known, .. }) if known.contains(text))
    }

    /// Takes the key whose value comes next.
    pub(super) fn set_key(&mut self, text: String, place: Place) {
        if let Some(Inside::Table { key, .. }) = self.inside_mut() {
            *key = Some((text, place));
        }
    }

    /// Whether a key comes next.
    pub(super) fn wants_key(&self) -> bool {
        matches!(self.inside(), Some(Inside::Table { key: None, .. }))
    }

    /// The key whose value comes next.
    pub(super) fn key_of_value(&self) -> Option<&str> {
        match self.inside()? {
            Inside::Table {
                key: Some((key, _)), ..
            } => Some(key),
            _ => None,
        }
    }

    /// The keys whose values are being read, from the outside to the inside.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.open.iter().filter_map(|container| match &container.inside {
            Inside::Table {
                key: Some((key, _)), ..
            } => Some(key.as_str()),
            _ => None,
        })
    }

    /// A value of a table stands where its key does.
    pub(super) fn place_of_value(&self, place: Place) -> Place {
        match self.inside() {
            Some(Inside::Table {
                key: Some((_, place)),
                ..
            }) => *place,
            _ => place,
        }
    }

    fn inside(&self) -> Option<&Inside> {
        self.open.last().map(|container| &container.inside)
    }

    fn inside_mut(&mut self) -> Option<&mut Inside> {
        self.open.last_mut().map(|container| &mut container.inside)
    }
}

impl Inside {
    pub(super) fn table() -> Self {
        Self::Table {
            entries: Vec::new(),
            known: HashSet::new(),
            key: None,
        }
    }
}
