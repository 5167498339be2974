//! Values that begin with a quote or a bracket, and where that ends.

/// How a value ends that begins with a quote or bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// It begins with neither.
    None,
    /// Nowhere on the line.
    Missing,
    /// At the end of the line, or before a comment.
    OfLine,
    /// Before more text.
    BeforeMore,
}

impl End {
    /// Where the quote or bracket ends with which a value begins.
    pub(super) fn of(value: &str) -> Self {
        let value = value.as_bytes();
        let end = match value.first() {
            Some(b'"') => end_of_double_quote(value),
            Some(b'\'') => end_of_single_quote(value),
            Some(b'[' | b'{') => end_of_bracket(value),
            _ => return Self::None,
        };
        match end {
            None => Self::Missing,
            Some(end) => {
                let behind = value[end..].trim_ascii_start();
                if behind.is_empty() || (behind.len() < value.len() - end && behind[0] == b'#') {
                    Self::OfLine
                } else {
                    Self::BeforeMore
                }
            }
        }
    }
}

fn end_of_double_quote(value: &[u8]) -> Option<usize> {
    let mut at = 1;
    while at < value.len() {
        match value[at] {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

fn end_of_single_quote(value: &[u8]) -> Option<usize> {
    let mut at = 1;
    while at < value.len() {
        match (value[at], value.get(at + 1)) {
            (b'\'', Some(b'\'')) => at += 2,
            (b'\'', _) => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

fn end_of_bracket(value: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in value.iter().enumerate() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}
