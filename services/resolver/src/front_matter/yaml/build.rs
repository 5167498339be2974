//! Builds the tree from the parser's events, never larger than it may be.

use granit_parser::{Event, ScalarStyle, Span, Tag};

use super::super::{Finding, Place, Written, key_shown};
use super::containers::{Containers, Ended, Inside};
use super::copies::Copies;
use super::suspicion::{Last, Marked, MarkedValue, cut};
use super::{Tree, fault, scalar};
use crate::config::secrets;
use crate::node::{Content, Node};

/// A tree that grows.
#[derive(Debug)]
pub(super) struct Builder<'t> {
    source: &'t str,
    root: Option<Node>,
    open: Containers,
    copies: Copies,
    written: Written,
    marked: Marked,
    last: Option<Last>,
    findings: Vec<Finding>,
}

impl<'t> Builder<'t> {
    pub(super) fn new(source: &'t str) -> Self {
        Self {
            source,
            root: None,
            open: Containers::default(),
            copies: Copies::new(),
            written: Written::default(),
            marked: Marked::default(),
            last: None,
            findings: Vec::new(),
        }
    }

    /// Takes the next event, which begins at `place`.
    pub(super) fn take(&mut self, event: Event<'_>, span: &Span, place: Place) -> Result<(), Finding> {
        let last = self.last.take();
        match event {
            Event::Comment(text, _) => {
                let found = last.and_then(|last| cut(last, &text, span, place, self.source));
                self.findings.extend(found);
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => self.scalar(
                &Scalar {
                    text: &text,
                    style,
                    anchor,
                    tag: tag.as_deref(),
                },
                span,
                place,
            ),
            Event::Alias(anchor) => self.alias(anchor, place),
            Event::SequenceStart(_, anchor, _) => self.begin(Inside::List(Vec::new()), anchor, place),
            Event::MappingStart(_, anchor, _) => self.begin(Inside::table(), anchor, place),
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            _ => Ok(()),
        }
    }

    pub(super) fn into_tree(mut self) -> Tree {
        self.findings.extend(self.marked.findings());
        Tree {
            root: self.root,
            written: self.written,
            has_half_value: self.marked.has_half_value(),
            has_lost_value: self.marked.has_lost_value(),
            findings: self.findings,
        }
    }

    fn scalar(&mut self, scalar: &Scalar<'_>, span: &Span, place: Place) -> Result<(), Finding> {
        let is_absent = scalar.style == ScalarStyle::Plain && span.is_empty();
        if self.open.wants_key() {
            if is_absent {
                return Err(fault::no_key(place));
            }
            self.key(scalar.text.to_owned(), place);
            return Ok(());
        }
        let content = scalar.content(is_absent);
        let place = self.open.place_of_value(place);
        self.note_suspicion(scalar, &content, span, place);
        if !matches!(content, Content::Text(_)) {
            self.written.note(place, scalar.text);
        }
        if scalar.anchor != 0 {
            self.copies.keep(scalar.anchor, &content, place)?;
        }
        self.copies.count(place)?;
        self.put(content, place);
        Ok(())
    }

    fn note_suspicion(&mut self, scalar: &Scalar<'_>, content: &Content, span: &Span, place: Place) {
        // A block without a line is no block: `! |` is a text that begins oddly.
        let is_block = matches!(scalar.style, ScalarStyle::Literal | ScalarStyle::Folded);
        if is_block && !scalar.text.is_empty() {
            return;
        }
        let key = self.open.key_of_value().map(str::to_owned);
        let has_strange_tag = scalar.tag.is_some_and(Tag::is_custom);
        if has_strange_tag || scalar.anchor != 0 {
            let anchor = if has_strange_tag { 0 } else { scalar.anchor };
            self.marked.note(MarkedValue {
                place,
                key: key.clone(),
                anchor,
                is_top: self.open.depth() == 1,
                is_plain: scalar.style == ScalarStyle::Plain,
            });
        }
        let text = match content {
            // What is quoted is not cut.
            _ if scalar.style != ScalarStyle::Plain => return,
            Content::Text(text) => Some(text.clone()),
            Content::Null if span.is_empty() => None,
            // A comment behind a number or flag is one.
            _ => return,
        };
        self.last = Some(Last {
            key,
            is_secret: self.open.keys().any(secrets::hides_all),
            text,
            line: span.end.line(),
            end: span.end.byte_offset().unwrap_or(0),
        });
    }

    fn alias(&mut self, anchor: usize, place: Place) -> Result<(), Finding> {
        self.marked.note_use(anchor);
        let (content, original) = self.copies.copy(anchor, self.open.depth(), place)?;
        if self.open.wants_key() {
            let Content::Text(text) = content else {
                return Err(fault::no_key(place));
            };
            self.key(text, place);
            return Ok(());
        }
        let place = self.open.place_of_value(place);
        self.written.note_copy(place, original);
        // Its values are counted already.
        self.put(content, place);
        Ok(())
    }

    fn begin(&mut self, inside: Inside, anchor: usize, place: Place) -> Result<(), Finding> {
        self.copies.count(place)?;
        self.open.begin(inside, anchor, place)
    }

    fn end(&mut self) -> Result<(), Finding> {
        // The parser ends only what it began.
        let Some(Ended {
            content,
            place,
            anchor,
        }) = self.open.end()
        else {
            return Ok(());
        };
        if anchor != 0 {
            self.copies.keep(anchor, &content, place)?;
        }
        self.put(content, place);
        Ok(())
    }

    fn put(&mut self, content: Content, place: Place) {
        let node = Node {
            line: place.line,
            column: place.column,
            content,
        };
        if let Some(root) = self.open.put(node) {
            self.root = Some(root);
        }
    }

    fn key(&mut self, text: String, place: Place) {
        if self.open.has_key(&text) {
            self.findings.push(duplicate(&text, place));
        }
        self.open.set_key(text, place);
    }
}

/// A scalar of the file.
#[derive(Debug)]
struct Scalar<'e> {
    text: &'e str,
    style: ScalarStyle,
    anchor: usize,
    tag: Option<&'e Tag>,
}

impl Scalar<'_> {
    fn content(&self, is_absent: bool) -> Content {
        if is_absent && self.tag.is_none() {
            return Content::Null;
        }
        scalar::content(self.text, self.style, self.tag)
    }
}

fn duplicate(key: &str, place: Place) -> Finding {
    Finding::error(
        "front_matter_duplicate_key",
        place,
        format!("the key `{}` stands here a second time", key_shown(key)),
        "remove one of the two",
    )
    .about(key)
}
