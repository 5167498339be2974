//! Keys that nobody knows.

use compozy_domain::{Diagnostic, Layer, Severity};

use super::Checked;
use crate::config::key;

/// What unknown keys are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownKeys {
    /// Errors.
    Error,
    /// Warnings.
    Warn,
}

/// One of them.
pub(super) struct Unknown {
    pub(super) key: String,
    pub(super) nearest: Option<String>,
    pub(super) remedy: String,
    pub(super) line: u32,
    pub(super) column: u32,
}

impl Checked {
    /// What is said about the unknown keys.
    pub(in crate::config) fn unknown(
        &self,
        layer: Layer,
        path: &str,
        unknown_keys: UnknownKeys,
    ) -> Vec<Diagnostic> {
        let told = self.unknown.iter().map(|unknown| {
            let meant = match &unknown.nearest {
                Some(nearest) => format!(", did you mean `{nearest}`?"),
                None => String::new(),
            };
            let (severity, how) = match unknown_keys {
                UnknownKeys::Warn => (Severity::Warning, "it has no effect"),
                UnknownKeys::Error => (
                    Severity::Error,
                    "config.unknown_keys = \"warn\" in the user's file lets it pass",
                ),
            };
            let message = format!("unknown key `{}`{meant} ({how})", unknown.key);
            let remedy = unknown.remedy.as_str();
            Diagnostic::new("config_unknown_key", severity, layer, path, message, remedy)
                .at(unknown.line, unknown.column)
                .about(unknown.key.clone())
        });
        told.collect()
    }
}

/// What to do about an unknown key, in words that are right also inside of the table that it stands in.
pub(super) fn remedy(at: &[&str], nearest: Option<&str>) -> String {
    let Some(nearest) = nearest else {
        return "remove it".to_owned();
    };
    let parts = key::split(nearest).unwrap_or_default();
    let (Some((own, above)), Some((word, beside))) = (at.split_last(), parts.split_last()) else {
        return format!("write `{nearest}`, or remove it");
    };
    if above.is_empty() {
        return format!("write `{nearest}`, or remove it");
    }
    if above == beside {
        let [word, own] = [word, *own].map(|word| key::shown([word]));
        return format!("write `{word}` for `{own}`, or remove it");
    }
    format!("set `{nearest}` instead, or remove it")
}
