//! What is a secret, and what is shown in its place. In doubt it is one: a word too many that reads `<redacted>` costs
//! a look into the file, one too few costs a key.

mod prose;
mod shown;
mod text;
mod url;

pub use prose::redacted;
pub use shown::shown_value;
pub(crate) use shown::{hides, hides_all, shown, shown_list, shown_tree};
pub use text::shown_text;
pub(crate) use text::{shown_arguments, shown_variable};

/// Words that make a key the name of a secret.
const WORDS: &[&str] = &[
    "apikey",
    "apikeys",
    "auth",
    "authorization",
    "bearer",
    "cookie",
    "cookies",
    "cred",
    "credential",
    "credentials",
    "creds",
    "dsn",
    "jwt",
    "oauth",
    "pass",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "pat",
    "pwd",
    "secret",
    "secrets",
    "token",
    "tokens",
    "webhook",
    "webhooks",
];
/// Ends of words that were written in one, such as `PGPASSWORD`.
const ENDS: &[&str] = &[
    "apikey",
    "password",
    "passwd",
    "secret",
    "token",
    "accesskey",
    "privatekey",
    "secretkey",
    "pass",
];
/// Words that end like one of them and are none.
const OTHER_ENDS: &[&str] = &["bypass", "compass", "trespass"];
/// Words beside which a token is something to count.
const COUNTED: &[&str] = &["max", "min", "limit", "count", "budget", "per", "window", "usage"];
/// Words before `key` with which it opens nothing.
const OPEN_KEYS: &[&str] = &[
    "public",
    "primary",
    "foreign",
    "sort",
    "cache",
    "partition",
    "group",
    "dedup",
    "idempotency",
];

/// Whether a key is the name of a secret, as far as a name can tell: `API_TOKEN`, `db-password` and `apiKey` are,
/// `PATH`, `LANG` and `AUTHOR` are not.
#[must_use]
pub fn looks_secret(key: &str) -> bool {
    let words = words(key);
    if names_secret(&words) {
        return true;
    }
    // Case may have no meaning: `API_TOkEN`. What is counted stays that.
    let parts = key.split(|letter: char| !letter.is_alphanumeric());
    let parts: Vec<String> = without_numbers(parts.map(str::to_lowercase));
    parts != words && !is_counted(&words) && names_secret(&parts)
}

fn names_secret(words: &[String]) -> bool {
    let is_counted = is_counted(words);
    let is_secret = words.iter().enumerate().any(|(at, word)| match word.as_str() {
        "token" | "tokens" => !is_counted,
        // The working directory, unless it is the PWD of something.
        "pwd" => words.len() > 1,
        word => WORDS.contains(&word) || (at + 1 == words.len() && is_written_in_one(word)),
    });
    is_secret || names_key(words)
}

fn is_counted(words: &[String]) -> bool {
    words.iter().any(|word| COUNTED.contains(&word.as_str()))
}

/// Whether one of the words of a key is one of these.
fn has_word(key: &str, wanted: &[&str]) -> bool {
    words(key).iter().any(|word| wanted.contains(&word.as_str()))
}

fn is_written_in_one(word: &str) -> bool {
    ENDS.iter().any(|end| word.ends_with(end)) && !OTHER_ENDS.contains(&word)
}

/// `OPENAI_KEY`, `private_key`, `access_key_id`; but not a `key` alone, nor a public one.
fn names_key(words: &[String]) -> bool {
    words.windows(2).enumerate().any(|(at, pair)| {
        let is_key = pair[1] == "key" || pair[1] == "keys";
        let is_last = at + 2 == words.len();
        let opens =
            ["access", "api", "private", "secret", "signing", "encryption"].contains(&pair[0].as_str());
        is_key && (opens || (is_last && !OPEN_KEYS.contains(&pair[0].as_str())))
    })
}

/// The words of a key in lower case: parted by anything that is no letter or digit, and where case changes.
fn words(key: &str) -> Vec<String> {
    let letters: Vec<char> = key.chars().collect();
    let mut words = vec![String::new()];
    for (at, letter) in letters.iter().enumerate() {
        if !letter.is_alphanumeric() {
            words.push(String::new());
            continue;
        }
        let before = at.checked_sub(1).map(|at| letters[at]);
        let after = letters.get(at + 1);
        let after_small = before.is_some_and(|before| before.is_lowercase() || before.is_ascii_digit());
        let after_capitals =
            before.is_some_and(char::is_uppercase) && after.is_some_and(|c| c.is_lowercase());
        if letter.is_uppercase() && (after_small || after_capitals) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
    }
    without_numbers(words.into_iter())
}

/// `TOKEN1` and `API_KEY_2` are what they are without the number.
fn without_numbers(words: impl Iterator<Item = String>) -> Vec<String> {
    let named = words.map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned());
    named.filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_by_whole_words() {
        for key in [
            "API_TOKEN",
            "token",
            "GITHUB_TOKEN",
            "db-password",
            "PGPASSWORD",
            "MYSQL_PWD",
            "passwd",
            "apiKey",
            "APIKey",
            "apikey",
            "X-API-Key",
            "OPENAI_API_KEY",
            "OPENAI_KEY",
            "AWS_ACCESS_KEY_ID",
            "private_key",
            "clientSecret",
            "secret_env",
            "Authorization",
            "proxy-auth",
            "credentials",
            "GITHUB_PAT",
            "HTTP2Token",
            "AUTHTOKEN",
            "DATABASE_DSN",
            "API_TOkEN",
            "PassWord",
        ] {
            assert!(looks_secret(key), "{key} is one");
        }
        for key in [
            "LANG",
            "PATH",
            "PWD",
            "OLDPWD",
            "KEYBOARD",
            "AUTHOR",
            "author_name",
            "key",
            "public_key",
            "cache_key",
            "MONKEY",
            "MAX_TOKENS",
            "token_limit",
            "tokenizer",
            "BYPASS",
            "PASSENGERS",
            "HTTP2",
            "PATTERN",
            "",
            "_",
            "patient",
            "maxTokens",
            "MaxToken",
            "tokenLimit",
            "cacheKey",
        ] {
            assert!(!looks_secret(key), "{key} is none");
        }
    }
}
