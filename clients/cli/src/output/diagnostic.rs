//! Findings that did not make a call fail.

use compozy_client::proto::workspace::v1::Diagnostic;
use serde::Serialize;

/// `compozy.workspace.v1.Diagnostic`.
#[derive(Debug, Serialize)]
pub(crate) struct DiagnosticView {
    pub(crate) code: String,
    pub(crate) severity: &'static str,
    pub(crate) path: String,
    pub(crate) line: i32,
    pub(crate) column: i32,
    pub(crate) message: String,
    pub(crate) remedy: String,
}

impl From<Diagnostic> for DiagnosticView {
    fn from(diagnostic: Diagnostic) -> Self {
        let severity = diagnostic
            .severity()
            .as_str_name()
            .trim_start_matches("SEVERITY_");
        let Diagnostic {
            code,
            severity: _,
            path,
            line,
            column,
            message,
            remedy,
        } = diagnostic;
        Self {
            code,
            severity,
            path,
            line,
            column,
            message,
            remedy,
        }
    }
}

impl DiagnosticView {
    /// One sentence for a person, with what to do.
    pub(crate) fn note(&self) -> String {
        let place = match (self.path.as_str(), self.line) {
            ("", _) => String::new(),
            (path, 0) => format!(" ({path})"),
            (path, line) => format!(" ({path}:{line})"),
        };
        let remedy = if self.remedy.is_empty() {
            String::new()
        } else {
            format!("; {}", self.remedy)
        };
        format!("{}{place}{remedy}", self.message)
    }
}
