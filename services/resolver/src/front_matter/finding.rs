//! Something that was found in one file, before it is known to which layer the file belongs.

use compozy_domain::{Diagnostic, Layer, Severity};

use super::{Place, key_shown};

/// One finding in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Stable code in snake case.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Where, if it is at one place.
    pub place: Option<Place>,
    /// The dotted key.
    pub key: Option<String>,
    /// One sentence without the path.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

impl Finding {
    /// Something that makes the file useless.
    #[must_use]
    pub fn error(
        code: &'static str,
        place: Place,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::new(code, Severity::Error, place, message, remedy)
    }

    /// Something that is probably not what was meant.
    #[must_use]
    pub fn warning(
        code: &'static str,
        place: Place,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::new(code, Severity::Warning, place, message, remedy)
    }

    /// Something worth knowing.
    #[must_use]
    pub fn info(
        code: &'static str,
        place: Place,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::new(code, Severity::Info, place, message, remedy)
    }

    /// About this key, as far as it can be shown.
    #[must_use]
    pub fn about(self, key: &str) -> Self {
        Self {
            key: Some(key_shown(key)),
            ..self
        }
    }

    /// The finding as one about this file.
    #[must_use]
    pub fn into_diagnostic(self, layer: Layer, path: &str) -> Diagnostic {
        let mut found = Diagnostic::new(self.code, self.severity, layer, path, self.message, self.remedy);
        if let Some(Place { line, column }) = self.place {
            found = found.at(line, column);
        }
        match self.key {
            Some(key) => found.about(key),
            None => found,
        }
    }

    fn new(
        code: &'static str,
        severity: Severity,
        place: Place,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            code,
            severity,
            place: Some(place),
            key: None,
            message: message.into(),
            remedy: remedy.into(),
        }
    }
}
