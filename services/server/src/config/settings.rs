//! The settings that the daemon runs with, as they may be shown.

use compozy_resolver::config::keys::{DefaultValue, KEYS, KeyRule, Layers, TABLES};
use compozy_resolver::config::secrets::shown_text;
use compozy_resolver::node::{Content, Node};
use compozy_resolver::value::REDACTED;

use super::values::Values;
use super::{Config, Overrides};

/// Keys that the daemon itself obeys although workspaces may set them for their sessions.
const SHARED: &[&str] = &[
    "agents.heartbeat.",
    "limits.",
    "memory.workspace.auto_create",
    "session.",
];

/// One setting of the daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Dotted key.
    pub key: &'static str,
    /// The value in effect as TOML writes it; empty if there is none. A secret is redacted.
    pub value: String,
    /// Whether it holds a secret.
    pub is_secret: bool,
    /// Whether nobody set it.
    pub is_default: bool,
}

/// Whether a running daemon goes on with the old value of a key until it is started again. What it does not obey itself
/// is read anew by every resolve.
#[must_use]
pub fn needs_restart(key: &str) -> bool {
    rules().any(|rule| rule.key == key) && !key.starts_with("config.")
}

/// The settings, by key.
pub(super) fn of(config: &Config, values: &Values, overrides: &Overrides) -> Vec<Setting> {
    let mut settings: Vec<Setting> = rules()
        .map(|rule| setting(rule, config, values, overrides))
        .collect();
    settings.sort_by_key(|setting| setting.key);
    settings
}

/// The keys of the daemon: those that only the user's file may set, and a few of others.
fn rules() -> impl Iterator<Item = &'static KeyRule> {
    KEYS.iter().filter(|rule| {
        let is_shared = SHARED.iter().any(|start| rule.key.starts_with(start));
        is_shared || (rule.layers() == Layers::UserOnly && !is_opaque(rule.key))
    })
}

fn is_opaque(key: &str) -> bool {
    TABLES
        .iter()
        .any(|table| table.is_opaque && table.path == key.split('.').next().unwrap_or_default())
}

fn setting(rule: &'static KeyRule, config: &Config, values: &Values, overrides: &Overrides) -> Setting {
    let key = rule.key;
    let is_default = match key {
        "grpc.listen" => config.listen.is_none(),
        "store.url" => overrides.store_url.is_none() && !values.has(key),
        _ => !values.has(key),
    };
    // What wins over the file, and what depends on something.
    let settled = match key {
        "grpc.listen" => config.listen.as_ref().map(|listen| text(&listen.address)),
        "store.url" => Some(text(&config.store.url)),
        "workspaces.register_home" => Some(config.workspaces.register_home.to_string()),
        _ => None,
    };
    let value = settled
        .or_else(|| values.0.get(key).and_then(written))
        .or_else(|| shown_default(rule.default))
        .unwrap_or_default();
    let is_secret = value.contains(REDACTED);
    Setting {
        key,
        value,
        is_secret,
        is_default,
    }
}

/// What a default only says in words is no value.
fn shown_default(default: DefaultValue) -> Option<String> {
    match default {
        DefaultValue::Words(_) => None,
        default => default.shown(),
    }
}

fn written(node: &Node) -> Option<String> {
    let value = match &node.content {
        Content::Text(text) => shown(text),
        Content::Flag(flag) => toml::Value::Boolean(*flag),
        Content::Integer(number) => toml::Value::Integer(*number),
        Content::List(items) => {
            toml::Value::Array(items.iter().filter_map(Node::as_text).map(shown).collect())
        }
        Content::Null | Content::Float(_) | Content::Time(_) | Content::Table(_) => return None,
    };
    Some(value.to_string())
}

fn text(text: &str) -> String {
    shown(text).to_string()
}

fn shown(text: &str) -> toml::Value {
    toml::Value::String(shown_text(text))
}
