//! The lines of a front matter, as far as that can be told without understanding it.

use super::opening::End;

/// Bytes of a key at most: a longer one is a sentence with a colon in it.
const KEY_MAX: usize = 64;
/// Lines of a front matter that is looked at: each of those with a key is parsed alone.
const LINES_MAX: usize = 1_000;

/// A line `key: value` that begins in the first column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'t> {
    pub(super) key: &'t str,
    /// Everything before the value.
    pub(super) before: &'t str,
    /// The whole rest of the line without the blanks around it; not empty.
    pub(super) value: &'t str,
    /// The blanks and the line end behind it.
    pub(super) behind: &'t str,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Line<'t> {
    Blank,
    Entry(Entry<'t>),
    /// A key whose value stands below, or nowhere.
    Key,
    /// Anything that belongs to what stands above it.
    Other,
}

/// Every line with what it is; `None` if there are too many. Lines inside of a quote or bracket that was opened above
/// belong to it.
pub(super) fn classified(text: &str) -> Option<Vec<(&str, Line<'_>)>> {
    let mut closing = None;
    let mut lines = Vec::new();
    for raw in text.split_inclusive('\n') {
        if lines.len() == LINES_MAX {
            return None;
        }
        let line = match closing {
            Some(letter) => {
                closing = closing.filter(|_| !raw.contains(letter));
                Line::Other
            }
            None => line(raw),
        };
        if let Line::Entry(entry) = &line {
            closing = entry.left_open();
        }
        lines.push((raw, line));
    }
    Some(lines)
}

fn line(raw: &str) -> Line<'_> {
    let bare = raw.trim_start();
    if bare.is_empty() || bare.starts_with('#') {
        return Line::Blank;
    }
    match entry(raw) {
        Some(entry) if entry.value.is_empty() => Line::Key,
        Some(entry) => Line::Entry(entry),
        None => Line::Other,
    }
}

fn entry(raw: &str) -> Option<Entry<'_>> {
    if !raw.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_') {
        return None;
    }
    let is_blank = |letter: char| letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n';
    let colon = raw
        .match_indices(':')
        .map(|(at, _)| at)
        .find(|at| raw[at + 1..].chars().next().is_none_or(is_blank))?;
    let key = raw[..colon].trim_end_matches(is_blank);
    if key.len() > KEY_MAX || key.contains(['"', '\'', '<', '=']) || key.contains(" #") {
        return None;
    }
    let rest = &raw[colon + 1..];
    let value = rest.trim_matches(is_blank);
    let start = colon + 1 + (rest.len() - rest.trim_start_matches(is_blank).len());
    Some(Entry {
        key,
        before: &raw[..start],
        value,
        behind: &raw[(start + value.len()).min(raw.len())..],
    })
}

/// Whether what follows a line does not belong to it.
pub(super) fn stands_alone(following: &[(&str, Line<'_>)]) -> bool {
    let next = following.iter().find(|(_, line)| !matches!(line, Line::Blank));
    next.is_none_or(|(_, line)| !matches!(line, Line::Other))
}

impl Entry<'_> {
    /// The letter that closes what the value opens, if it does not do so itself.
    fn left_open(&self) -> Option<char> {
        if End::of(self.value) != End::Missing {
            return None;
        }
        match self.value.as_bytes()[0] {
            b'[' => Some(']'),
            b'{' => Some('}'),
            quote => Some(char::from(quote)),
        }
    }
}
