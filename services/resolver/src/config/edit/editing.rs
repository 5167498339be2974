//! The steps of an edit, each on the text of one file and one key of it.

use std::ops::Range;

use compozy_domain::{Diagnostic, Layer};

use super::find::{Found, find};
use super::{Edited, insert};
use crate::config::check::{UnknownKeys, not_allowed_words};
use crate::config::file::examine;
use crate::config::keys::{self, Kind, Layers, Place};
use crate::config::nearest::nearest;
use crate::config::read::read;
use crate::config::{key, problem};
use crate::node::{Content, Node};

/// Bytes of a dotted key that can be set at most.
const KEY_BYTES_MAX: usize = 1_024;
const BOM: &str = "\u{feff}";

/// A file and the key in it that is edited.
pub(super) struct Editing<'t> {
    layer: Layer,
    path: &'t str,
    text: &'t str,
    parts: Vec<String>,
}

impl<'t> Editing<'t> {
    pub(super) fn new(
        layer: Layer,
        path: &'t str,
        text: &'t str,
        key: &str,
    ) -> Result<Self, Vec<Diagnostic>> {
        let parts = Some(key)
            .filter(|key| key.len() <= KEY_BYTES_MAX)
            .and_then(key::split)
            .unwrap_or_default();
        let editing = Self {
            layer,
            path,
            text,
            parts,
        };
        if editing.parts.is_empty() {
            let message = "this is no dotted key of a table, such as defaults.agent".to_owned();
            return Err(editing.refused(
                "config_bad_key",
                message,
                "write the key with dots between its parts",
            ));
        }
        let parsed = read(layer, path, text.as_bytes());
        if !parsed.is_whole || !parsed.problems.is_empty() {
            return Err(parsed.problems);
        }
        let layers = keys::layers(&editing.parts());
        if !layers.allow(layer) {
            let (message, _) = not_allowed_words(&editing.key(), layer, layers);
            // It is not in the file, so it can't be taken out of it.
            let remedy = match layers {
                Layers::UserOnly => "set it in the user's file, $COMPOZY_HOME/config.toml",
                Layers::NoProfile | Layers::Every => "set it in the user's or the workspace's file",
            };
            return Err(editing.refused("config_key_not_allowed", message, remedy));
        }
        Ok(editing)
    }

    /// What the key's value has to be.
    pub(super) fn kind(&self) -> Result<Kind, Vec<Diagnostic>> {
        let parts = self.parts();
        let above = keys::rule_above(&parts[..parts.len() - 1]);
        match keys::place(&parts) {
            Place::Key(rule) if !matches!(rule.kind, Kind::Named) => Ok(rule.kind),
            Place::Key(_) | Place::Table | Place::Names => Err(self.is_a_table("set")),
            Place::Opaque if parts.len() > 1 => Ok(Kind::Any),
            Place::Opaque => Err(self.is_a_table("set")),
            Place::Unknown => match above.map(|rule| rule.kind) {
                Some(Kind::TextMap) => Ok(Kind::Text),
                Some(Kind::Any) => Ok(Kind::Any),
                _ => Err(self.unknown()),
            },
        }
    }

    pub(super) fn find(&self) -> Option<Found> {
        find(self.body(), &self.parts())
    }

    pub(super) fn inserted(&self, value: toml_edit::Value) -> Result<String, Vec<Diagnostic>> {
        let new = insert::insert(self.body(), &self.parts(), value);
        new.map(|new| self.with_line_ends(new)).ok_or_else(|| {
            let message = format!(
                "there is no place for `{}`: something above it is no table",
                self.key()
            );
            self.refused("config_bad_key", message, "correct the file by hand")
        })
    }

    pub(super) fn removed(&self) -> Result<String, Vec<Diagnostic>> {
        let new = insert::remove(self.body(), &self.parts());
        new.map(|new| self.with_line_ends(new)).ok_or_else(|| {
            let message = format!("`{}` can't be taken out here", self.key());
            self.refused("config_bad_key", message, "correct the file by hand")
        })
    }

    /// Checks the result.
    pub(super) fn finish(&self, new: String, is_set: bool) -> Result<Edited, Vec<Diagnostic>> {
        let unknown_keys = (self.layer != Layer::User).then_some(UnknownKeys::Warn);
        let (_, found) = examine(self.layer, self.path, new.as_bytes(), unknown_keys);
        if !found.problems.is_empty() {
            return Err(self.placed(found.problems));
        }
        let before = read(self.layer, self.path, self.text.as_bytes()).node;
        let after = read(self.layer, self.path, new.as_bytes()).node;
        let place = at(&after, &self.parts());
        if place.is_some() != is_set {
            let message = format!("the file would not say what `{}` was to be", self.key());
            return Err(self.refused("config_bad_key", message, "correct the file by hand"));
        }
        let line = place.map(|node| node.line);
        // The same value in other words is no change.
        let changed = new != self.body() && before.to_value() != after.to_value();
        let text = match changed {
            true if self.text.starts_with(BOM) => format!("{BOM}{new}"),
            true => new,
            false => self.text.to_owned(),
        };
        let line = match changed {
            true => line,
            false => at(&before, &self.parts()).map(|node| node.line),
        };
        Ok(Edited { text, line, changed })
    }

    /// What is wrong with the result, with the places of the file as it is: the result is never written.
    fn placed(&self, problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let unknown_keys = (self.layer != Layer::User).then_some(UnknownKeys::Warn);
        let (_, now) = examine(self.layer, self.path, self.text.as_bytes(), unknown_keys);
        let edited = self.key();
        let mut placed: Vec<Diagnostic> = problems
            .into_iter()
            .map(|problem| {
                let is_same = |other: &&Diagnostic| (other.code, &other.key) == (problem.code, &problem.key);
                let twin = now.problems.iter().find(is_same);
                let place = twin.filter(|_| problem.key.as_deref() != Some(&edited));
                Diagnostic {
                    line: place.and_then(|twin| twin.line),
                    column: place.and_then(|twin| twin.column),
                    ..problem
                }
            })
            .collect();
        Diagnostic::sort(&mut placed);
        placed
    }

    pub(super) fn body(&self) -> &'t str {
        self.text.strip_prefix(BOM).unwrap_or(self.text)
    }

    pub(super) fn with(&self, span: &Range<usize>, new: &str) -> String {
        let body = self.body();
        format!("{}{new}{}", &body[..span.start], &body[span.end..])
    }

    /// The whole lines of a span.
    pub(super) fn lines(&self, span: &Range<usize>) -> Range<usize> {
        let body = self.body();
        let start = body[..span.start].rfind('\n').map_or(0, |at| at + 1);
        let end = body[span.end..]
            .find('\n')
            .map_or(body.len(), |at| span.end + at + 1);
        start..end
    }

    /// The editor of whole documents writes ends of lines in its own way.
    fn with_line_ends(&self, new: String) -> String {
        let body = self.body();
        let is_crlf = body.contains("\r\n") && !body.replace("\r\n", "").contains('\n');
        match is_crlf {
            true => new.replace("\r\n", "\n").replace('\n', "\r\n"),
            false => new,
        }
    }

    fn unknown(&self) -> Vec<Diagnostic> {
        let nearest = nearest(&self.parts());
        let meant = nearest
            .map(|nearest| format!(", did you mean `{nearest}`?"))
            .unwrap_or_default();
        let message = format!("unknown key `{}`{meant}", self.key());
        self.refused("config_unknown_key", message, "see `compozy config schema`")
    }

    pub(super) fn is_a_table(&self, verb: &str) -> Vec<Diagnostic> {
        let message = format!("`{}` is a table", self.key());
        self.refused(
            "config_bad_key",
            message,
            &format!("{verb} the keys in it one by one"),
        )
    }

    pub(super) fn refused(&self, code: &'static str, message: String, remedy: &str) -> Vec<Diagnostic> {
        let found = problem::error(code, self.layer, self.path, message, remedy);
        vec![found.about(self.key())]
    }

    pub(super) fn key(&self) -> String {
        key::shown(self.parts.iter().map(String::as_str))
    }

    fn parts(&self) -> Vec<&str> {
        self.parts.iter().map(String::as_str).collect()
    }
}

/// The node of a dotted key; an entry of a list by name is called by it.
fn at<'n>(node: &'n Node, parts: &[&str]) -> Option<&'n Node> {
    let mut node = node;
    for part in parts {
        node = match &node.content {
            Content::List(items) => items.iter().find(|item| {
                let name = item.get("name").and_then(Node::as_text);
                name.is_some_and(|name| name.trim() == *part)
            })?,
            _ => node.get(part)?,
        };
    }
    Some(node)
}
