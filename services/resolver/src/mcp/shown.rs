//! A server as it may be shown: to callers, in logs, in fingerprints.

use std::collections::BTreeMap;

use super::McpServer;
use crate::config::secrets;
use crate::config::secrets::{looks_secret, shown_text};
use crate::value::{REDACTED, Table, Value};

/// Parts of names of unknown fields that may hold a secret. More than for known ones: nobody knows what is in them.
const SUSPICIOUS: &[&str] = &[
    "auth",
    "bearer",
    "cookie",
    "credential",
    "header",
    "key",
    "password",
    "secret",
    "token",
];

impl McpServer {
    /// The server without its secrets: what stays is names, and what is needed to know the server again.
    #[must_use]
    pub fn shown(&self) -> Self {
        let env = self
            .env
            .iter()
            .map(|(key, value)| (key.clone(), shown_variable(key, value)));
        Self {
            command: shown_text(&self.command),
            args: secrets::shown_arguments(&self.args),
            cwd: shown_text(&self.cwd),
            description: shown_text(&self.description),
            env: env.collect(),
            secret_env: redacted(&self.secret_env),
            url: shown_url(&self.url),
            headers: redacted(&self.headers),
            auth: self.auth.as_ref().map(Value::redacted),
            other: shown_table(&self.other),
            ..self.clone()
        }
    }
}

/// The address of a database often holds the password for it.
fn shown_variable(key: &str, value: &str) -> String {
    if secrets::hides_all(key) {
        return REDACTED.to_owned();
    }
    secrets::shown_variable(value)
}

/// A URL without the user and password, and without the values of its query and what is behind it.
#[must_use]
pub fn shown_url(url: &str) -> String {
    let (url, fragment) = match url.split_once('#') {
        Some((url, fragment)) => (url, Some(fragment)),
        None => (url, None),
    };
    let (base, query) = match url.split_once('?') {
        Some((base, query)) => (base, Some(query)),
        None => (url, None),
    };
    let mut shown = shown_base(base);
    if let Some(query) = query {
        let parts: Vec<String> = query.split('&').map(shown_parameter).collect();
        shown.push('?');
        shown.push_str(&parts.join("&"));
    }
    if let Some(fragment) = fragment {
        shown.push('#');
        shown.push_str(if fragment.is_empty() { "" } else { REDACTED });
    }
    shown
}

fn shown_base(base: &str) -> String {
    let start = base.find("://").map_or(0, |at| at + 3);
    let end = base[start..].find('/').map_or(base.len(), |at| start + at);
    match base[start..end].rfind('@') {
        Some(at) => format!("{}{REDACTED}{}", &base[..start], &base[start + at..]),
        // A password may hold a slash that nobody escaped.
        None => shown_text(base),
    }
}

fn shown_parameter(parameter: &str) -> String {
    match parameter.split_once('=') {
        // What is no name may hold anything, another URL with its password for one.
        Some((key, _)) if !key.bytes().all(is_of_a_name) => REDACTED.to_owned(),
        Some((key, value)) if !value.is_empty() => format!("{key}={REDACTED}"),
        Some(_) => parameter.to_owned(),
        None if parameter.is_empty() => String::new(),
        // A lone word may be the secret itself.
        None => REDACTED.to_owned(),
    }
}

fn is_of_a_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_.-[]".contains(&byte)
}

fn redacted(texts: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    texts
        .keys()
        .map(|key| (key.clone(), REDACTED.to_owned()))
        .collect()
}

fn shown_table(table: &Table) -> Table {
    let entries = table.iter();
    entries
        .map(|(key, value)| (key.clone(), shown_field(key, value)))
        .collect()
}

/// Whether a field that nobody knows may hold a secret, by its name.
pub(crate) fn is_suspicious(key: &str) -> bool {
    let lower = key.to_lowercase();
    looks_secret(key) || SUSPICIOUS.iter().any(|part| lower.contains(part))
}

/// What may be shown of a field that nobody knows.
pub(crate) fn shown_field(key: &str, value: &Value) -> Value {
    if is_suspicious(key) {
        return match value {
            // A switch is none, whatever it is called.
            Value::Flag(flag) => Value::Flag(*flag),
            value => value.redacted(),
        };
    }
    match value {
        Value::Table(table) => Value::Table(shown_table(table)),
        Value::List(items) => secrets::shown_list(items, |item| shown_field("", item)),
        Value::Text(text) => Value::Text(shown_text(text)),
        value => value.clone(),
    }
}
