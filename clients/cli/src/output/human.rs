//! The sheet on which an answer is written for a person.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::style::Style;
use super::table::{Cell, Table};
use super::time::{self, Time};

/// Text for a person, in the making.
#[derive(Debug)]
pub(crate) struct Human {
    pub(crate) style: Style,
    now: Timestamp,
    zone: TimeZone,
    text: String,
}

impl Human {
    pub(super) fn new(style: Style) -> Self {
        Self {
            style,
            now: time::now(),
            zone: TimeZone::system(),
            text: String::new(),
        }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    /// A sentence of its own, broken at the edge of the terminal.
    pub(crate) fn line(&mut self, text: &str) {
        for part in wrapped(&sanitized(text), self.style.width) {
            self.text.push_str(&part);
            self.text.push('\n');
        }
    }

    /// Text of our own that must not be broken.
    pub(crate) fn verbatim(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// A sentence behind a painted label; where it goes on in another line, that one is indented.
    pub(crate) fn labelled(&mut self, label: &str, paint: fn(Style, &str) -> String, text: &str) {
        let width = self.style.width.map(|width| width.saturating_sub(2).max(1));
        let mut parts = wrapped(&format!("{label} {}", sanitized(text)), width).into_iter();
        let first = parts.next().unwrap_or_default();
        let shown = match first.strip_prefix(label) {
            Some(rest) => format!("{}{rest}", paint(self.style, label)),
            None => first,
        };
        self.text.push_str(&format!("{shown}\n"));
        for part in parts {
            self.text.push_str(&format!("  {part}\n"));
        }
    }

    /// Text of somebody else as it is; on a terminal without what could control that.
    pub(crate) fn foreign(&mut self, text: &str) {
        if self.style.width.is_none() {
            return self.text.push_str(text);
        }
        for line in text.split_inclusive('\n') {
            let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
            let line = line.strip_suffix('\r').unwrap_or(line);
            let parts: Vec<String> = line.split('\t').map(sanitized).collect();
            self.text.push_str(&parts.join("\t"));
            self.text.push_str(end);
        }
    }

    /// The title of a part.
    pub(crate) fn heading(&mut self, text: &str) {
        for part in wrapped(&sanitized(text), self.style.width) {
            self.text.push_str(&format!("{}\n", self.style.bold(&part)));
        }
    }

    /// A sentence that matters less than the rest.
    pub(crate) fn faint(&mut self, text: &str) {
        for part in wrapped(&sanitized(text), self.style.width) {
            self.text.push_str(&format!("{}\n", self.style.dim(&part)));
        }
    }

    /// Text with a faint comment behind it; the comment has a line of its own where both do not fit.
    pub(crate) fn commented(&mut self, text: &str, comment: &str) {
        let (text, comment) = (sanitized(text), sanitized(comment));
        let columns = text.width() + comment.width();
        if self.style.width.is_none_or(|width| columns <= width) {
            self.text
                .push_str(&format!("{text}{}\n", self.style.dim(&comment)));
            return;
        }
        self.line(text.trim_end());
        self.faint(&comment);
    }

    /// An empty line before the next part.
    pub(crate) fn gap(&mut self) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    /// Labels and values below each other. A long value goes on in the next line, so that nothing
    /// of it is lost; an empty one is left out.
    pub(crate) fn fields(&mut self, fields: &[(&str, Cell)]) {
        let shown = || fields.iter().filter(|(_, cell)| !cell.text.is_empty());
        let label_width = shown().map(|(label, _)| label.len()).max().unwrap_or(0) + 1;
        let value_width = self
            .style
            .width
            .map(|width| width.saturating_sub(label_width + 1).max(1));
        for (label, cell) in shown() {
            let mut start = self.style.bold(&format!("{:label_width$}", format!("{label}:")));
            for part in wrapped(&cell.text, value_width) {
                self.text
                    .push_str(&format!("{start} {}\n", cell.painted(self.style, &part)));
                start = " ".repeat(label_width);
            }
        }
    }

    pub(crate) fn table(&mut self, table: &Table) {
        self.text.push_str(&table.render(self.style));
    }

    /// A time as this person's clock shows it.
    pub(crate) fn clock(&self, time: Option<Time>) -> String {
        time.map(|time| time.clock(&self.zone)).unwrap_or_default()
    }

    /// How long ago a time was.
    pub(crate) fn age(&self, time: Option<Time>) -> Cell {
        Cell::plain(time.map(|time| time.ago(self.now)).unwrap_or_default())
    }

    /// A time as this person's clock shows it, with its age.
    pub(crate) fn time(&self, time: Option<Time>) -> Cell {
        Cell::plain(
            time.map(|time| time.local(&self.zone, self.now))
                .unwrap_or_default(),
        )
    }
}

/// Text that can do nothing to a terminal: what comes from others may hold control sequences, and marks that turn
/// the direction of everything behind them, other columns included.
pub(crate) fn sanitized(text: &str) -> String {
    text.chars()
        .map(|letter| {
            let turns = matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            if letter.is_control() || turns {
                char::REPLACEMENT_CHARACTER
            } else {
                letter
            }
        })
        .collect()
}

/// Breaks text into lines of at most `width` columns, after a blank where there is one.
fn wrapped(text: &str, width: Option<usize>) -> Vec<String> {
    let Some(width) = width else {
        return vec![text.to_owned()];
    };
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut columns = 0;
    for letter in text.chars() {
        let wide = letter.width().unwrap_or(0);
        if columns + wide > width && !line.is_empty() {
            let rest = match line.rfind(' ') {
                Some(blank) if letter != ' ' => line.split_off(blank + 1),
                _ => String::new(),
            };
            lines.push(line.trim_end().to_owned());
            line = rest;
            columns = line.chars().map(|letter| letter.width().unwrap_or(0)).sum();
            if letter == ' ' && line.is_empty() {
                continue;
            }
        }
        line.push(letter);
        columns += wide;
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_breaks_at_blanks_and_wide_letters_count_twice() {
        assert_eq!(wrapped("one two three", Some(8)), ["one two", "three"]);
        assert_eq!(wrapped("abcdefghij", Some(4)), ["abcd", "efgh", "ij"]);
        assert_eq!(wrapped("漢字漢字", Some(4)), ["漢字", "漢字"]);
        assert_eq!(wrapped("", Some(4)), [""]);
        assert_eq!(wrapped("left as it is", None), ["left as it is"]);
    }

    #[test]
    fn control_sequences_are_made_harmless() {
        assert_eq!(sanitized("a\u{1b}[31mb\n"), "a\u{fffd}[31mb\u{fffd}");
        assert_eq!(
            sanitized("a\u{202e}b\u{2066}\u{5d0}\u{200f}"),
            "a\u{fffd}b\u{fffd}\u{5d0}\u{200f}"
        );
    }
}
