//! What became of a key that was set in a file.

use compozy_client::proto::admin::v1::SetConfigResponse;
use serde::Serialize;

use super::{Answer, Human};
use crate::quote;

/// `compozy.admin.v1.SetConfigResponse`, or the same of a workspace's file.
#[derive(Debug, Serialize)]
pub(crate) struct SettingView {
    pub(crate) path: String,
    pub(crate) line: i32,
    pub(crate) changed: bool,
    pub(crate) needs_restart: bool,
    /// For people, who want to read what they have done.
    #[serde(skip)]
    pub(crate) key: String,
}

impl SettingView {
    pub(crate) fn new(key: &str, answer: SetConfigResponse) -> Self {
        let SetConfigResponse {
            path,
            line,
            changed,
            needs_restart,
        } = answer;
        Self {
            path,
            line,
            changed,
            needs_restart,
            key: key.to_owned(),
        }
    }
}

impl Answer for SettingView {
    fn human(&self, human: &mut Human) {
        let Self { path, line, key, .. } = self;
        human.line(&match (self.changed, self.line) {
            (true, 0) => format!("{key} is no longer set in {path}"),
            (true, _) => format!("{key} is set in {path}:{line}"),
            (false, 0) => format!("{key} is not set in {path}; nothing was changed"),
            (false, _) => format!("{key} is the same already in {path}:{line}; nothing was changed"),
        });
    }

    fn notes(&self) -> Vec<String> {
        if !self.changed {
            return Vec::new();
        }
        if self.needs_restart {
            let restart =
                "it counts from the next start of the daemon: `compozy daemon stop`, then any command";
            return vec![restart.to_owned()];
        }
        let key = quote::shell(&self.key);
        vec![format!(
            "`compozy config explain {key}` tells what counts in a workspace"
        )]
    }
}
