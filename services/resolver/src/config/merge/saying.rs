//! One file while it speaks: each thing that it says is put on top of what was said before.

use compozy_domain::Diagnostic;

use super::named::{Entry, Named};
use super::{Level, Origin, Part, Parts, Said, Speaker};
use crate::config::key;
use crate::config::keys::{self, Merge, Place};
use crate::config::problem::{self, layer_words};
use crate::mcp::Transport;
use crate::node::{Content, Node};

/// One file while it speaks.
pub(super) struct Saying<'s, 'n> {
    pub(super) speaker: &'s Speaker<'s>,
    pub(super) path: Vec<&'n str>,
    pub(super) problems: &'s mut Vec<Diagnostic>,
}

impl<'n> Saying<'_, 'n> {
    pub(super) fn table(&mut self, parts: &mut Parts, entries: &'n [(String, Node)]) {
        for (name, node) in entries {
            self.path.push(name);
            self.entry(parts, name, node);
            self.path.pop();
        }
    }

    fn entry(&mut self, parts: &mut Parts, name: &str, node: &'n Node) {
        let merge = match keys::place(&self.path) {
            Place::Key(rule) => rule.merge,
            _ => Merge::ByKey,
        };
        let part = match (merge, &node.content) {
            (_, Content::Null) => return,
            (Merge::ByNamePatch | Merge::ByNameReplace, _) => Part::Named(Named::default()),
            (Merge::Append, _) => Part::Appended {
                lists: Vec::new(),
                items: Vec::new(),
            },
            (Merge::ByKey, Content::Table(_)) => Part::Table(Level::default()),
            (Merge::ByKey | Merge::Replace, _) => Part::Leaf(Vec::new()),
        };
        let slot = parts.entry(name.to_owned()).or_insert(part);
        match (merge, slot, &node.content) {
            (Merge::ByNamePatch, Part::Named(named), Content::List(items)) => self.named(named, items, false),
            (Merge::ByNameReplace, Part::Named(named), Content::List(items)) => {
                self.named(named, items, true);
            }
            (Merge::Append, Part::Appended { lists, items }, Content::List(nodes)) => {
                lists.push(self.said(node));
                items.extend(nodes.iter().map(|node| self.said(node)));
            }
            (Merge::ByKey, slot, Content::Table(entries)) => self.below(slot, node, entries),
            (_, slot, _) => self.leaf(slot, node),
        }
    }

    fn below(&mut self, slot: &mut Part, node: &Node, entries: &'n [(String, Node)]) {
        if !matches!(slot, Part::Table(_)) {
            if let Some(other) = slot.speaker() {
                let other = other.clone();
                return self.conflict(node, &other, "another kind of value");
            }
            *slot = Part::Table(Level::default());
        }
        if let Part::Table(level) = slot {
            level.origin = Some(self.origin(node));
            self.table(&mut level.parts, entries);
        }
    }

    fn leaf(&mut self, slot: &mut Part, node: &Node) {
        if !matches!(slot, Part::Leaf(_)) {
            if let Some(other) = slot.speaker() {
                let other = other.clone();
                return self.conflict(node, &other, "a table");
            }
            *slot = Part::Leaf(Vec::new());
        }
        if let Part::Leaf(stack) = slot {
            stack.push(self.said(node));
        }
    }

    fn named(&mut self, named: &mut Named, items: &'n [Node], is_whole: bool) {
        for item in items {
            let name = item.get("name").and_then(Node::as_text).unwrap_or_default();
            let origin = self.origin(item);
            let entry = named.entry(name, origin);
            if is_whole {
                entry.end(&self.origin(item));
            }
            self.fields(entry, name, item.as_table().unwrap_or_default());
        }
    }

    pub(super) fn fields(&mut self, entry: &mut Entry, name: &'n str, fields: &'n [(String, Node)]) {
        self.path.push(name);
        for (field, node) in fields.iter().filter(|(field, _)| field != "name") {
            let field = match field.as_str() {
                // Two names of one field, so that a later layer's patches what an earlier one said under the other.
                "type" if self.path[0] == "mcp_servers" => match other_name(fields) {
                    None => "transport",
                    Some(other) if is_same_transport(node, other) => continue,
                    Some(_) => "type",
                },
                field => field,
            };
            self.path.push(field);
            self.entry(&mut entry.fields, field, node);
            self.path.pop();
        }
        self.path.pop();
    }

    fn said(&self, node: &Node) -> Said {
        Said {
            origin: self.origin(node),
            value: node.to_value(),
        }
    }

    pub(super) fn origin(&self, node: &Node) -> Origin {
        let (line, column) = self.speaker.place.unwrap_or((node.line, node.column));
        Origin {
            layer: self.speaker.layer,
            path: Some(self.speaker.path.to_owned()),
            line: Some(line),
            column: Some(column),
        }
    }

    fn conflict(&mut self, node: &Node, other: &Origin, what: &str) {
        let key = key::shown(self.path.iter().copied());
        let place = match other.line {
            Some(line) => format!(", line {line}"),
            None => String::new(),
        };
        let message = format!(
            "`{key}` is {} here and {what} in {}{place}",
            node.kind(),
            layer_words(other.layer)
        );
        let remedy = "make both of one kind, or remove one of them";
        let origin = self.origin(node);
        let found = problem::error(
            "config_shape_conflict",
            self.speaker.layer,
            self.speaker.path,
            message,
            remedy,
        );
        let (line, column) = (origin.line.unwrap_or(1), origin.column.unwrap_or(1));
        self.problems.push(found.at(line, column).about(key));
    }
}

/// What a server says under the other name of `type`.
fn other_name(fields: &[(String, Node)]) -> Option<&Node> {
    let said = |(field, node): &&(String, Node)| field == "transport" && node.content != Content::Null;
    fields.iter().find(said).map(|(_, node)| node)
}

/// Whether both say the same thing; that they do not is told by whoever makes a server of them.
fn is_same_transport(one: &Node, other: &Node) -> bool {
    let meant = |node: &Node| node.as_text().and_then(Transport::parse);
    meant(one).is_some_and(|transport| meant(other) == Some(transport))
}
