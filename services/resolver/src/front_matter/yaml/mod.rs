//! YAML as a tree. The parser is the one below serde-saphyr, used as events: only they tell how a scalar is quoted,
//! where a comment cuts one off and where exactly everything stands, and a tree that is built from them can be bounded
//! while it grows.

mod build;
mod containers;
mod copies;
mod fault;
mod scalar;
mod suspicion;

use granit_parser::{Event, Options, Parser};

use super::place::Lines;
use super::{Fields, Finding, Place, Written};
use crate::node::{Content, Node};
use build::Builder;

/// A front matter that is YAML.
#[derive(Debug)]
pub(super) struct Tree {
    /// The value; `None` if there is nothing but comments.
    root: Option<Node>,
    written: Written,
    findings: Vec<Finding>,
    /// Whether some plain value of the front matter's own table lost its beginning: to a tag, or to an anchor that
    /// nothing refers to.
    pub(super) has_half_value: bool,
    /// Whether one most likely did, which leaves nothing to use.
    has_lost_value: bool,
}

/// Reads YAML that begins on a line of the file.
///
/// # Errors
/// The first thing because of which it is no YAML, or too much.
pub(super) fn parse(text: &str, first_line: u32) -> Result<Tree, Finding> {
    let mut lines = Lines::new(text, first_line);
    let mut builder = Builder::new(text);
    let mut has_document = false;
    for event in Parser::new_from_str_with_options(text, options()) {
        let (event, span) = event.map_err(|problem| fault::of(&problem, text, &mut lines))?;
        let place = lines.place(span.start.byte_offset().unwrap_or(0));
        if matches!(event, Event::DocumentStart(..)) {
            if has_document {
                return Err(fault::second_document(place));
            }
            has_document = true;
        }
        builder.take(event, &span, place)?;
    }
    Ok(builder.into_tree())
}

fn options() -> Options {
    granit_parser::options! {
        // A directive has to be followed by `---`, which ends the front matter.
        disallow_directives: true,
        emit_comments: true,
        // A file has no more comments than bytes, and its size is bounded.
        max_buffered_comment_events: usize::MAX,
    }
}

impl Tree {
    /// Whether the front matter is a table, if only an empty one.
    pub(super) fn is_table(&self) -> bool {
        self.root.as_ref().is_none_or(|root| root.as_table().is_some())
    }

    /// Whether there is no need to look a second time.
    pub(super) fn is_certain(&self) -> bool {
        self.is_table() && !self.has_half_value && !self.looks_like_toml()
    }

    /// Whether it could be TOML that happens to be YAML: `name = "a: b"` is a key with a value there.
    fn looks_like_toml(&self) -> bool {
        let entries = self.root.as_ref().and_then(Node::as_table);
        entries.is_some_and(|entries| entries.iter().any(|(key, _)| key.contains('=')))
    }

    /// The table and what was found; an error if it is none.
    pub(super) fn into_fields(self) -> Fields {
        let mut fields = Fields {
            fields: None,
            written: self.written,
            findings: self.findings,
        };
        match self.root {
            Some(root) if root.as_table().is_none() => fields.findings.push(no_table(&root)),
            Some(_) if self.has_lost_value => {}
            Some(root) => fields.fields = Some(root),
            None => fields.fields = Some(nothing()),
        }
        fields
    }
}

/// An empty front matter says nothing, which is not wrong by itself.
fn nothing() -> Node {
    Node {
        line: super::FIRST_LINE,
        column: 1,
        content: Content::Table(Vec::new()),
    }
}

fn no_table(root: &Node) -> Finding {
    Finding::error(
        "front_matter_not_table",
        Place::of(root),
        format!("the front matter is {} and no table of fields", root.kind()),
        "write one `key: value` on each line",
    )
}
