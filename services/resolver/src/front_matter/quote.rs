//! Text as YAML writes it between double quotes, and names as a message may show them.

use std::fmt::Write as _;

use crate::config::secrets;
use crate::value::REDACTED;

/// Characters of a value that a message shows: more than a description may have.
const SHOWN_MAX: usize = 1_200;
/// Characters of a key that a message shows.
const KEY_SHOWN_MAX: usize = 64;

/// A text between double quotes that YAML reads back as it is.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(letter);
            }
            '\t' => quoted.push_str("\\t"),
            _ if is_hidden(letter) => {
                // Writing to a String can't fail.
                let _ = write!(quoted, "\\u{:04x}", u32::from(letter));
            }
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

/// The line that a person should have written. A value whose key says that it is a secret is not shown.
pub(super) fn line_shown(key: Option<&str>, text: &str) -> String {
    let is_secret = key.is_some_and(secrets::hides_all);
    let text = if is_secret {
        REDACTED.to_owned()
    } else {
        shortened(&secrets::shown_variable(text), SHOWN_MAX)
    };
    match key {
        Some(key) => format!("{}: {}", key_shown(key), quoted(&text)),
        None => format!("- {}", quoted(&text)),
    }
}

/// A key as a message shows it: not too long, and nothing in it that a terminal would obey.
pub(crate) fn key_shown(key: &str) -> String {
    let mut shown = String::new();
    for letter in shortened(key, KEY_SHOWN_MAX).chars() {
        if is_hidden(letter) {
            // Writing to a String can't fail.
            let _ = write!(shown, "\\u{:04x}", u32::from(letter));
        } else {
            shown.push(letter);
        }
    }
    shown
}

fn shortened(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Control characters, line ends of all kinds, marks that turn the direction of writing, and what YAML does not take.
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{2028}'
                | '\u{2029}'
                | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
                | '\u{feff}'
                | '\u{fffe}'
                | '\u{ffff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_what_can_not_be_seen_are_escaped() {
        assert_eq!(quoted(r#"a "b" \c"#), r#""a \"b\" \\c""#);
        assert_eq!(quoted("a\tb\u{7}\u{202e}"), r#""a\tb\u0007\u202e""#);
        assert_eq!(
            line_shown(Some("description"), "Use when: x"),
            r#"description: "Use when: x""#
        );
        assert_eq!(line_shown(None, "a #b"), r##"- "a #b""##);
        assert_eq!(key_shown("a\u{1b}[31m"), r"a\u001b[31m");
        assert_eq!(key_shown(&"é".repeat(70)), format!("{}...", "é".repeat(64)));
    }

    #[test]
    fn a_secret_is_not_shown() {
        assert_eq!(line_shown(Some("api_key"), "a: b"), r#"api_key: "<redacted>""#);
    }
}
