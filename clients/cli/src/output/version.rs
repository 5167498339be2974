//! The version of this command.

use serde::Serialize;

use super::{Answer, Human};

/// What `version` prints.
#[derive(Debug, Serialize)]
pub(crate) struct VersionView {
    pub(crate) version: &'static str,
}

impl Answer for VersionView {
    fn human(&self, human: &mut Human) {
        human.line(&format!("compozy {}", self.version));
    }
}
