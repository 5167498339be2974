//! Things that are told apart by their names and keep the order in which they came.

use std::collections::HashMap;

use super::{Origin, Parts};

/// Entries in the order of their first words.
#[derive(Default)]
pub(in crate::config) struct Named {
    entries: Vec<Entry>,
    places: HashMap<String, usize>,
}

/// What was said about one of them.
pub(in crate::config) struct Entry {
    pub(in crate::config) name: String,
    /// Who spoke last about it.
    pub(in crate::config) origin: Origin,
    pub(in crate::config) fields: Parts,
}

impl Named {
    pub(in crate::config) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry of this name, about which somebody speaks now.
    pub(super) fn entry(&mut self, name: &str, origin: Origin) -> &mut Entry {
        let place = match self.places.get(name) {
            Some(place) => *place,
            None => {
                self.places.insert(name.to_owned(), self.entries.len());
                self.entries.push(Entry {
                    name: name.to_owned(),
                    origin: origin.clone(),
                    fields: Parts::new(),
                });
                self.entries.len() - 1
            }
        };
        let entry = &mut self.entries[place];
        entry.origin = origin;
        entry
    }
}

impl Entry {
    /// Nothing counts of what was said about it.
    pub(super) fn end(&mut self, origin: &Origin) {
        self.fields.values_mut().for_each(|part| part.end(origin));
    }
}
