//! Values that are valid YAML and most likely not what was meant: cut off by a comment, or begun by a tag or anchor.

use std::collections::HashSet;

use granit_parser::Span;

use super::super::quote::line_shown;
use super::super::{Finding, Place, key_shown};
use crate::value::REDACTED;

/// The scalar that was read last, if nothing came after it.
#[derive(Debug)]
pub(super) struct Last {
    /// Its key, if it is the value of one.
    pub(super) key: Option<String>,
    /// Whether one of the keys that it stands below says that it is a secret.
    pub(super) is_secret: bool,
    /// Its text; `None` if there is no value at all.
    pub(super) text: Option<String>,
    /// Line on which it ends, as the parser counts.
    pub(super) line: usize,
    /// Where it ends.
    pub(super) end: usize,
}

/// Plain values behind a tag or an anchor.
#[derive(Debug, Default)]
pub(super) struct Marked {
    values: Vec<MarkedValue>,
    used_anchors: HashSet<usize>,
}

/// A value behind a tag or an anchor.
#[derive(Debug)]
pub(super) struct MarkedValue {
    pub(super) place: Place,
    /// Its key, if it is the value of one.
    pub(super) key: Option<String>,
    /// 0 for a tag.
    pub(super) anchor: usize,
    /// Whether it is one of the front matter's own table.
    pub(super) is_top: bool,
    /// Whether it is not quoted, so that what was taken for a tag or an anchor is most likely its beginning.
    pub(super) is_plain: bool,
}

/// A comment that directly follows a plain value: most likely a part of it.
pub(super) fn cut(last: Last, comment: &str, span: &Span, place: Place, source: &str) -> Option<Finding> {
    if last.line != span.start.line() {
        return None;
    }
    let key = last.key.as_deref();
    let about = key.map_or_else(
        || "a value".to_owned(),
        |key| format!("the value of `{}`", key_shown(key)),
    );
    let end = span.end.byte_offset()?;
    let (message, meant) = match last.text {
        Some(text) => {
            let rest = source.get(last.end..end)?;
            let meant = format!("{text}{rest}");
            (
                format!("{about} ends at ` #`: the rest of the line is a comment"),
                meant,
            )
        }
        // `key: # note` is a usual comment; nobody writes `key: #note` for one.
        None if comment.starts_with([' ', '\t']) || comment.is_empty() => return None,
        None => {
            let meant = format!("#{comment}");
            (format!("{about} is empty: `#` begins a comment"), meant)
        }
    };
    let shown = match last.is_secret {
        true => line_shown(key, REDACTED),
        false => line_shown(key, meant.trim_end()),
    };
    let found = Finding::warning(
        "front_matter_value_cut",
        place,
        format!("{message}; if it belongs to the value, write: {shown}"),
        "put the whole value between double quotes, or remove the comment",
    );
    Some(match last.key {
        Some(key) => found.about(&key),
        None => found,
    })
}

impl Marked {
    pub(super) fn note(&mut self, value: MarkedValue) {
        self.values.push(value);
    }

    pub(super) fn note_use(&mut self, anchor: usize) {
        self.used_anchors.insert(anchor);
    }

    /// Whether a value of the front matter's own table perhaps lost its beginning.
    pub(super) fn has_half_value(&self) -> bool {
        self.suspicious().any(|value| value.is_top)
    }

    /// Whether one of them most likely did.
    pub(super) fn has_lost_value(&self) -> bool {
        self.suspicious().any(MarkedValue::is_lost)
    }

    /// A finding for each: half a value of the front matter's own is none.
    pub(super) fn findings(&self) -> impl Iterator<Item = Finding> {
        self.suspicious().map(|value| {
            let (mark, word) = if value.anchor == 0 { ('!', "a tag") } else { ('&', "an anchor") };
            let message = format!(
                "a value that is not quoted begins with `{mark}`: its first word is {word} to YAML and no text"
            );
            let remedy = "put the whole value between double quotes";
            let found = if value.is_lost() {
                Finding::error("front_matter_value_cut", value.place, message, remedy)
            } else {
                Finding::warning("front_matter_value_cut", value.place, message, remedy)
            };
            match &value.key {
                Some(key) => found.about(key),
                None => found,
            }
        })
    }

    fn suspicious(&self) -> impl Iterator<Item = &MarkedValue> {
        self.values
            .iter()
            .filter(|value| value.anchor == 0 || !self.used_anchors.contains(&value.anchor))
    }
}

impl MarkedValue {
    const fn is_lost(&self) -> bool {
        self.is_top && self.is_plain
    }
}
