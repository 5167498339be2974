//! What a plain scalar means: the core schema of YAML 1.2, in which `no` and `1.2.3` are texts.

use granit_parser::{ScalarStyle, Tag};

use crate::node::Content;

/// The value of a scalar.
pub(super) fn content(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Content {
    let asked = tag.and_then(Tag::core_suffix);
    match asked {
        Some("str") => Content::Text(text.to_owned()),
        None if style != ScalarStyle::Plain => Content::Text(text.to_owned()),
        _ => plain(text),
    }
}

fn plain(text: &str) -> Content {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Content::Null,
        "true" | "True" | "TRUE" => Content::Flag(true),
        "false" | "False" | "FALSE" => Content::Flag(false),
        _ => number(text).unwrap_or_else(|| Content::Text(text.to_owned())),
    }
}

fn number(text: &str) -> Option<Content> {
    if let Some(number) = integer(text) {
        return Some(Content::Integer(number));
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    match unsigned {
        ".inf" | ".Inf" | ".INF" => return Some(Content::Float(sign * f64::INFINITY)),
        ".nan" | ".NaN" | ".NAN" if unsigned.len() == text.len() => return Some(Content::Float(f64::NAN)),
        _ => {}
    }
    // Rust's own numbers are those of YAML, but for words like "inf" and whole numbers that are too large: a text.
    let is_float = unsigned.starts_with(|letter: char| letter == '.' || letter.is_ascii_digit())
        && unsigned.contains(['.', 'e', 'E']);
    let number: f64 = is_float.then(|| text.parse().ok())??;
    Some(Content::Float(number))
}

fn integer(text: &str) -> Option<i64> {
    if let Some(digits) = text.strip_prefix("0x") {
        return digits_of(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return digits_of(digits, 8);
    }
    text.parse().ok()
}

fn digits_of(digits: &str, radix: u32) -> Option<i64> {
    digits
        .chars()
        .all(|digit| digit.is_digit(radix))
        .then(|| i64::from_str_radix(digits, radix).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_schema_and_nothing_more() {
        for text in [
            "no",
            "yes",
            "on",
            "1.2.3",
            "inf",
            "nan",
            "0b1",
            "1_000",
            "12:30",
            "2024-01-01",
            ".",
        ] {
            assert_eq!(plain(text), Content::Text(text.to_owned()));
        }
        for (text, number) in [
            ("42", 42),
            ("-1", -1),
            ("+7", 7),
            ("007", 7),
            ("0x1F", 31),
            ("0o17", 15),
        ] {
            assert_eq!(plain(text), Content::Integer(number));
        }
        for (text, number) in [("1.10", 1.1), (".5", 0.5), ("1e3", 1000.0), ("-2.", -2.0)] {
            assert_eq!(plain(text), Content::Float(number));
        }
        assert_eq!(plain("-.inf"), Content::Float(f64::NEG_INFINITY));
        assert_eq!(plain("True"), Content::Flag(true));
        assert_eq!(plain("~"), Content::Null);
        let large = "123456789012345678901234567890";
        assert_eq!(plain(large), Content::Text(large.to_owned()));
    }

    #[test]
    fn quoted_scalars_are_texts() {
        assert_eq!(
            content("42", ScalarStyle::DoubleQuoted, None),
            Content::Text("42".to_owned())
        );
        let text = Tag::new("tag:yaml.org,2002:", "str");
        assert_eq!(
            content("42", ScalarStyle::Plain, Some(&text)),
            Content::Text("42".to_owned())
        );
    }
}
