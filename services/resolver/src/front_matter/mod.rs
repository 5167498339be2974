//! The front matter of an agent's or a skill's file: what stands between two lines `---` at its beginning, YAML or
//! TOML, as a tree that knows its places. The rest of the file is the text.
//!
//! What people write by mistake all the time is understood and said: a plain value that holds `: ` or begins with a
//! character of YAML's own is taken as it stands, with a warning that shows how to quote it. What can't be understood
//! is an error with its place. Nothing is dropped in silence, and no message quotes the file but that one warning.

mod delimiters;
mod finding;
mod markup;
mod place;
mod quote;
mod recover;
mod salvage;
mod toml;
mod written;
mod yaml;

use std::borrow::Cow;

use compozy_domain::Severity;

use crate::node::Node;
use delimiters::Parts;

pub use finding::Finding;
pub use place::Place;
pub(crate) use quote::key_shown;
pub use written::Written;

/// Containers in each other at most, the front matter itself counted.
pub const DEPTH_MAX: usize = 64;
/// Values of a front matter at most, with everything that aliases stand for.
pub const NODES_MAX: usize = 10_000;
/// Bytes of text at most that anchors and aliases copy.
pub const COPIED_BYTES_MAX: usize = 1024 * 1024;

/// Line of the file on which the front matter begins: behind the first delimiter.
const FIRST_LINE: u32 = 2;

const TOO_LARGE: &str = "front_matter_too_large";
const TOO_DEEP: &str = "front_matter_too_deep";

/// A file, taken apart.
#[derive(Debug, Clone, PartialEq)]
pub struct FrontMatter<'f> {
    /// The front matter's table; `None` if it can't be read as a whole.
    pub fields: Option<Node>,
    /// How numbers and the like are written in it, for readers who expect a text.
    pub written: Written,
    /// If there are no fields: the name that stands in it all the same, if one line says so plainly.
    pub salvaged_name: Option<Node>,
    /// Everything behind the front matter, byte for byte; empty if its end can't be told.
    pub body: &'f [u8],
    /// Line of the second delimiter, if there is one.
    pub closing_line: Option<u32>,
    /// What is wrong or worth knowing, in no particular order.
    pub findings: Vec<Finding>,
}

/// Takes a file apart.
#[must_use]
pub fn read(bytes: &[u8]) -> FrontMatter<'_> {
    let Parts {
        front,
        body,
        closing_line,
        mut findings,
    } = delimiters::split(bytes);
    findings.extend(place::not_text(bytes));
    let text = front.map_or(Cow::Borrowed(""), String::from_utf8_lossy);
    let mut read = FrontMatter {
        fields: None,
        written: Written::default(),
        salvaged_name: None,
        body,
        closing_line,
        findings,
    };
    if closing_line.is_none() {
        read.salvaged_name = salvage::name(&text, true);
        return read;
    }
    let Fields {
        fields,
        written,
        findings,
    } = fields(&text);
    read.findings.extend(findings);
    if fields.is_none() {
        read.salvaged_name = salvage::name(&text, false);
    }
    read.fields = fields;
    read.written = written;
    read
}

/// The text of a file: everything behind its front matter; `None` if it has no front matter with an end.
#[must_use]
pub fn text_of(bytes: &[u8]) -> Option<&[u8]> {
    let parts = delimiters::split(bytes);
    parts.closing_line.map(|_| parts.body)
}

impl FrontMatter<'_> {
    /// Whether something is wrong with the file itself.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.findings
            .iter()
            .any(|found| found.severity == Severity::Error)
    }

    /// The text that a value stands for where a text is expected: `no`, `42` and `1.10` as they are written.
    #[must_use]
    pub fn text<'n>(&'n self, node: &'n Node) -> Option<&'n str> {
        node.as_text().or_else(|| self.written.of(node))
    }
}

/// What a front matter says.
#[derive(Debug, Default)]
struct Fields {
    fields: Option<Node>,
    written: Written,
    findings: Vec<Finding>,
}

impl From<Finding> for Fields {
    fn from(finding: Finding) -> Self {
        Self {
            findings: vec![finding],
            ..Self::default()
        }
    }
}

fn fields(text: &str) -> Fields {
    let first = yaml::parse(text, FIRST_LINE);
    match &first {
        Ok(tree) if tree.is_certain() => {}
        Err(finding) if finding.code == TOO_LARGE || finding.code == TOO_DEEP => {}
        _ => return second_look(text, first),
    }
    first.map_or_else(Fields::from, yaml::Tree::into_fields)
}

/// What is not plainly YAML may be TOML, or YAML with lines that can be recovered.
fn second_look(text: &str, first: Result<yaml::Tree, Finding>) -> Fields {
    let not_toml = if toml::is_meant(text) {
        match toml::parse(text, FIRST_LINE) {
            Ok(fields) => return fields,
            Err(finding) => Some(finding),
        }
    } else {
        None
    };
    let recovered = recovered(text);
    if let Some(fields) = recovered.filter(|fields| fields.fields.is_some() || not_toml.is_none()) {
        return fields;
    }
    match (first, not_toml) {
        (Ok(tree), None) => tree.into_fields(),
        (Ok(tree), Some(_)) if tree.is_table() => tree.into_fields(),
        (_, Some(finding)) | (Err(finding), None) => finding.into(),
    }
}

/// The front matter with its faulty lines quoted, if there are any that can be.
fn recovered(text: &str) -> Option<Fields> {
    let recovered = recover::recover(text, FIRST_LINE)?;
    let mut fields =
        yaml::parse(&recovered.text, FIRST_LINE).map_or_else(Fields::from, yaml::Tree::into_fields);
    fields.findings.extend(recovered.findings);
    Some(fields)
}
