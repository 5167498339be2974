//! A file against the table of keys: everything that is wrong with it at once, and what is left when that is taken
//! out.

mod named;
mod sources;
mod unknown;

use compozy_domain::{Diagnostic, Layer};

use super::key;
use super::keys::{self, KeyRule, Kind, Layers, Place};
use super::kind::{Misfit, PROVIDER_NAME_RULE, is_provider_name};
use super::nearest::nearest;
use super::problem::{self, FINDINGS_MAX, layer_words};
use crate::node::{Content, Node};

use unknown::Unknown;
pub use unknown::UnknownKeys;

/// A file that was checked.
pub(super) struct Checked {
    /// What of it counts: without what is wrong, and without unknown keys.
    pub(super) node: Node,
    pub(super) problems: Vec<Diagnostic>,
    unknown: Vec<Unknown>,
}

/// Checks a file.
pub(super) fn check(layer: Layer, path: &str, node: &Node) -> Checked {
    let mut checking = Checking {
        layer,
        path,
        at: Vec::new(),
        problems: Vec::new(),
        unknown: Vec::new(),
    };
    let entries = checking.entries(node.as_table().unwrap_or_default());
    Checked {
        node: with(node, Content::Table(entries)),
        problems: checking.problems,
        unknown: checking.unknown,
    }
}

impl Checked {
    /// What unknown keys are, if this is the file that may say so.
    pub(super) fn unknown_keys(&self) -> UnknownKeys {
        let said = self
            .node
            .get("config")
            .and_then(|config| config.get("unknown_keys"));
        match said.and_then(Node::as_text) {
            Some("warn") => UnknownKeys::Warn,
            _ => UnknownKeys::Error,
        }
    }
}

struct Checking<'n> {
    layer: Layer,
    path: &'n str,
    /// The key that is looked at.
    at: Vec<&'n str>,
    problems: Vec<Diagnostic>,
    unknown: Vec<Unknown>,
}

impl<'n> Checking<'n> {
    fn entries(&mut self, entries: &'n [(String, Node)]) -> Vec<(String, Node)> {
        let mut kept = Vec::with_capacity(entries.len());
        for (name, node) in entries {
            self.at.push(name);
            if let Some(node) = self.entry(node) {
                kept.push((name.clone(), node));
            }
            self.at.pop();
        }
        kept
    }

    fn entry(&mut self, node: &'n Node) -> Option<Node> {
        let layers = keys::layers(&self.at);
        if !layers.allow(self.layer) {
            self.not_allowed(node, layers);
            return None;
        }
        match keys::place(&self.at) {
            Place::Key(rule) => self.value(rule, node),
            Place::Table => self.table(node),
            Place::Names => self.names(node),
            // Whose it is can't be asked, but they are tables.
            Place::Opaque if self.at.len() == 1 => self.table_of(node).map(|_| node.clone()),
            Place::Opaque => Some(node.clone()),
            Place::Unknown => {
                self.unknown(node);
                None
            }
        }
    }

    fn table(&mut self, node: &'n Node) -> Option<Node> {
        let entries = self.table_of(node)?;
        let kept = self.entries(entries);
        Some(with(node, Content::Table(kept)))
    }

    fn table_of(&mut self, node: &'n Node) -> Option<&'n [(String, Node)]> {
        let entries = node.as_table();
        if entries.is_none() {
            let message = format!("`{}` has to be a table, it is {}", self.key(), node.kind());
            self.problem("config_wrong_type", node, message, "make it a table");
        }
        entries
    }

    /// A table whose keys somebody chose.
    fn names(&mut self, node: &'n Node) -> Option<Node> {
        let entries = self.table_of(node)?;
        let mut kept = Vec::with_capacity(entries.len());
        for (name, node) in entries {
            self.at.push(name);
            let table = self.name_fits(name, node).then(|| self.table(node)).flatten();
            kept.extend(table.map(|table| (name.clone(), table)));
            self.at.pop();
        }
        Some(with(node, Content::Table(kept)))
    }

    fn name_fits(&mut self, name: &str, node: &Node) -> bool {
        let rule = match self.at.first() {
            Some(&"providers") if is_provider_name(name) => return true,
            Some(&"providers") => PROVIDER_NAME_RULE,
            _ if !name.trim().is_empty() && !name.contains('/') && !name.contains(char::is_control) => {
                return true;
            }
            _ => "no blank one, no '/', no control characters",
        };
        let message = format!("`{}`: this name does not fit: {rule}", self.key());
        self.problem("config_bad_name", node, message, "give it another name");
        false
    }

    fn value(&mut self, rule: &'static KeyRule, node: &'n Node) -> Option<Node> {
        match rule.kind {
            Kind::Named => return self.named(node),
            Kind::TextMap => return self.text_map(node),
            _ => {}
        }
        let misfits = rule.kind.misfits(node);
        for misfit in &misfits {
            self.misfit(misfit);
        }
        (misfits.is_empty() && self.sources_fit(rule.kind, node)).then(|| node.clone())
    }

    fn text_map(&mut self, node: &'n Node) -> Option<Node> {
        let Some(entries) = node.as_table() else {
            for misfit in Kind::TextMap.misfits(node) {
                self.misfit(&misfit);
            }
            return None;
        };
        let mut kept = Vec::with_capacity(entries.len());
        for (name, node) in entries {
            self.at.push(name);
            let misfits = Kind::Text.misfits(node);
            for misfit in &misfits {
                self.misfit(misfit);
            }
            let is_name = !name.is_empty() && !name.contains(['=', '\0']);
            if !is_name {
                let message = format!(
                    "`{}`: a name may not be empty and holds no `=` or NUL",
                    self.key()
                );
                self.problem("config_bad_name", node, message, "give it another name");
            }
            if misfits.is_empty() && is_name {
                kept.push((name.clone(), node.clone()));
            }
            self.at.pop();
        }
        Some(with(node, Content::Table(kept)))
    }

    fn misfit(&mut self, misfit: &Misfit<'_>) {
        let code = match misfit.is_wrong_type {
            true => "config_wrong_type",
            false => "config_bad_value",
        };
        let message = format!("`{}` {}", self.key(), misfit.rule);
        self.problem(code, misfit.node, message, "correct its value");
    }

    fn not_allowed(&mut self, node: &Node, layers: Layers) {
        let (message, remedy) = not_allowed_words(&self.key(), self.layer, layers);
        self.problem("config_key_not_allowed", node, message, remedy);
    }

    fn unknown(&mut self, node: &Node) {
        // Nobody reads more than these, and each one costs a search.
        let nearest = match self.unknown.len() < FINDINGS_MAX {
            true => nearest(&self.at),
            false => None,
        };
        // What is known at the top are tables, and no single value is meant to be one.
        let holds_more = matches!(node.content, Content::Table(_) | Content::List(_));
        let nearest = nearest.filter(|near| holds_more || self.at.len() > 1 || near.contains('.'));
        self.unknown.push(Unknown {
            key: self.key(),
            remedy: unknown::remedy(&self.at, nearest.as_deref()),
            nearest,
            line: node.line,
            column: node.column,
        });
    }

    fn problem(&mut self, code: &'static str, node: &Node, message: String, remedy: &str) {
        let found = problem::error(code, self.layer, self.path, message, remedy);
        self.problems
            .push(found.at(node.line, node.column).about(self.key()));
    }

    fn key(&self) -> String {
        key::shown(self.at.iter().copied())
    }
}

fn with(node: &Node, content: Content) -> Node {
    Node {
        line: node.line,
        column: node.column,
        content,
    }
}

/// What is said about a key that a layer may not set, and what to do.
pub(super) fn not_allowed_words(key: &str, layer: Layer, layers: Layers) -> (String, &'static str) {
    let here = layer_words(layer);
    match layers {
        Layers::UserOnly => (
            format!("`{key}` may be set in the user's file only, and this is {here}"),
            "remove it here; the user may set it in $COMPOZY_HOME/config.toml",
        ),
        Layers::NoProfile | Layers::Every => (
            format!("`{key}` may not be set by profiles, and this is {here}"),
            "move it to the user's or the workspace's config.toml",
        ),
    }
}
