//! Places in a file as a person counts them: lines end at a line feed, columns are characters.

use super::Finding;
use crate::node::Node;
use crate::places::Places;

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// Finds the places of offsets in a text.
#[derive(Debug)]
pub(super) struct Lines<'t> {
    places: Places<'t>,
    first_line: u32,
}

impl Place {
    /// The beginning of a line.
    #[must_use]
    pub const fn start_of(line: u32) -> Self {
        Self { line, column: 1 }
    }

    /// Where a node stands.
    #[must_use]
    pub const fn of(node: &Node) -> Self {
        Self {
            line: node.line,
            column: node.column,
        }
    }
}

impl<'t> Lines<'t> {
    /// `first_line` is the line of the file on which the text begins.
    pub(super) fn new(text: &'t str, first_line: u32) -> Self {
        Self {
            places: Places::new(text),
            first_line,
        }
    }

    /// The place of a byte; of the end if the text is shorter.
    pub(super) fn place(&mut self, offset: usize) -> Place {
        let (line, column) = self.places.at(offset);
        Place {
            line: line.saturating_add(self.first_line - 1),
            column,
        }
    }
}

/// Says where a file is no text, if it is none.
pub(super) fn not_text(bytes: &[u8]) -> Option<Finding> {
    let problem = std::str::from_utf8(bytes).err()?;
    let valid = String::from_utf8_lossy(&bytes[..problem.valid_up_to()]);
    // A byte order mark is no column: no editor shows it.
    let valid = valid.strip_prefix('\u{feff}').unwrap_or(&valid);
    let place = Lines::new(valid, 1).place(valid.len());
    Some(Finding::error(
        "definition_not_utf8",
        place,
        "a byte here is not valid UTF-8",
        "save the file in the encoding UTF-8",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_characters_and_offsets_may_go_back() {
        let mut lines = Lines::new("aé: x\n\nß😀y", 2);
        let at = |line, column| Place { line, column };
        assert_eq!(lines.place(0), at(2, 1));
        assert_eq!(lines.place(3), at(2, 3));
        assert_eq!(lines.place(7), at(3, 1));
        assert_eq!(lines.place(14), at(4, 3));
        assert_eq!(lines.place(3), at(2, 3));
        assert_eq!(lines.place(10_000), at(4, 4));
    }

    #[test]
    fn r133_a_byte_that_is_no_text_is_found() {
        let found = not_text(b"---\nname: x\n---\na\xc3\xa9\xff").unwrap();
        assert_eq!(found.place, Some(Place { line: 4, column: 3 }));
        assert_eq!(not_text("é".as_bytes()), None);
    }
}
