//! From the bytes of a `config.toml` to a tree in which every key knows its place. What is wrong is told by kind and
//! place; what the parser says quotes nothing of the file.

use compozy_domain::{Diagnostic, Layer};
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::depth::{DEPTH_MAX, too_deep};
use super::key;
use super::problem::{self, CONFIG_BYTES_MAX};
use crate::node::{Content, Node};
use crate::places::Places;

/// Bytes of a broken file in which more than the first slip is looked for.
const RECOVERED_MAX: usize = 64 * 1024;

/// What a file holds.
pub(super) struct Parsed {
    /// The tree; empty if the file can't be read.
    pub(super) node: Node,
    /// Whether all of it is in the tree.
    pub(super) is_whole: bool,
    pub(super) problems: Vec<Diagnostic>,
}

/// Reads a file.
pub(super) fn read(layer: Layer, path: &str, bytes: &[u8]) -> Parsed {
    if bytes.len() > CONFIG_BYTES_MAX {
        return broken(problem::too_large(layer, path, CONFIG_BYTES_MAX));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            let (line, column) = Places::new(&before).at(before.len());
            let message = "it is not valid UTF-8 from here on";
            return broken(
                problem::error("config_syntax", layer, path, message, "save it as UTF-8").at(line, column),
            );
        }
    };
    let mut reading = Reading {
        layer,
        path,
        text,
        places: Places::new(text),
        problems: Vec::new(),
    };
    if let Some(offset) = too_deep(text) {
        let message = format!("tables and lists may nest {DEPTH_MAX} deep, this one lies deeper");
        let found = reading.error("config_too_deep", offset, message, "nest less");
        return broken(found);
    }
    let (table, errors) = match DeTable::parse(text) {
        Ok(table) => (table, Vec::new()),
        // The parser keeps hundreds of bytes for each slip, and a hostile file is nothing but slips.
        Err(first) if text.len() > RECOVERED_MAX => {
            reading.told(&[first]);
            return Parsed {
                node: nothing(),
                is_whole: false,
                problems: reading.problems,
            };
        }
        Err(_) => DeTable::parse_recoverable(text),
    };
    let is_whole = reading.told(&errors);
    if !is_whole {
        return Parsed {
            node: nothing(),
            is_whole,
            problems: reading.problems,
        };
    }
    Parsed {
        node: Node {
            line: 1,
            column: 1,
            content: reading.table(table.get_ref()),
        },
        is_whole,
        problems: reading.problems,
    }
}

struct Reading<'t> {
    layer: Layer,
    path: &'t str,
    text: &'t str,
    places: Places<'t>,
    problems: Vec<Diagnostic>,
}

impl Reading<'_> {
    /// Tells what the parser found, and answers whether the tree is worth looking at. After a slip in the syntax the
    /// parser guesses, so only the first one counts; a key that stands there twice harms nothing else.
    fn told(&mut self, errors: &[toml::de::Error]) -> bool {
        let (duplicates, slips): (Vec<_>, Vec<_>) = errors
            .iter()
            .partition(|error| error.message().starts_with("duplicate key"));
        let offset = |error: &toml::de::Error| error.span().map_or(0, |span| span.start);
        let first = slips.into_iter().min_by_key(|error| offset(error));
        let end = first.map_or(usize::MAX, offset);
        for error in duplicates.into_iter().filter(|error| offset(error) < end) {
            let name = error.span().and_then(|span| self.text.get(span));
            let parts = name.and_then(key::split).unwrap_or_default();
            let name = key::shown(parts.iter().map(String::as_str));
            let message = format!("the key `{name}` is in the file already");
            let found = self.error(
                "config_duplicate_key",
                offset(error),
                message,
                "remove or rename one of the two",
            );
            self.problems.push(found);
        }
        let Some(first) = first else { return true };
        let message = format!("it is not valid TOML: {}", first.message());
        let found = self.error("config_syntax", offset(first), message, "correct the syntax here");
        self.problems.push(found);
        false
    }

    fn table(&mut self, table: &DeTable<'_>) -> Content {
        let mut entries: Vec<_> = table.iter().collect();
        // The table is sorted by name; the file's own order is that of the places.
        entries.sort_by_key(|(key, _)| key.span().start);
        let mut nodes = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let node = self.node(key.span().start, value);
            nodes.push((key.get_ref().to_string(), node));
        }
        Content::Table(nodes)
    }

    fn node(&mut self, offset: usize, value: &Spanned<DeValue<'_>>) -> Node {
        let (line, column) = self.places.at(offset);
        Node {
            line,
            column,
            content: self.content(value),
        }
    }

    fn content(&mut self, value: &Spanned<DeValue<'_>>) -> Content {
        let span = value.span();
        match value.get_ref() {
            DeValue::String(text) => Content::Text(text.to_string()),
            DeValue::Boolean(flag) => Content::Flag(*flag),
            DeValue::Datetime(_) => Content::Time(self.text.get(span).unwrap_or_default().to_owned()),
            DeValue::Integer(integer) => self.integer(span.start, integer),
            DeValue::Float(float) => match float.as_str().replace('_', "").parse() {
                Ok(number) => Content::Float(number),
                Err(_) => self.no_number(span.start),
            },
            DeValue::Array(items) => {
                let nodes = items.iter().map(|item| self.node(item.span().start, item));
                Content::List(nodes.collect())
            }
            DeValue::Table(table) => self.table(table),
        }
    }

    fn integer(&mut self, offset: usize, integer: &DeInteger<'_>) -> Content {
        match i64::from_str_radix(&integer.as_str().replace('_', ""), integer.radix()) {
            Ok(number) => Content::Integer(number),
            Err(_) => self.no_number(offset),
        }
    }

    fn no_number(&mut self, offset: usize) -> Content {
        let message = "this number is too large";
        let found = self.error("config_bad_value", offset, message, "write a smaller one");
        self.problems.push(found);
        Content::Integer(0)
    }

    fn error(
        &mut self,
        code: &'static str,
        offset: usize,
        message: impl Into<String>,
        remedy: &str,
    ) -> Diagnostic {
        let (line, column) = self.places.at(offset);
        problem::error(code, self.layer, self.path, message, remedy).at(line, column)
    }
}

fn broken(problem: Diagnostic) -> Parsed {
    Parsed {
        node: nothing(),
        is_whole: false,
        problems: vec![problem],
    }
}

fn nothing() -> Node {
    Node {
        line: 1,
        column: 1,
        content: Content::Table(Vec::new()),
    }
}
