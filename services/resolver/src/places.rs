//! From offsets in a text to lines and columns, as a person counts them: lines end at a line feed, columns are
//! characters, both from 1.

/// Where the lines of a text begin, and the last place that was asked for, so that asking for the keys of one long
/// line in their order costs one walk over it.
#[derive(Debug, Clone)]
pub(crate) struct Places<'t> {
    text: &'t str,
    starts: Vec<usize>,
    last: (usize, u32),
}

impl<'t> Places<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(newlines.map(|(at, _)| at + 1)).collect();
        Self {
            text,
            starts,
            last: (0, 1),
        }
    }

    /// Line and column of the character at an offset, or of the end if the text is shorter.
    pub(crate) fn at(&mut self, offset: usize) -> (u32, u32) {
        let offset = self.text.floor_char_boundary(offset);
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts[line - 1];
        let (from, column) = match self.last {
            (last, column) if (start..=offset).contains(&last) => (last, column),
            _ => (start, 1),
        };
        let column = column.saturating_add(small(self.text[from..offset].chars().count()));
        self.last = (offset, column);
        (small(line), column)
    }
}

fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_characters_in_any_order() {
        let text = "aé = 1\r\n𝄞x = 2\n\nlast";
        let mut places = Places::new(text);
        let at = |places: &mut Places<'_>, found: &str| places.at(text.find(found).expect("it is there"));
        assert_eq!(at(&mut places, "a"), (1, 1));
        assert_eq!(at(&mut places, "="), (1, 4));
        assert_eq!(at(&mut places, "x"), (2, 2));
        assert_eq!(at(&mut places, "2"), (2, 6));
        assert_eq!(at(&mut places, "last"), (4, 1));
        assert_eq!(at(&mut places, "1"), (1, 6));
        assert_eq!(places.at(text.len() + 9), (4, 5));
    }
}
