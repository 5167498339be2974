//! A strict reader of JSON that knows where everything stands.
//!
//! `serde_json` tells the place of an error but not the place of a value, lets the last of two equal keys win, and
//! quotes what it met. What is missing there is most of a reader: so this is one, and a property test holds it against
//! `serde_json`. It takes RFC 8259 and nothing else, nests at most [`DEPTH_MAX`] deep, so that neither it nor whoever
//! walks the tree can run out of stack, and visits each byte once, so that a file of one long line costs no more than
//! one of many.

mod scalar;

use std::collections::HashSet;

use crate::node::{Content, Node};
use crate::places::Places;

/// Lists and objects in one another at most.
pub(super) const DEPTH_MAX: usize = 64;

/// Comments and commas too many that are told; a hostile file has room for a hundred thousand.
const PASSED_MAX: usize = 100;

/// What is wrong, and where. Quotes nothing of the file but names of keys.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) remedy: &'static str,
}

/// What a text says.
#[derive(Debug)]
pub(super) struct Parsed {
    /// The value, unless there is none to be had.
    pub(super) node: Option<Node>,
    /// Everything that is wrong: whatever is told here, the file can't be used.
    pub(super) faults: Vec<Fault>,
}

/// Reads one value, and nothing behind it.
pub(super) fn parse(text: &str) -> Parsed {
    let mut reader = Reader {
        text,
        at: 0,
        places: Places::new(text),
        faults: Vec::new(),
    };
    let node = match reader.document() {
        Ok(node) => Some(node),
        Err(fault) => {
            reader.faults.push(fault);
            None
        }
    };
    Parsed {
        node,
        faults: reader.faults,
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    places: Places<'t>,
    faults: Vec<Fault>,
}

impl Reader<'_> {
    fn document(&mut self) -> Result<Node, Fault> {
        let node = self.item(0)?;
        self.skip_blanks();
        match self.peek() {
            None => Ok(node),
            Some(_) => Err(self.fault(
                self.at,
                "there is something behind the end of the value".to_owned(),
                "a file holds one value: remove what follows it",
            )),
        }
    }

    fn item(&mut self, depth: usize) -> Result<Node, Fault> {
        self.skip_blanks();
        let (line, column) = self.places.at(self.at);
        let content = self.value(depth)?;
        Ok(Node {
            line,
            column,
            content,
        })
    }

    fn value(&mut self, depth: usize) -> Result<Content, Fault> {
        match self.peek() {
            Some(b'{') => self.object(self.deeper(depth)?),
            Some(b'[') => self.list(self.deeper(depth)?),
            Some(b'"') => Ok(Content::Text(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.word(),
        }
    }

    fn deeper(&self, depth: usize) -> Result<usize, Fault> {
        if depth < DEPTH_MAX {
            return Ok(depth + 1);
        }
        let message = format!("lists and objects are nested more than {DEPTH_MAX} deep");
        Err(Fault {
            code: "mcp_too_deep",
            ..self.fault(self.at, message, "nest less deeply")
        })
    }

    fn list(&mut self, depth: usize) -> Result<Content, Fault> {
        self.at += 1;
        let mut items = Vec::new();
        let mut goes_on = !self.ends(b']');
        while goes_on {
            items.push(self.item(depth)?);
            goes_on = self.goes_on(b']', "`,` or `]`")?;
        }
        Ok(Content::List(items))
    }

    fn object(&mut self, depth: usize) -> Result<Content, Fault> {
        self.at += 1;
        let mut entries = Vec::new();
        let mut goes_on = !self.ends(b'}');
        while goes_on {
            entries.push(self.entry(depth)?);
            goes_on = self.goes_on(b'}', "`,` or `}`")?;
        }
        self.remove_duplicates(&mut entries);
        Ok(Content::Table(entries))
    }

    /// The place of an entry is that of its key.
    fn entry(&mut self, depth: usize) -> Result<(String, Node), Fault> {
        self.skip_blanks();
        let (line, column) = self.places.at(self.at);
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("a key in double quotes"));
        }
        let key = self.string()?;
        self.skip_blanks();
        if !self.take(b':') {
            return Err(self.unexpected("`:` behind the key"));
        }
        let Node { content, .. } = self.item(depth)?;
        let node = Node {
            line,
            column,
            content,
        };
        Ok((key, node))
    }

    /// Which of two values was meant can't be told, so the second is a fault and not the winner.
    fn remove_duplicates(&mut self, entries: &mut Vec<(String, Node)>) {
        let mut names = HashSet::with_capacity(entries.len());
        let repeated: Vec<bool> = entries
            .iter()
            .map(|(key, _)| !names.insert(key.as_str()))
            .collect();
        if !repeated.contains(&true) {
            return;
        }
        let mut at = 0;
        entries.retain(|(key, node)| {
            at += 1;
            if repeated[at - 1] {
                self.faults.push(Fault {
                    line: node.line,
                    column: node.column,
                    code: "mcp_duplicate_key",
                    message: format!(
                        "the key `{}` is not unique in its object",
                        crate::mcp::names::shown_name(key)
                    ),
                    remedy: "keep one of the two",
                });
            }
            !repeated[at - 1]
        });
    }

    /// Whether a list or object has no items.
    fn ends(&mut self, end: u8) -> bool {
        self.skip_blanks();
        self.take(end)
    }

    /// Behind an item: whether another one follows.
    fn goes_on(&mut self, end: u8, expected: &str) -> Result<bool, Fault> {
        if self.ends(end) {
            return Ok(false);
        }
        let comma = self.at;
        if !self.take(b',') {
            return Err(self.unexpected(expected));
        }
        self.skip_blanks();
        if self.peek() == Some(end) {
            self.pass(
                comma,
                "a comma is followed by nothing",
                "JSON has no trailing commas: remove it",
            );
            return Ok(!self.take(end));
        }
        Ok(true)
    }

    /// Comments are no blanks, but what they are is plain: each is told, and reading goes on behind it.
    fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                Some(b'/' | b'#') => {
                    let Some(length) = comment(&self.text[self.at..]) else {
                        return;
                    };
                    self.pass(
                        self.at,
                        "a comment stands here",
                        "JSON has no comments: remove it",
                    );
                    self.at += length;
                }
                _ => return,
            }
        }
    }

    /// Tells a fault that does not keep anybody from knowing what was meant. Nobody reads more than so many of them.
    fn pass(&mut self, at: usize, message: &str, remedy: &'static str) {
        if self.faults.len() < PASSED_MAX {
            let fault = self.fault(at, message.to_owned(), remedy);
            self.faults.push(fault);
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    /// What is expected is not here; what is, is told apart only as far as that helps.
    fn unexpected(&self, expected: &str) -> Fault {
        let (found, remedy) = match self.peek() {
            None => ("the file ends here", "complete the file"),
            Some(b'\'') => ("a single quote stands here", "put texts in double quotes"),
            Some(_) => ("something else stands here", "correct the JSON at this place"),
        };
        self.fault(self.at, format!("expected {expected}, but {found}"), remedy)
    }

    fn fault(&self, at: usize, message: String, remedy: &'static str) -> Fault {
        let (line, column) = self.places.clone().at(at);
        Fault {
            line,
            column,
            code: "mcp_syntax",
            message,
            remedy,
        }
    }
}

/// The length of the comment that a text begins with, in any way that people write one.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with('#') || text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    let inside = text.strip_prefix("/*")?;
    // One that does not end is none: whoever forgot its end has to look here.
    inside.find("*/").map(|at| at + 4)
}
