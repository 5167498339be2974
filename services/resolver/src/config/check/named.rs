//! Lists of tables that are told apart by their names.

use std::collections::HashSet;

use super::{Checking, with};
use crate::config::keys::Kind;
use crate::mcp::server_name;
use crate::node::{Content, Node};

impl<'n> Checking<'n> {
    pub(super) fn named(&mut self, node: &'n Node) -> Option<Node> {
        let Content::List(items) = &node.content else {
            let message = format!("`{}` {}", self.key(), Kind::Named.rule());
            let remedy = format!("write [[{}]] and `name` in it", self.key());
            self.problem("config_wrong_type", node, message, &remedy);
            return None;
        };
        let mut names = HashSet::new();
        let mut kept = Vec::with_capacity(items.len());
        for item in items {
            let Some(name) = self.name_of(item) else { continue };
            self.at.push(name);
            if names.insert(name) {
                let mut entries = vec![("name".to_owned(), with(item, Content::Text(name.to_owned())))];
                for (field, node) in item.as_table().unwrap_or_default() {
                    if field == "name" {
                        continue;
                    }
                    self.at.push(field);
                    entries.extend(self.entry(node).map(|node| (field.clone(), node)));
                    self.at.pop();
                }
                kept.push(with(item, Content::Table(entries)));
            } else {
                let message = format!("`{}`: this name is in the file already", self.key());
                self.problem(
                    "config_duplicate_name",
                    item,
                    message,
                    "rename or remove one of the two",
                );
            }
            self.at.pop();
        }
        Some(with(node, Content::List(kept)))
    }

    fn name_of(&mut self, item: &'n Node) -> Option<&'n str> {
        let Some(entries) = item.as_table() else {
            let message = format!("`{}` {}", self.key(), Kind::Named.rule());
            self.problem("config_wrong_type", item, message, "make each entry a table");
            return None;
        };
        let name = entries
            .iter()
            .find_map(|(field, node)| (field == "name").then_some(node));
        let Some(name) = name else {
            let message = format!("an entry of `{}` has no `name`", self.key());
            self.problem("config_bad_name", item, message, "add `name`");
            return None;
        };
        let Some(text) = name.as_text() else {
            let message = format!(
                "`name` in `{}` has to be a text, it is {}",
                self.key(),
                name.kind()
            );
            self.problem("config_wrong_type", name, message, "put it in quotes");
            return None;
        };
        match server_name(text) {
            Ok(text) => Some(text),
            Err(fault) => {
                let message = format!("`name` in `{}` {fault}", self.key());
                self.problem("config_bad_name", name, message, "give it another name");
                None
            }
        }
    }
}
