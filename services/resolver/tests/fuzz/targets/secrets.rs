//! What is a secret beyond doubt, told by rules of its own, and whether it is hidden.

use compozy_resolver::mcp::McpServer;
use compozy_resolver::value::{REDACTED, Value};

use super::{Held, holds};

/// Ends of names that can't be those of anything else.
const NAMES: &[&str] = &["_token", "_password", "_secret", "api_key", "apikey"];
/// Tables of which all is secret.
const TABLES: &[&str] = &["secret_env", "headers", "auth"];

/// Whether a key is the name of a secret, or of a table of them.
pub(super) fn is_secret_name(key: &str) -> bool {
    let small = key.to_ascii_lowercase();
    NAMES.iter().any(|end| small.ends_with(end)) || ["password", "secret"].contains(&small.as_str())
}

/// Whether everything below a key is secret.
pub(super) fn is_secret_table(key: &str) -> bool {
    TABLES.contains(&key)
}

/// Whether nothing is left of a value but its shape.
pub(super) fn is_redacted(value: &Value) -> bool {
    match value {
        Value::Text(text) => text == REDACTED,
        Value::List(items) => items.iter().all(is_redacted),
        Value::Table(table) => table.values().all(is_redacted),
        _ => false,
    }
}

/// The password of the first URL in a text, if it is a plain one.
pub(super) fn password(text: &str) -> Option<&str> {
    let (_, behind) = text.split_once("://")?;
    let (_, behind) = behind.split_once(':')?;
    let (password, _) = behind.split_once('@')?;
    let is_plain = password.len() > 4 && password.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let (before, _) = text.split_once(password)?;
    let is_only_one = text.matches(password).count() == 1;
    let is_login = before.rsplit_once("://").is_some_and(|(_, user)| {
        user.ends_with(':') && user.bytes().filter(|byte| !byte.is_ascii_alphanumeric()).count() == 1
    });
    (is_plain && is_only_one && is_login).then_some(password)
}

/// Whether a server tells nothing when a program prints it for its programmers.
pub(super) fn server_is_silent(server: &McpServer) -> Held {
    let told = format!("{server:?}");
    let values = server.secret_env.values().chain(server.headers.values());
    for value in values.filter(|value| value.len() > 8 && !server.name.contains(value.as_str())) {
        holds(!told.contains(value.as_str()), || {
            format!("prints a secret: {told}")
        })?;
    }
    Ok(())
}

/// Whether a server can be shown.
pub(super) fn shown_hides(server: &McpServer) -> Held {
    let shown = server.shown();
    let name = &server.name;
    let all_of_it = shown.secret_env.values().chain(shown.headers.values());
    for value in all_of_it {
        holds(value == REDACTED, || format!("server {name:?} shows {value:?}"))?;
    }
    for (key, value) in shown.env.iter().filter(|(key, _)| is_secret_name(key)) {
        holds(value == REDACTED, || format!("server {name:?} shows {key}"))?;
    }
    holds(shown.auth.as_ref().is_none_or(is_redacted), || {
        format!("server {name:?} shows its auth")
    })?;
    if let Some(password) = password(&server.url) {
        holds(!shown.url.contains(password), || {
            format!("server {name:?} shows the password of {:?}", shown.url)
        })?;
    }
    let keys = |server: &McpServer| {
        let env = server.env.keys().chain(server.secret_env.keys()).cloned();
        env.chain(server.other.keys().cloned()).collect::<Vec<_>>()
    };
    holds(keys(server) == keys(&shown), || {
        format!("server {name:?} hides which keys it has")
    })
}
