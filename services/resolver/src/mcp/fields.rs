//! Fields of a server's table, read one by one, with everything that is wrong about them.

use std::collections::BTreeMap;

use compozy_domain::{Diagnostic, Severity};

use super::Transport;
use super::names::{shown_key, shown_name};
use crate::config::Origin;
use crate::node::{Content, Node};

/// Words for transports that public files use. Case, `-` and `_` do not matter.
const TRANSPORTS: &[(&str, Transport)] = &[
    ("stdio", Transport::Stdio),
    ("local", Transport::Stdio),
    ("http", Transport::Http),
    ("streamablehttp", Transport::Http),
    ("httpstream", Transport::Http),
    ("sse", Transport::Sse),
    ("url", Transport::Url),
    ("remote", Transport::Url),
];

/// Reads fields of one server and collects what is wrong.
pub(super) struct Fields<'a> {
    pub(super) server: &'a str,
    pub(super) origin: &'a Origin,
    pub(super) problems: Vec<Diagnostic>,
    pub(super) warnings: Vec<Diagnostic>,
}

impl Fields<'_> {
    pub(super) fn text(&mut self, field: &str, node: &Node) -> String {
        match &node.content {
            Content::Text(text) => self.without_nul(field, node, text),
            Content::Null => String::new(),
            _ => self.wrong_type(field, node, "a text"),
        }
    }

    pub(super) fn texts(&mut self, field: &str, node: &Node) -> Vec<String> {
        let items = match &node.content {
            Content::List(items) => items,
            Content::Null => return Vec::new(),
            _ => return self.wrong_type(field, node, "a list of texts"),
        };
        let mut texts = Vec::with_capacity(items.len());
        for item in items {
            match &item.content {
                Content::Text(text) => texts.push(self.without_nul(field, item, text)),
                _ => return self.wrong_type(field, item, "a list of texts, with each of them in quotes"),
            }
        }
        texts
    }

    /// A table of texts. Numbers and flags are what people forgot to quote, and there is only one way to take them.
    pub(super) fn text_map(&mut self, field: &str, node: &Node) -> BTreeMap<String, String> {
        let entries = match &node.content {
            Content::Table(entries) => entries,
            Content::Null => return BTreeMap::new(),
            _ => return self.wrong_type(field, node, "a table of texts"),
        };
        let mut texts = BTreeMap::new();
        for (key, value) in entries {
            if key.is_empty() || key.contains(['=', '\0']) {
                let message = format!(
                    "{} has a name that is empty or holds `=` or NUL",
                    self.named(field)
                );
                self.problem("mcp_bad_value", field, value, message, "give it another name");
                continue;
            }
            let inner = format!("{field}.{}", shown_key(key));
            let text = match &value.content {
                Content::Text(text) => self.without_nul(&inner, value, text),
                Content::Null => continue,
                _ => match scalar(value) {
                    Some(text) => {
                        let message = format!(
                            "{} is {} and is taken as a text",
                            self.named(&inner),
                            value.kind()
                        );
                        self.warn("mcp_not_text", &inner, value, message, "put it in quotes");
                        text
                    }
                    None => self.wrong_type(&inner, value, "a text"),
                },
            };
            texts.insert(key.clone(), text);
        }
        texts
    }

    pub(super) fn flag(&mut self, field: &str, node: &Node) -> bool {
        match node.content {
            Content::Flag(flag) => flag,
            Content::Null => false,
            _ => self.wrong_type(field, node, "true or false"),
        }
    }

    /// Public files count seconds or milliseconds, or write a unit: it is kept as written.
    pub(super) fn timeout(&mut self, field: &str, node: &Node) -> String {
        match &node.content {
            Content::Text(text) => self.without_nul(field, node, text),
            Content::Integer(0..) => scalar(node).unwrap_or_default(),
            Content::Float(number) if *number >= 0.0 => scalar(node).unwrap_or_default(),
            Content::Null => String::new(),
            _ => self.wrong_type(field, node, "a text or a number from 0"),
        }
    }

    pub(super) fn transport(&mut self, field: &str, node: &Node) -> Option<Transport> {
        let text = match &node.content {
            Content::Text(text) => text,
            Content::Null => return None,
            _ => return self.wrong_type(field, node, "a text"),
        };
        let known = Transport::parse(text);
        if known.is_none() {
            let message = format!("{} is none of \"stdio\", \"http\", \"sse\"", self.named(field));
            let remedy =
                "write one of them, or remove it: `command` means stdio, `url` a server at an address";
            self.problem("mcp_bad_value", field, node, message, remedy);
        }
        known
    }

    /// "field `args` of MCP server `s`"
    pub(super) fn named(&self, field: &str) -> String {
        format!("field `{field}` of MCP server `{}`", shown_name(self.server))
    }

    pub(super) fn problem(
        &mut self,
        code: &'static str,
        field: &str,
        at: &Node,
        message: String,
        remedy: &str,
    ) {
        let found = self.found(code, Severity::Error, field, message, remedy);
        self.problems.push(found.at(at.line, at.column));
    }

    pub(super) fn warn(&mut self, code: &'static str, field: &str, at: &Node, message: String, remedy: &str) {
        let found = self.found(code, Severity::Warning, field, message, remedy);
        self.warnings.push(found.at(at.line, at.column));
    }

    /// What it would be without a problem does not matter: a server with one is not used.
    pub(super) fn wrong_type<T: Default>(&mut self, field: &str, node: &Node, expected: &str) -> T {
        let message = format!(
            "{} has to be {expected}, it is {}",
            self.named(field),
            node.kind()
        );
        self.problem("mcp_wrong_type", field, node, message, "correct its value");
        T::default()
    }

    fn found(
        &self,
        code: &'static str,
        severity: Severity,
        field: &str,
        message: String,
        remedy: &str,
    ) -> Diagnostic {
        let path = self.origin.path.clone().unwrap_or_default();
        let key = format!("mcp_servers.{}.{field}", shown_key(self.server));
        Diagnostic::new(code, severity, self.origin.layer, path, message, remedy).about(key)
    }

    /// No argument, variable or path of a process can hold a NUL.
    fn without_nul(&mut self, field: &str, node: &Node, text: &str) -> String {
        if text.contains('\0') {
            let message = format!("{} holds a NUL character", self.named(field));
            self.problem("mcp_bad_value", field, node, message, "remove the NUL");
        }
        text.to_owned()
    }
}

impl Transport {
    /// The transport that a word of a file means.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let plain: String = text
            .trim()
            .chars()
            .filter(|letter| !matches!(letter, '-' | '_'))
            .collect();
        let known = TRANSPORTS
            .iter()
            .find(|(word, _)| word.eq_ignore_ascii_case(&plain));
        known.map(|(_, transport)| *transport)
    }
}

fn scalar(node: &Node) -> Option<String> {
    Some(match &node.content {
        Content::Text(text) | Content::Time(text) => text.clone(),
        Content::Integer(number) => number.to_string(),
        Content::Float(number) => number.to_string(),
        Content::Flag(flag) => flag.to_string(),
        Content::Null | Content::List(_) | Content::Table(_) => return None,
    })
}
