//! Secrets in the middle of a text: in a command line, in arguments of a program, in an address. Nothing says that
//! there is one but the words around it.

use super::url::without_logins;
use super::{hides_all, looks_secret};
use crate::value::REDACTED;

/// Names that are those of a secret in the query of a URL only.
const IN_QUERIES: &[&str] = &["key", "sig", "signature"];
/// How a credential is introduced.
const SCHEMES: &[&str] = &["bearer", "basic"];

/// What may be shown of a text: logins of URLs in it are not, nor what is said to be a secret, as in
/// `--token abc`, `API_KEY=abc` and `?sig=abc`.
#[must_use]
pub fn shown_text(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    let mut is_awaited = false;
    while !rest.is_empty() {
        let (blanks, behind) = rest.split_at(rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len()));
        shown.push_str(blanks);
        let (word, behind) = behind.split_at(word_end(behind));
        if is_awaited && is_value(word) {
            shown.push_str(REDACTED);
            is_awaited = false;
        } else {
            is_awaited = is_secret_option(word);
            shown.push_str(&shown_assignments(&without_logins(word)));
        }
        rest = behind;
    }
    shown
}

/// What may be shown of the value of a variable whose name is none of a secret.
pub(crate) fn shown_variable(text: &str) -> String {
    shown_header(text).unwrap_or_else(|| shown_text(text))
}

/// What may be shown of the arguments of a program: an option may say that the next one is a secret.
pub(crate) fn shown_arguments(arguments: &[String]) -> Vec<String> {
    let mut is_awaited = false;
    let mut shown = Vec::with_capacity(arguments.len());
    for argument in arguments {
        if is_awaited && is_value(argument) {
            is_awaited = false;
            shown.push(REDACTED.to_owned());
        } else {
            is_awaited = is_secret_option(argument);
            shown.push(shown_variable(argument));
        }
    }
    shown
}

/// `Authorization: abc` and `Bearer abc`, as far as they may be shown; `None` for anything else.
fn shown_header(text: &str) -> Option<String> {
    if let Some((name, value)) = text.split_once(':')
        && is_name(name)
        && hides_all(name)
        && !value.starts_with("//")
    {
        return Some(match is_value(value.trim()) {
            true => format!("{name}: {REDACTED}"),
            false => text.to_owned(),
        });
    }
    let (scheme, value) = text.trim_start().split_once(' ')?;
    let is_scheme = SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known));
    (is_scheme && is_value(value.trim())).then(|| format!("{scheme} {REDACTED}"))
}

/// `--api-key`; what follows it is a secret.
fn is_secret_option(word: &str) -> bool {
    let name = word.trim_start_matches('-');
    name.len() < word.len() && is_name(name) && looks_secret(name)
}

/// Whether a word can be a value at all: no other option, and no mere name of a variable, which says nothing.
fn is_value(word: &str) -> bool {
    let is_variable = word
        .strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'))
        .is_some_and(is_name);
    !word.is_empty() && !word.starts_with('-') && !is_variable
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_of_name)
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.')
}

/// A word up to the blank behind it. Blanks between quotes are part of it.
fn word_end(text: &str) -> usize {
    let mut quote = None;
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (None, '"' | '\'') if text[at + 1..].contains(letter) && is_opening(&text[..at]) => {
                quote = Some(letter);
            }
            (None, letter) if letter.is_whitespace() => return at,
            _ => {}
        }
    }
    text.len()
}

/// Whether a quote behind this begins something, unlike the one in `don't`.
fn is_opening(before: &str) -> bool {
    before
        .chars()
        .next_back()
        .is_none_or(|letter| !letter.is_alphanumeric())
}

/// A word without the secrets that are assigned in it: `--token=abc`, `a=1&token=abc`, `Host=x;Password=abc`.
fn shown_assignments(word: &str) -> String {
    let mut shown = String::with_capacity(word.len());
    let mut rest = word;
    while let Some((before, value)) = rest.split_once('=') {
        shown.push_str(before);
        shown.push('=');
        let start = before
            .rfind(|c: char| !is_of_name(c))
            .map_or(0, |at| at + before[at..].chars().next().map_or(0, char::len_utf8));
        let (lead, name) = before.split_at(start);
        let is_secret = looks_secret(name) || (lead.ends_with(['?', '&']) && IN_QUERIES.contains(&name));
        if !is_secret {
            rest = value;
            continue;
        }
        let end = value.find(['&', ';']).unwrap_or(value.len());
        shown.push_str(if is_value(&value[..end]) {
            REDACTED
        } else {
            &value[..end]
        });
        rest = &value[end..];
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_shown_without_what_is_said_to_be_a_secret() {
        let cases = [
            (
                "postgres://app:s3cr3t@db:5432/c?sslmode=require",
                "postgres://app:<redacted>@db:5432/c?sslmode=require",
            ),
            ("https://t0ken@git.example/x", "https://<redacted>@git.example/x"),
            (
                "https://x/?access_token=s3cr3t&page=2&key=k",
                "https://x/?access_token=<redacted>&page=2&key=<redacted>",
            ),
            (
                "https://x/#access_token=s3cr3t",
                "https://x/#access_token=<redacted>",
            ),
            ("https://x/a@b", "https://x/a@b"),
            ("postgres://a:b@c:d@h/x", "postgres://a:<redacted>@h/x"),
            ("no url @ all", "no url @ all"),
            ("postgres://u:p/w@h/x", "postgres://u:<redacted>@h/x"),
            (
                "http://[::1]/a@b http://u:p@h",
                "http://[::1]/a@b http://u:<redacted>@h",
            ),
            ("--dsn=mysql://u:p@h?password=x", "--dsn=<redacted>"),
            (
                "--db=mysql://u:p@h?password=x",
                "--db=mysql://u:<redacted>@h?password=<redacted>",
            ),
            ("https://:p@h/", "https://<redacted>@h/"),
            ("run --api-key=abc -v", "run --api-key=<redacted> -v"),
            ("run --token abc  -v", "run --token <redacted>  -v"),
            ("run --token -v", "run --token -v"),
            ("API_KEY='a b' run", "API_KEY=<redacted> run"),
            (
                "Server=x;Password=abc;Ssl=1",
                "Server=x;Password=<redacted>;Ssl=1",
            ),
            (
                "--token=${TOKEN} --max-tokens=5 key=3",
                "--token=${TOKEN} --max-tokens=5 key=3",
            ),
            ("don't ask for a token", "don't ask for a token"),
            ("a == b", "a == b"),
        ];
        for (text, shown) in cases {
            assert_eq!(shown_text(text), shown);
            assert_eq!(shown_text(shown), shown, "a second time");
        }
    }

    #[test]
    fn arguments_are_shown_without_what_is_said_to_be_a_secret() {
        let cases: [(&[&str], &[&str]); 5] = [
            (&["--token", "a b", "c"], &["--token", "<redacted>", "c"]),
            (&["--token", "--verbose", "c"], &["--token", "--verbose", "c"]),
            (
                &["--api-key", "${KEY}", "--root", "${HOME}/x"],
                &["--api-key", "${KEY}", "--root", "${HOME}/x"],
            ),
            (
                &[
                    "-H",
                    "Authorization: Bearer a",
                    "Bearer a",
                    "X-Api-Key:a",
                    "Accept: a",
                ],
                &[
                    "-H",
                    "Authorization: <redacted>",
                    "Bearer <redacted>",
                    "X-Api-Key: <redacted>",
                    "Accept: a",
                ],
            ),
            (
                &["-e", "GH_TOKEN=a", "auth://h/x"],
                &["-e", "GH_TOKEN=<redacted>", "auth://h/x"],
            ),
        ];
        for (arguments, shown) in cases {
            let arguments: Vec<String> = arguments.iter().map(|text| (*text).to_owned()).collect();
            assert_eq!(shown_arguments(&arguments), shown);
        }
    }
}
