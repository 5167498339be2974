//! A script for a shell.

use serde::Serialize;

use super::{Answer, Human};

/// What `completion` prints: the bare script, or an object that holds it.
#[derive(Debug, Serialize)]
pub(crate) struct ScriptView {
    pub(crate) shell: String,
    pub(crate) script: String,
}

impl Answer for ScriptView {
    fn human(&self, human: &mut Human) {
        human.verbatim(&self.script);
    }
}
