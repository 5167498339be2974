//! One `config.toml` alone: for the daemon's own settings, and for checking a file before it is used.

use std::fmt;

use compozy_domain::{Diagnostic, Layer};

use super::check::{UnknownKeys, check};
use super::key;
use super::problem::shorten;
use super::read::read;
use crate::node::Node;

/// What a check of one file found, sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileCheck {
    /// With any of these the file can't be used.
    pub problems: Vec<Diagnostic>,
    /// Unknown keys that pass.
    pub warnings: Vec<Diagnostic>,
}

/// A file that can be used: checked, and without unknown keys. Holds secrets.
#[derive(Clone, PartialEq)]
pub struct ConfigFile {
    node: Node,
}

/// Checks a `config.toml`. What unknown keys are, the user's file says for itself; in any other they are errors.
#[must_use]
pub fn check_file(layer: Layer, path: &str, bytes: &[u8]) -> FileCheck {
    examine(layer, path, bytes, None).1
}

/// Checks a `config.toml` of a layer above the user's, which says what unknown keys are.
#[must_use]
pub fn check_file_with(layer: Layer, path: &str, bytes: &[u8], unknown_keys: UnknownKeys) -> FileCheck {
    examine(layer, path, bytes, Some(unknown_keys)).1
}

/// Reads the user's `config.toml` for the daemon. Answers the warnings besides.
///
/// # Errors
/// Everything that is wrong with it, sorted.
pub fn read_user_file(path: &str, bytes: &[u8]) -> Result<(ConfigFile, Vec<Diagnostic>), Vec<Diagnostic>> {
    let (file, found) = examine(Layer::User, path, bytes, None);
    if found.problems.is_empty() {
        Ok((file, found.warnings))
    } else {
        Err(found.problems)
    }
}

impl ConfigFile {
    /// What the file says about a dotted key, and where.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node> {
        let parts = key::split(key)?;
        parts.iter().try_fold(&self.node, |node, part| node.get(part))
    }

    /// What unknown keys are for all files.
    #[must_use]
    pub fn unknown_keys(&self) -> UnknownKeys {
        match self.get("config.unknown_keys").and_then(Node::as_text) {
            Some("warn") => UnknownKeys::Warn,
            _ => UnknownKeys::Error,
        }
    }
}

impl fmt::Debug for ConfigFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ConfigFile").finish_non_exhaustive()
    }
}

/// Everything about one file; without a word about unknown keys, it says itself what they are.
pub(super) fn examine(
    layer: Layer,
    path: &str,
    bytes: &[u8],
    unknown_keys: Option<UnknownKeys>,
) -> (ConfigFile, FileCheck) {
    let parsed = read(layer, path, bytes);
    let checked = check(layer, path, &parsed.node);
    let unknown_keys = unknown_keys.unwrap_or(checked.unknown_keys());
    let mut unknown = checked.unknown(layer, path, unknown_keys);
    let mut problems = [parsed.problems, checked.problems].concat();
    shorten(&mut problems);
    shorten(&mut unknown);
    let mut warnings = Vec::new();
    match unknown_keys {
        UnknownKeys::Error => problems.append(&mut unknown),
        UnknownKeys::Warn => warnings = unknown,
    }
    Diagnostic::sort(&mut problems);
    Diagnostic::sort(&mut warnings);
    let file = ConfigFile { node: checked.node };
    (file, FileCheck { problems, warnings })
}
