//! Every key in one table: it drives reading, checking, merging, redaction, the schema and the page about the
//! configuration.

mod place;
mod table;
mod tables;

use compozy_domain::Layer;

pub use super::kind::Kind;
pub(super) use place::{Place, layers, next_parts, place, rule, rule_above};
pub use table::KEYS;
pub use tables::TABLES;

/// One typed key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyRule {
    /// Dotted; `*` stands for a name.
    pub key: &'static str,
    /// What the value has to be.
    pub kind: Kind,
    /// What counts when nobody says anything.
    pub default: DefaultValue,
    /// What becomes of what several layers say.
    pub merge: Merge,
    /// What of it is a secret.
    pub secrecy: Secrecy,
    /// One sentence about it.
    pub about: &'static str,
}

/// A table that is known as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableRule {
    /// Dotted. `memory.global_dir`, a key, is among them, for its layers.
    pub path: &'static str,
    /// Who may set anything in it.
    pub layers: Layers,
    /// Whether it belongs to another part of an installation: keys in it that are not typed are accepted as they are.
    pub is_opaque: bool,
    /// One sentence about it.
    pub about: &'static str,
}

/// The built-in value of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultValue {
    /// There is none.
    Unset,
    /// A text.
    Text(&'static str),
    /// true or false.
    Flag(bool),
    /// A number.
    Count(i64),
    /// A list of texts.
    Texts(&'static [&'static str]),
    /// It depends on something, in words.
    Words(&'static str),
}

/// What becomes of values of several layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    /// The later replaces the earlier, lists whole.
    Replace,
    /// Tables merge key by key.
    ByKey,
    /// Entries of one name merge field by field, new ones follow.
    ByNamePatch,
    /// An entry takes the place of the one of its name, new ones follow.
    ByNameReplace,
    /// Entries of later layers follow those of earlier ones.
    Append,
}

/// Who may set a key, besides the built-in default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layers {
    /// Every file.
    Every,
    /// The user's and the workspace's file, and not those of profiles.
    NoProfile,
    /// The user's file.
    UserOnly,
}

/// What of a value is a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secrecy {
    /// Nothing but passwords in URLs.
    Open,
    /// All of it.
    Always,
    /// It, if its name looks so.
    ByName,
    /// Whatever in it has a name that looks so.
    Content,
}

impl KeyRule {
    /// Who may set it.
    #[must_use]
    pub fn layers(&self) -> Layers {
        let parts: Vec<&str> = self.key.split('.').collect();
        layers(&parts)
    }

    fn matches(&self, path: &[&str]) -> bool {
        let mut parts = self.key.split('.');
        path.iter()
            .all(|part| parts.next().is_some_and(|own| own == "*" || own == *part))
            && parts.next().is_none()
    }

    /// The part of its key behind this path, if it is below it.
    fn part_below(&self, path: &[&str]) -> Option<&'static str> {
        let mut parts = self.key.split('.');
        path.iter()
            .all(|part| parts.next().is_some_and(|own| own == "*" || own == *part))
            .then(|| parts.next())?
    }
}

impl DefaultValue {
    /// As it is shown; `None` if there is none.
    #[must_use]
    pub fn shown(self) -> Option<String> {
        match self {
            Self::Unset => None,
            Self::Text(text) => Some(toml_edit::Value::from(text).to_string()),
            Self::Flag(flag) => Some(flag.to_string()),
            Self::Count(count) => Some(count.to_string()),
            Self::Texts(texts) => Some(texts.iter().copied().collect::<toml_edit::Array>().to_string()),
            Self::Words(words) => Some(words.to_owned()),
        }
    }
}

impl Merge {
    /// One word for the schema.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Replace => "replace",
            Self::ByKey => "merge",
            Self::ByNamePatch => "patch by name",
            Self::ByNameReplace => "replace by name",
            Self::Append => "append",
        }
    }
}

impl Layers {
    /// Whether a file of this layer may.
    #[must_use]
    pub const fn allow(self, layer: Layer) -> bool {
        match self {
            Self::Every => true,
            Self::NoProfile => !matches!(layer, Layer::Profile | Layer::WorkspaceProfile),
            Self::UserOnly => matches!(layer, Layer::User),
        }
    }

    /// The layers, in their order.
    #[must_use]
    pub const fn list(self) -> &'static [Layer] {
        match self {
            Self::Every => &[
                Layer::User,
                Layer::Profile,
                Layer::Workspace,
                Layer::WorkspaceProfile,
            ],
            Self::NoProfile => &[Layer::User, Layer::Workspace],
            Self::UserOnly => &[Layer::User],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sorted_unique_and_of_a_known_table() {
        assert!(KEYS.windows(2).all(|pair| pair[0].key < pair[1].key));
        for rule in KEYS {
            let top = rule.key.split('.').next().unwrap_or_default();
            assert!(TABLES.iter().any(|table| table.path == top), "{}", rule.key);
        }
    }
}
