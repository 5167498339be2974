//! Front matter that is TOML.

use toml::de::{DeTable, DeValue};

use super::place::Lines;
use super::{DEPTH_MAX, Fields, Finding, NODES_MAX, Place, TOO_DEEP, TOO_LARGE, Written};
use crate::node::{Content, Node};

/// Reads TOML that begins on a line of the file.
///
/// # Errors
/// Why it is none, or too much.
pub(super) fn parse(text: &str, first_line: u32) -> Result<Fields, Finding> {
    let table = DeTable::parse(text).map_err(|problem| fault(&problem, text, first_line))?;
    let mut reading = Reading {
        lines: Lines::new(text, first_line),
        written: Written::default(),
        nodes_left: NODES_MAX,
    };
    let content = reading.table(table.get_ref(), 1)?;
    Ok(Fields {
        fields: Some(Node {
            line: first_line,
            column: 1,
            content,
        }),
        written: reading.written,
        findings: Vec::new(),
    })
}

/// Whether somebody wanted to write TOML: its first line sets a key or begins a table.
pub(super) fn is_meant(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| {
        let key = line.split(['=', ':']).next().unwrap_or_default();
        line[key.len()..].starts_with('=') || (line.starts_with('[') && line.ends_with(']'))
    })
}

fn fault(problem: &toml::de::Error, text: &str, first_line: u32) -> Finding {
    let offset = problem.span().map_or(text.len(), |span| span.start);
    let place = Lines::new(text, first_line).place(offset);
    if problem.message().starts_with("duplicate key") {
        return Finding::error(
            "front_matter_duplicate_key",
            place,
            "a key stands here a second time",
            "remove one of the two",
        );
    }
    Finding::error(
        "front_matter_syntax",
        place,
        "this is not valid TOML, and the front matter is no YAML either",
        "write `key = \"value\"` on each line, or YAML: `key: \"value\"`",
    )
}

#[derive(Debug)]
struct Reading<'t> {
    lines: Lines<'t>,
    written: Written,
    nodes_left: usize,
}

impl Reading<'_> {
    fn node(&mut self, place: Place, value: &DeValue<'_>, depth: usize) -> Result<Node, Finding> {
        let left = self.nodes_left.checked_sub(1);
        self.nodes_left = left.ok_or_else(|| too_many(place))?;
        let content = match value {
            DeValue::String(text) => Content::Text(text.clone().into_owned()),
            DeValue::Integer(number) => {
                self.written.note(place, number.as_str());
                i64::from_str_radix(number.as_str(), number.radix()).map_or_else(
                    // Too large for a number: kept as it is written.
                    |_| Content::Text(number.as_str().to_owned()),
                    Content::Integer,
                )
            }
            DeValue::Float(number) => {
                self.written.note(place, number.as_str());
                number
                    .as_str()
                    .parse()
                    .map_or_else(|_| Content::Text(number.as_str().to_owned()), Content::Float)
            }
            DeValue::Boolean(flag) => {
                self.written.note(place, if *flag { "true" } else { "false" });
                Content::Flag(*flag)
            }
            DeValue::Datetime(time) => Content::Time(time.to_string()),
            DeValue::Array(items) => {
                too_deep(depth, place)?;
                let mut nodes = Vec::with_capacity(items.len());
                for item in items {
                    let place = self.lines.place(item.span().start);
                    nodes.push(self.node(place, item.get_ref(), depth + 1)?);
                }
                Content::List(nodes)
            }
            DeValue::Table(table) => {
                too_deep(depth, place)?;
                self.table(table, depth + 1)?
            }
        };
        Ok(Node {
            line: place.line,
            column: place.column,
            content,
        })
    }

    fn table(&mut self, table: &DeTable<'_>, depth: usize) -> Result<Content, Finding> {
        let mut sorted: Vec<_> = table.iter().collect();
        sorted.sort_by_key(|(key, _)| key.span().start);
        let mut entries = Vec::with_capacity(sorted.len());
        for (key, value) in sorted {
            let place = self.lines.place(key.span().start);
            entries.push((
                key.get_ref().to_string(),
                self.node(place, value.get_ref(), depth)?,
            ));
        }
        Ok(Content::Table(entries))
    }
}

/// `depth` containers stand around one that begins at `place`.
fn too_deep(depth: usize, place: Place) -> Result<(), Finding> {
    if depth < DEPTH_MAX {
        return Ok(());
    }
    Err(Finding::error(
        TOO_DEEP,
        place,
        format!("values are nested more than {DEPTH_MAX} deep"),
        "flatten the front matter",
    ))
}

fn too_many(place: Place) -> Finding {
    Finding::error(
        TOO_LARGE,
        place,
        format!("the front matter has more than {NODES_MAX} values"),
        "move what belongs into the text out of the front matter",
    )
}
