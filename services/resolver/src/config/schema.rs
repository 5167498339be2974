//! The table of keys as data, for `compozy config schema` and the page about the configuration.

use compozy_domain::Layer;

use super::keys::{KEYS, Secrecy, TABLES};

/// One key, or one table that is accepted as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaEntry {
    /// Dotted; `*` stands for a name.
    pub key: String,
    /// What the value has to be; `opaque` for tables of other parts of an installation.
    pub kind: String,
    /// The built-in value as TOML writes it, or in words; `None` if there is none.
    pub default: Option<String>,
    /// What becomes of values of several layers: `replace`, `merge`, `patch by name`, `replace by name`, `append`.
    pub strategy: &'static str,
    /// The layers whose files may set it, lowest first.
    pub layers: &'static [Layer],
    /// Whether it, or something in it, is a secret: `all`, `by name`, or nothing.
    pub secret: Option<&'static str>,
    /// One sentence about it.
    pub about: &'static str,
}

/// Every typed key and every opaque table, sorted by key.
#[must_use]
pub fn schema() -> Vec<SchemaEntry> {
    let typed = KEYS.iter().map(|rule| SchemaEntry {
        key: rule.key.to_owned(),
        kind: rule.kind.name(),
        default: rule.default.shown(),
        strategy: rule.merge.name(),
        layers: rule.layers().list(),
        secret: match rule.secrecy {
            Secrecy::Open => None,
            Secrecy::Always => Some("all"),
            Secrecy::ByName | Secrecy::Content => Some("by name"),
        },
        about: rule.about,
    });
    let opaque = TABLES.iter().filter(|table| table.is_opaque);
    let opaque = opaque.map(|table| SchemaEntry {
        key: table.path.to_owned(),
        kind: "opaque".to_owned(),
        default: None,
        strategy: "merge",
        layers: table.layers.list(),
        secret: Some("by name"),
        about: table.about,
    });
    let mut entries: Vec<SchemaEntry> = typed.chain(opaque).collect();
    entries.sort_by(|one, other| one.key.cmp(&other.key));
    entries
}
