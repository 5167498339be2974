//! URLs hold logins, wherever they stand.

use crate::value::REDACTED;

/// A word as far as the logins of URLs in it may be shown. Looks at each byte a few times at most, however many URLs
/// there are.
pub(super) fn without_logins(word: &str) -> String {
    let mut shown = String::with_capacity(word.len());
    let has_at = word.rfind('@');
    let mut rest = word;
    while let Some((scheme, after)) = rest.split_once("://") {
        shown.push_str(scheme);
        shown.push_str("://");
        let start = word.len() - after.len();
        let last_at = has_at.and_then(|at| at.checked_sub(start));
        rest = match login_end(after, last_at) {
            None => after,
            Some(end) => {
                // A login without a password is often a token.
                let user = after[..end].split_once(':').map_or("", |(user, _)| user);
                let colon = if user.is_empty() { "" } else { ":" };
                shown.push_str(&format!("{user}{colon}{REDACTED}"));
                &after[end..]
            }
        };
    }
    shown + rest
}

/// Where the login in front of a host ends, if there is one. `last_at` is the last `@` of the text.
fn login_end(text: &str, last_at: Option<usize>) -> Option<usize> {
    let last_at = last_at?;
    let end = text.find(['/', '?', '#']).unwrap_or(text.len());
    if let Some(at) = text[..end].rfind('@') {
        return Some(at);
    }
    // A password may hold a slash that nobody escaped: then what looks like a port is no number.
    let port = text[..end].rsplit_once(':').map_or("", |(_, port)| port);
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit()) || port.ends_with(']');
    (!is_port).then_some(last_at)
}
