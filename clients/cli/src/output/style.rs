//! What a stream can show: color only on a terminal, and as many columns as it has.

use std::io::IsTerminal;
use std::os::fd::AsFd;

/// Columns of a terminal that does not say how many it has.
const USUAL_WIDTH: usize = 80;

/// Rows of such a one.
const USUAL_HEIGHT: usize = 24;

/// The abilities of one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) color: bool,
    /// Columns; `None` when it is no terminal, and nothing has to be cut.
    pub(crate) width: Option<usize>,
}

impl Style {
    pub(crate) fn of(stream: &(impl IsTerminal + AsFd)) -> Self {
        if !stream.is_terminal() {
            return Self {
                color: false,
                width: None,
            };
        }
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var("TERM").is_ok_and(|term| term == "dumb");
        let columns = rustix::termios::tcgetwinsize(stream).map_or(0, |size| usize::from(size.ws_col));
        let width = if columns == 0 { USUAL_WIDTH } else { columns };
        Self {
            color: !set("NO_COLOR") && !dumb,
            width: Some(width),
        }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.painted("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.painted("2", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.painted("31", text)
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.painted("32", text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.painted("33", text)
    }

    fn painted(self, code: &str, text: &str) -> String {
        if self.color {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Rows that a terminal has.
pub(super) fn rows(stream: &impl AsFd) -> usize {
    let rows = rustix::termios::tcgetwinsize(stream).map_or(0, |size| usize::from(size.ws_row));
    if rows == 0 { USUAL_HEIGHT } else { rows }
}

/// A picture for the whole terminal: from its first corner, each line to its end, and nothing below. The last row stays
/// free, or the terminal would move everything up.
pub(super) fn screen(text: &str, rows: usize) -> String {
    let mut picture = "\u{1b}[H".to_owned();
    for line in text.lines().take(rows.saturating_sub(1)) {
        picture.push_str(line);
        picture.push_str("\u{1b}[K\r\n");
    }
    picture.push_str("\u{1b}[J");
    picture
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_never_longer_than_the_terminal() {
        let picture = screen("one\ntwo\nthree\n", 3);
        assert_eq!(picture, "\u{1b}[Hone\u{1b}[K\r\ntwo\u{1b}[K\r\n\u{1b}[J");
        assert_eq!(screen("one\n", 0), "\u{1b}[H\u{1b}[J");
    }
}
