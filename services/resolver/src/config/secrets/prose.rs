//! Secrets in free text that people and runtimes send: error messages, details, output. What comes after is stored,
//! shown and logged.

use super::hides_all;
use super::text::shown_text;
use crate::value::REDACTED;

/// How a credential is introduced.
const SCHEMES: &[&str] = &["basic", "bearer", "digest", "token"];
/// What tokens of well-known services, and our own leases, begin with.
const BEGINNINGS: &[&str] = &[
    "AIza",
    "AKIA",
    "ASIA",
    "eyJ",
    "ghp_",
    "gho_",
    "ghr_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "hf_",
    "lease_",
    "npm_",
    "pypi-",
    "rk_live_",
    "sk-",
    "sk_live_",
    "xoxa-",
    "xoxb-",
    "xoxp-",
];
/// Bytes of a token at least.
const TOKEN_BYTES_MIN: usize = 16;
const KEY_BEGINS: &str = "-----BEGIN ";
const KEY_ENDS: &str = "-----END ";

/// A text without what looks like a secret: credentials of headers, values of names that speak of secrets, logins of
/// URLs, private keys, tokens of well-known forms. Whatever else it says stays.
#[must_use]
pub fn redacted(text: &str) -> String {
    let text = without_keys(text);
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        shown.push_str(&shown_text(&without_credentials(line)));
    }
    shown
}

/// Without private keys in PEM; one that was cut off goes to the end.
fn without_keys(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(KEY_BEGINS) {
        let (before, key) = rest.split_at(at);
        shown.push_str(before);
        let label = key[KEY_BEGINS.len()..].split("-----").next().unwrap_or_default();
        if !label.contains("PRIVATE") {
            shown.push_str(KEY_BEGINS);
            rest = &key[KEY_BEGINS.len()..];
            continue;
        }
        shown.push_str(REDACTED);
        let end = key.find(KEY_ENDS).map_or(key.len(), |at| {
            let line = &key[at + KEY_ENDS.len()..];
            let tail = line.find("-----").map_or(line.len(), |tail| tail + "-----".len());
            at + KEY_ENDS.len() + tail
        });
        rest = &key[end..];
    }
    shown + rest
}

/// A line without what follows `Authorization:` or `Bearer`, and without tokens.
fn without_credentials(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let mut awaited = Awaited::Nothing;
    for word in line.split_inclusive(char::is_whitespace) {
        let (text, blank) = word.split_at(word.trim_end().len());
        if text.is_empty() {
            shown.push_str(word);
            continue;
        }
        let bare = text.trim_matches(['"', '\'', '`', ',', ';', '(', ')', '[', ']', '{', '}']);
        let is_scheme = SCHEMES.iter().any(|scheme| bare.eq_ignore_ascii_case(scheme));
        let was_awaited = awaited;
        awaited = if is_scheme {
            Awaited::Credential
        } else if is_header(bare) {
            Awaited::Value
        } else {
            Awaited::Nothing
        };
        let is_secret = match was_awaited {
            Awaited::Nothing => false,
            Awaited::Value => !is_scheme,
            Awaited::Credential => !is_scheme && looks_random(bare),
        };
        shown.push_str(&if is_secret {
            text.replace(bare, REDACTED)
        } else {
            without_tokens(text)
        });
        shown.push_str(blank);
    }
    shown
}

/// What the word before announces.
#[derive(Clone, Copy)]
enum Awaited {
    Nothing,
    /// The value of a header: this word, or the one behind a scheme.
    Value,
    /// What follows a scheme, which may also be a word of a sentence.
    Credential,
}

/// `Authorization:`, `x-api-key:`, with nothing behind.
fn is_header(word: &str) -> bool {
    let name = word.trim_end_matches(['"', '\'']).strip_suffix(':');
    name.is_some_and(|name| hides_all(name.trim_matches(['"', '\''])))
}

/// Whether a word is more likely a credential than a word of a sentence.
fn looks_random(word: &str) -> bool {
    let is_word = word.chars().all(char::is_alphabetic) && word.len() < TOKEN_BYTES_MIN;
    !is_word && word.len() > 3
}

/// A word without tokens of well-known forms in it.
fn without_tokens(word: &str) -> String {
    let mut shown = String::with_capacity(word.len());
    let mut rest = word;
    while !rest.is_empty() {
        let part_end = rest.find(|c| !is_of_token(c)).unwrap_or(rest.len());
        if part_end == 0 {
            let letter = rest.chars().next().map_or(1, char::len_utf8);
            shown.push_str(&rest[..letter]);
            rest = &rest[letter..];
            continue;
        }
        let (part, behind) = rest.split_at(part_end);
        let is_token =
            part.len() >= TOKEN_BYTES_MIN && BEGINNINGS.iter().any(|start| part.starts_with(start));
        shown.push_str(if is_token { REDACTED } else { part });
        rest = behind;
    }
    shown
}

fn is_of_token(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s100_credentials_of_headers_go() {
        for (text, shown) in [
            (
                "Authorization: Bearer abc.def.ghi",
                "Authorization: Bearer <redacted>",
            ),
            (
                "got 401 for authorization: abc123 at once",
                "got 401 for authorization: <redacted> at once",
            ),
            (
                "sent \"Bearer abc.def.ghi\" twice",
                "sent \"Bearer <redacted>\" twice",
            ),
            ("x-api-key: 12 and more", "x-api-key: <redacted> and more"),
            ("basic authentication failed", "basic authentication failed"),
        ] {
            assert_eq!(redacted(text), shown);
        }
    }

    #[test]
    fn s100_values_of_secret_names_logins_tokens_and_keys_go() {
        for secret in [
            "API_TOKEN=zxcvb-123",
            "https://me:zxcvb-123@host/path",
            "run --password zxcvb-123",
            "key sk-zxcvb-1234567890abcdef was refused",
            "lease_01ARZ3NDEKTSV4RRFFQ69G5FAV zxcvb",
            "-----BEGIN RSA PRIVATE KEY-----\nzxcvb-123\n-----END RSA PRIVATE KEY-----",
            "cut -----BEGIN PRIVATE KEY-----\nzxcvb-123",
        ] {
            let shown = redacted(secret);
            assert!(shown.contains(REDACTED), "{shown}");
            assert!(!shown.contains("zxcvb-1") && !shown.contains("01ARZ3"), "{shown}");
        }
    }

    #[test]
    fn what_is_no_secret_stays_letter_by_letter() {
        for text in [
            "reached max_iterations (40)",
            "loop_detected",
            "exit status 1:\n  at src/main.rs:12\n",
            "max_tokens=4096 of the budget",
            "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
            "straße \u{1f600} 'quoted'",
            "",
        ] {
            assert_eq!(redacted(text), text);
        }
    }
}
