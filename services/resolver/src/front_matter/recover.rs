//! Takes lines of a front matter as their authors meant them. `description: Use when: x` is no YAML; what was meant is
//! plain, so the whole rest of the line becomes the value, quoted. Only lines that say all about a key of the front
//! matter's own table are taken so: never one that goes on below, and never half a value.

mod line;
mod opening;

use std::collections::HashSet;

use super::markup;
use super::quote::{line_shown, quoted};
use super::yaml;
use super::{Finding, Place, key_shown};
use line::{Entry, Line, classified, stands_alone};
use opening::End;

/// A front matter whose faulty lines are quoted.
#[derive(Debug)]
pub(super) struct Recovered {
    /// With as many lines as before, each key where it was.
    pub(super) text: String,
    /// A warning for each line that was quoted.
    pub(super) findings: Vec<Finding>,
}

/// Quotes what has to be; `None` if there is nothing that can be recovered, or too much that would have to be.
pub(super) fn recover(text: &str, first_line: u32) -> Option<Recovered> {
    let lines = classified(text)?;
    let values = lines.iter().filter_map(|(_, line)| match line {
        Line::Entry(entry) => Some(entry.value),
        _ => None,
    });
    if markup::goes_on_below(values) {
        return None;
    }
    let marks = marks(text);
    let mut recovered = Recovered {
        text: String::with_capacity(text.len() + 64),
        findings: Vec::new(),
    };
    for ((at, (raw, line)), number) in lines.iter().enumerate().zip(first_line..) {
        match line {
            Line::Entry(entry) if stands_alone(&lines[at + 1..]) && entry.is_faulty(&marks) => {
                let Entry {
                    before,
                    value,
                    behind,
                    ..
                } = entry;
                recovered.findings.push(entry.warning(number));
                recovered
                    .text
                    .push_str(&format!("{before}{}{behind}", quoted(value)));
            }
            _ => recovered.text.push_str(raw),
        }
    }
    (!recovered.findings.is_empty()).then_some(recovered)
}

/// Every word that begins with `&` or `*`: what may be an anchor or an alias.
fn marks(text: &str) -> HashSet<&str> {
    text.split([' ', '\t', '\n', '\r', ',', '[', ']', '{', '}'])
        .filter(|word| word.starts_with(['&', '*']))
        .collect()
}

impl Entry<'_> {
    /// Whether the line alone is no YAML, or only a half of it, and it is certain that a text is meant.
    fn is_faulty(&self, marks: &HashSet<&str>) -> bool {
        let is_meant_otherwise = match self.value.as_bytes()[0] {
            // One that follows its own rules up to the end is what it looks like, however broken it is inside.
            b'"' | b'\'' | b'[' | b'{' => End::of(self.value) != End::BeforeMore,
            b'&' => marks.contains(format!("*{}", self.first_word()).as_str()),
            b'*' => marks.contains(format!("&{}", self.first_word()).as_str()),
            _ => false,
        };
        if is_meant_otherwise {
            return false;
        }
        let alone = format!("{}{}\n", self.before, self.value);
        yaml::parse(&alone, 1).map_or(true, |tree| tree.has_half_value)
    }

    /// The first word without its first letter.
    fn first_word(&self) -> &str {
        self.value[1..].split([' ', '\t']).next().unwrap_or_default()
    }

    fn warning(&self, line: u32) -> Finding {
        let column = u32::try_from(self.before.chars().count()).unwrap_or(u32::MAX - 1) + 1;
        Finding::warning(
            "front_matter_recovered",
            Place { line, column },
            format!(
                "the value of `{}` is not valid without quotes; the whole rest of the line was taken. Write: {}",
                key_shown(self.key),
                line_shown(Some(self.key), self.value)
            ),
            "put the value between double quotes",
        )
        .about(self.key)
    }
}
