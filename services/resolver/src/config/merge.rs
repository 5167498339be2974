//! Layers on top of one another, with the memory of who said what. Every leaf is a stack: the last one who spoke wins,
//! and the others are its losers.

mod named;
mod outcome;
mod saying;

use std::collections::BTreeMap;

use compozy_domain::{Diagnostic, Layer};

use super::Origin;
use super::keys::{DefaultValue, KEYS};
use crate::node::Node;
use crate::value::Value;

pub(super) use named::Named;
pub(super) use outcome::{Outcome, fields as server_fields};
use saying::Saying;

/// What everybody said about one thing.
pub(super) enum Part {
    /// One value. Whoever spoke last counts; that it is gone is said, too.
    Leaf(Vec<Said>),
    Table(Level),
    Named(Named),
    /// Lists of all layers behind one another.
    Appended {
        /// The lists as such, for one that holds nothing.
        lists: Vec<Said>,
        items: Vec<Said>,
    },
}

pub(super) type Parts = BTreeMap<String, Part>;

/// A table.
#[derive(Default)]
pub(super) struct Level {
    parts: Parts,
    /// Who spoke last of it, as long as that counts: a table with nothing in it is one all the same.
    origin: Option<Origin>,
}

pub(super) struct Said {
    pub(super) origin: Origin,
    /// `None`: whatever was said below does not count any more.
    pub(super) value: Option<Value>,
}

/// One file that speaks.
pub(super) struct Speaker<'p> {
    pub(super) layer: Layer,
    pub(super) path: &'p str,
    /// The one place of everything that is said; else each thing has its own.
    pub(super) place: Option<(u32, u32)>,
}

/// What was said so far.
#[derive(Default)]
pub(super) struct Merging {
    parts: Parts,
    pub(super) problems: Vec<Diagnostic>,
}

impl Merging {
    /// Starts with the built-in defaults.
    pub(super) fn new() -> Self {
        let mut merging = Self::default();
        for rule in KEYS.iter().filter(|rule| !rule.key.contains('*')) {
            if let Some(value) = default_value(rule.default) {
                let path: Vec<&str> = rule.key.split('.').collect();
                merging.say(&path, origin_without_file(Layer::Default), value);
            }
        }
        merging
    }

    /// Lets a checked `config.toml` speak.
    pub(super) fn file(&mut self, speaker: &Speaker<'_>, node: &Node) {
        let mut said = Saying {
            speaker,
            path: Vec::new(),
            problems: &mut self.problems,
        };
        said.table(&mut self.parts, node.as_table().unwrap_or_default());
    }

    /// Lets a server of an `mcp.json` speak: nothing that was said about one of its name before counts any more.
    pub(super) fn server(&mut self, speaker: &Speaker<'_>, name: &str, node: &Node) {
        let mut said = Saying {
            speaker,
            path: vec!["mcp_servers"],
            problems: &mut self.problems,
        };
        let slot = self.parts.entry("mcp_servers".to_owned());
        if let Part::Named(named) = slot.or_insert_with(|| Part::Named(Named::default())) {
            let entry = named.entry(name, said.origin(node));
            entry.end(&said.origin(node));
            said.fields(entry, name, node.as_table().unwrap_or_default());
        }
    }

    /// Says one value that has no file.
    pub(super) fn say(&mut self, path: &[&str], origin: Origin, value: Value) {
        let Some((last, above)) = path.split_last() else {
            return;
        };
        let mut parts = &mut self.parts;
        for part in above {
            let slot = parts.entry((*part).to_owned());
            // Checked files and defaults agree about which of their keys are tables.
            let Part::Table(below) = slot.or_insert_with(|| Part::Table(Level::default())) else {
                return;
            };
            parts = &mut below.parts;
        }
        let slot = parts.entry((*last).to_owned());
        if let Part::Leaf(stack) = slot.or_insert_with(|| Part::Leaf(Vec::new())) {
            stack.push(Said {
                origin,
                value: Some(value),
            });
        }
    }

    /// The servers, for a check of what became of them.
    pub(super) fn servers(&self) -> Option<&Named> {
        match self.parts.get("mcp_servers") {
            Some(Part::Named(named)) => Some(named),
            _ => None,
        }
    }

    /// What it all comes to.
    pub(super) fn outcome(&self) -> Outcome {
        Outcome::of(&self.parts)
    }
}

impl Part {
    /// Somebody whose word here still counts.
    pub(super) fn speaker(&self) -> Option<&Origin> {
        match self {
            Self::Leaf(stack) => stack
                .last()
                .filter(|said| said.value.is_some())
                .map(|said| &said.origin),
            Self::Table(level) => {
                let within = level.parts.values().find_map(Self::speaker);
                within.or(level.origin.as_ref())
            }
            Self::Named(named) => named.entries().first().map(|entry| &entry.origin),
            Self::Appended { lists, .. } => lists.last().map(|said| &said.origin),
        }
    }

    /// From here on nothing counts of what was said.
    fn end(&mut self, origin: &Origin) {
        match self {
            Self::Leaf(stack) if stack.last().is_some_and(|said| said.value.is_some()) => {
                stack.push(Said {
                    origin: origin.clone(),
                    value: None,
                });
            }
            Self::Table(level) => {
                level.origin = None;
                level.parts.values_mut().for_each(|part| part.end(origin));
            }
            Self::Leaf(_) | Self::Named(_) | Self::Appended { .. } => {}
        }
    }
}

/// An origin of a layer that has no file.
pub(super) const fn origin_without_file(layer: Layer) -> Origin {
    Origin {
        layer,
        path: None,
        line: None,
        column: None,
    }
}

fn default_value(default: DefaultValue) -> Option<Value> {
    Some(match default {
        DefaultValue::Unset | DefaultValue::Words(_) => return None,
        DefaultValue::Text(text) => Value::Text(text.to_owned()),
        DefaultValue::Flag(flag) => Value::Flag(flag),
        DefaultValue::Count(count) => Value::Integer(count),
        DefaultValue::Texts(texts) => {
            let texts = texts.iter().map(|text| Value::Text((*text).to_owned()));
            Value::List(texts.collect())
        }
    })
}
