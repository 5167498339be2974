//! What the checks of a home found.

use serde::{Deserialize, Serialize};

use super::table::Cell;
use super::{Answer, Human};

/// The report of `compozyd doctor`.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct DoctorView {
    pub(crate) checks: Vec<CheckView>,
}

/// One check.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct CheckView {
    pub(crate) name: String,
    /// ok, info, warning or error.
    pub(crate) severity: String,
    pub(crate) message: String,
    #[serde(default)]
    pub(crate) remedy: String,
}

impl DoctorView {
    pub(crate) fn found_errors(&self) -> bool {
        self.checks.iter().any(|check| check.severity == "error")
    }
}

impl Answer for DoctorView {
    const ROWS: Option<&'static str> = Some("checks");

    fn human(&self, human: &mut Human) {
        let lines: Vec<(&str, Cell)> = self
            .checks
            .iter()
            .map(|check| (check.severity.as_str(), check.cell()))
            .collect();
        human.fields(&lines);
    }
}

impl CheckView {
    fn cell(&self) -> Cell {
        let remedy = if self.remedy.is_empty() {
            String::new()
        } else {
            format!("; {}", self.remedy)
        };
        let text = format!("{}: {}{remedy}", self.name, self.message);
        match self.severity.as_str() {
            "ok" => Cell::good(text),
            "warning" => Cell::doubtful(text),
            "error" => Cell::bad(text),
            _ => Cell::plain(text),
        }
    }
}
