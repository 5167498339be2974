//! What the daemon's program reports by itself, as the API would have it.

use compozy_client::proto::workspace::v1::{Diagnostic, Layer, Severity};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::diagnostic::DiagnosticView;
use super::{Answer, Human};
use crate::failure::Failure;

/// What `config validate` prints for programs.
#[derive(Debug, Serialize)]
pub(crate) struct ValidationView {
    diagnostics: Vec<DiagnosticView>,
}

/// What `config schema` prints for programs.
#[derive(Debug, Serialize)]
pub(crate) struct SchemaView {
    keys: Vec<Map<String, Value>>,
}

/// A finding as `compozyd validate` has it: words in lower case, null where nothing is known.
#[derive(Debug, Deserialize)]
struct Finding {
    path: String,
    line: Option<i32>,
    column: Option<i32>,
    code: String,
    severity: String,
    layer: Option<String>,
    key: Option<String>,
    profile: Option<String>,
    message: String,
    remedy: String,
}

/// What `compozyd schema` prints.
#[derive(Debug, Deserialize)]
struct Schema {
    keys: Vec<Map<String, Value>>,
}

impl ValidationView {
    /// From one JSON object a line.
    pub(crate) fn read(text: &[u8]) -> Result<Self, Failure> {
        let findings = serde_json::Deserializer::from_slice(text).into_iter::<Finding>();
        let diagnostics: Result<Vec<_>, _> = findings.map(|found| Ok(found?.into())).collect();
        let diagnostics = diagnostics.map_err(|error: serde_json::Error| unreadable(&error))?;
        Ok(Self { diagnostics })
    }
}

impl SchemaView {
    /// From one JSON object. What a key does not have is absent.
    pub(crate) fn read(text: &[u8]) -> Result<Self, Failure> {
        let Schema { mut keys } = serde_json::from_slice(text).map_err(|error| unreadable(&error))?;
        for key in &mut keys {
            key.retain(|_, value| !value.is_null());
        }
        Ok(Self { keys })
    }

    /// The keys themselves.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = self.keys.iter().filter_map(|key| key.get("key")?.as_str());
        names.map(str::to_owned).collect()
    }
}

impl From<Finding> for DiagnosticView {
    fn from(found: Finding) -> Self {
        let upper = |word: Option<String>| word.unwrap_or_default().to_uppercase();
        let severity = format!("SEVERITY_{}", found.severity.to_uppercase());
        let layer = format!("LAYER_{}", upper(found.layer));
        Self::from(Diagnostic {
            code: found.code,
            severity: Severity::from_str_name(&severity).unwrap_or_default().into(),
            path: found.path,
            line: found.line.unwrap_or_default(),
            column: found.column.unwrap_or_default(),
            message: found.message,
            remedy: found.remedy,
            layer: Layer::from_str_name(&layer).unwrap_or_default().into(),
            key: found.key.unwrap_or_default(),
            profile: found.profile.unwrap_or_default(),
        })
    }
}

impl Answer for ValidationView {
    const ROWS: Option<&'static str> = Some("diagnostics");

    /// People get the lines of the daemon's program as they are.
    fn human(&self, human: &mut Human) {
        super::diagnostic::write(human, &self.diagnostics.iter().collect::<Vec<_>>());
    }
}

impl Answer for SchemaView {
    const ROWS: Option<&'static str> = Some("keys");

    /// People get the table of the daemon's program as it is.
    fn human(&self, human: &mut Human) {
        for name in self.names() {
            human.line(&name);
        }
    }
}

fn unreadable(error: &serde_json::Error) -> Failure {
    Failure::defect(format!(
        "compozyd gave no report that this release can read: {error}"
    ))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_finding_becomes_that_of_the_api() {
        let line = r#"{"path":"/w/c.toml","line":4,"column":null,"code":"c","severity":"warning",
            "layer":"workspace_profile","key":null,"profile":"p","message":"m","remedy":""}"#;
        let view = ValidationView::read(format!("{line}\n{line}\n").as_bytes()).unwrap();
        let json = serde_json::to_value(&view.diagnostics[1]).unwrap();
        let expected = serde_json::json!({"code": "c", "severity": "WARNING", "path": "/w/c.toml", "line": 4,
            "column": 0, "message": "m", "remedy": "", "layer": "WORKSPACE_PROFILE", "key": "", "profile": "p"});
        assert_eq!(json, expected);
        assert!(ValidationView::read(b"").unwrap().diagnostics.is_empty());
        assert!(ValidationView::read(b"no").is_err());
    }

    #[test]
    fn a_key_without_a_default_has_none() {
        let view = SchemaView::read(br#"{"keys":[{"key":"a","default":null}]}"#).unwrap();
        assert_eq!(
            serde_json::to_value(&view).unwrap(),
            serde_json::json!({"keys": [{"key": "a"}]})
        );
    }
}
