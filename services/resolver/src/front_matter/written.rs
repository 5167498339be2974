//! How values are written that are no texts, for those who expect one: `version: 1.10` is a number to YAML, and its
//! author meant the text.

use std::collections::BTreeMap;

use super::Place;
use crate::node::{Content, Node};

/// The spelling of scalars that are no texts, by their place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    by_place: BTreeMap<Place, String>,
}

impl Written {
    /// Remembers a spelling.
    pub(super) fn note(&mut self, place: Place, text: &str) {
        self.by_place.insert(place, text.to_owned());
    }

    /// Remembers that the value at one place is written like the one at another.
    pub(super) fn note_copy(&mut self, place: Place, of: Place) {
        if let Some(text) = self.by_place.get(&of).cloned() {
            self.by_place.insert(place, text);
        }
    }

    /// How a number, a flag or a time is written; `None` for everything else.
    #[must_use]
    pub fn of<'n>(&'n self, node: &'n Node) -> Option<&'n str> {
        match &node.content {
            Content::Time(text) => Some(text),
            Content::Integer(_) | Content::Float(_) | Content::Flag(_) => {
                self.by_place.get(&Place::of(node)).map(String::as_str)
            }
            Content::Null | Content::Text(_) | Content::List(_) | Content::Table(_) => None,
        }
    }
}
