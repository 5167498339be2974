//! Dotted keys as people read and write them.

/// Characters of a key that a message shows.
const SHOWN_MAX: usize = 120;

/// Joins parts with dots; one that is no bare word is quoted, as TOML would.
#[must_use]
pub fn join<'p>(parts: impl IntoIterator<Item = &'p str>) -> String {
    let mut text = String::new();
    for part in parts {
        if !text.is_empty() {
            text.push('.');
        }
        push(&mut text, part);
    }
    text
}

/// The parts of a dotted key; `None` if it is none.
#[must_use]
pub fn split(text: &str) -> Option<Vec<String>> {
    let parts = toml_edit::Key::parse(text).ok()?;
    Some(parts.into_iter().map(|part| part.get().to_owned()).collect())
}

/// The key for a message or diagnostic: a hostile one may be long.
pub(crate) fn shown<'p>(parts: impl IntoIterator<Item = &'p str>) -> String {
    let text = join(parts);
    match text.char_indices().nth(SHOWN_MAX) {
        None => text,
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}

fn push(text: &mut String, part: &str) {
    let is_bare = !part.is_empty()
        && part
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if is_bare {
        text.push_str(part);
        return;
    }
    text.push('"');
    for letter in part.chars() {
        match letter {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\r' => text.push_str("\\r"),
            letter if letter.is_control() => text.push_str(&format!("\\u{:04X}", u32::from(letter))),
            letter => text.push(letter),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_can_be_read_back() {
        for parts in [
            vec!["a", "b-c", "d_1"],
            vec!["mcp_servers", "a.b", "command"],
            vec!["", "\"", "\\", "\u{1}\n", "ä"],
        ] {
            let text = join(parts.iter().copied());
            assert_eq!(split(&text).expect("it is a key"), parts, "{text}");
        }
        assert_eq!(join(["mcp_servers", "a.b", "env"]), "mcp_servers.\"a.b\".env");
        assert_eq!(split("a..b"), None);
    }
}
