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
    let ([own], Some(parts)) = (&at[at.len().saturating_sub(1)..], key::split(nearest)) else {
        return "remove it".to_owned();
    };
    let is_beside = parts.len() == at.len() && at.iter().zip(&parts).filter(|(at, part)| at == part).count() + 1 == at.len();
    match parts.last() {
        _ if at.len() == 1 => format!("write `{nearest}`, or remove it"),
        Some(word) if is_beside => {
            let [word, own] = [word, *own].map(|word| key::shown([word]));
            format!("write `{word}` for `{own}`, or remove it")
        }
        _ => format!("set `{nearest}` instead, or remove it"),
    }
}
