//! From everything that was said to what counts: the tree, and its leaves with their winners and losers.

use super::{Named, Part, Parts, Said};
use crate::config::{Leaf, key, secrets};
use crate::value::{Table, Value};

/// What counts.
pub(in crate::config) struct Outcome {
    pub(in crate::config) tree: Table,
    /// Sorted by key.
    pub(in crate::config) leaves: Vec<Leaf>,
}

impl Outcome {
    pub(super) fn of(parts: &Parts) -> Self {
        let mut collecting = Collecting::default();
        let tree = collecting.table(parts);
        let mut leaves = collecting.leaves;
        leaves.sort_by(|one, other| one.key.cmp(&other.key));
        Self { tree, leaves }
    }
}

/// The fields of one named thing as they count.
pub(in crate::config) fn fields(parts: &Parts) -> Table {
    Collecting::default().table(parts)
}

#[derive(Default)]
struct Collecting<'p> {
    path: Vec<&'p str>,
    leaves: Vec<Leaf>,
}

impl<'p> Collecting<'p> {
    fn table(&mut self, parts: &'p Parts) -> Table {
        let mut table = Table::new();
        for (name, part) in parts {
            self.path.push(name);
            let value = self.part(part);
            table.extend(value.map(|value| (name.clone(), value)));
            self.path.pop();
        }
        table
    }

    fn part(&mut self, part: &'p Part) -> Option<Value> {
        match part {
            Part::Leaf(stack) => self.leaf(stack),
            Part::Table(level) => {
                let table = self.table(&level.parts);
                let is_there = !table.is_empty() || level.origin.is_some();
                is_there.then_some(Value::Table(table))
            }
            Part::Named(named) => Some(self.named(named)),
            Part::Appended { lists, items } if items.is_empty() => self.leaf(lists),
            Part::Appended { items, .. } => Some(self.items(items)),
        }
    }

    fn leaf(&mut self, stack: &[Said]) -> Option<Value> {
        let (last, below) = stack.split_last()?;
        let value = last.value.clone()?;
        let losers = below.iter().rev();
        let losers = losers.filter_map(|said| Some((said.origin.clone(), said.value.clone()?)));
        let leaf = Leaf {
            key: key::join(self.path.iter().copied()),
            is_secret: secrets::hides(&self.path, &value),
            value: value.clone(),
            winner: last.origin.clone(),
            losers: losers.collect(),
        };
        self.leaves.push(leaf);
        Some(value)
    }

    fn named(&mut self, named: &'p Named) -> Value {
        let mut tables = Vec::with_capacity(named.entries().len());
        for entry in named.entries() {
            self.path.push(&entry.name);
            let mut table = self.table(&entry.fields);
            self.path.pop();
            table.insert("name".to_owned(), Value::Text(entry.name.clone()));
            tables.push(Value::Table(table));
        }
        Value::List(tables)
    }

    /// Each entry is a leaf of its own, called by its place.
    fn items(&mut self, items: &[Said]) -> Value {
        let mut values = Vec::with_capacity(items.len());
        for (place, said) in items.iter().enumerate() {
            let Some(value) = &said.value else { continue };
            let place = place.to_string();
            let path = self.path.iter().copied().chain([place.as_str()]);
            let leaf = Leaf {
                key: key::join(path.clone()),
                is_secret: secrets::hides(&path.collect::<Vec<_>>(), value),
                value: value.clone(),
                winner: said.origin.clone(),
                losers: Vec::new(),
            };
            self.leaves.push(leaf);
            values.push(value.clone());
        }
        Value::List(values)
    }
}
