//! Names of servers, and how names out of files appear in messages.

use crate::config::key;

/// Characters of a name that a message shows.
const SHOWN_MAX: usize = 100;

/// The name of a server without the blanks around it.
///
/// # Errors
/// What is wrong with it, as the end of a sentence about "the name of an MCP server".
pub fn server_name(text: &str) -> Result<&str, &'static str> {
    let name = text.trim();
    if name.is_empty() {
        return Err("is empty");
    }
    if name.contains('/') {
        return Err("may not hold a `/`");
    }
    if name.chars().any(char::is_control) {
        return Err("may not hold control characters");
    }
    Ok(name)
}

/// A name out of a file as a message shows it: printable, and not longer than a line.
pub(super) fn shown_name(name: &str) -> String {
    let mut shown: String = name
        .chars()
        .take(SHOWN_MAX)
        .flat_map(|letter| match letter.is_control() {
            true => letter.escape_default().collect(),
            false => vec![letter],
        })
        .collect();
    if name.chars().nth(SHOWN_MAX).is_some() {
        shown.push('…');
    }
    shown
}

/// A name as part of a dotted key: quoted, unless it is a bare word.
pub(super) fn shown_key(name: &str) -> String {
    key::shown([name])
}
