//! What a prune removed, or would remove.

use compozy_client::proto::workspace::v1::PruneWorkspacesResponse;
use serde::Serialize;

use super::workspace::{WorkspaceView, table};
use super::{Answer, Human};

/// `compozy.workspace.v1.PruneWorkspacesResponse`, or all of a row of them.
#[derive(Debug, Serialize)]
pub(crate) struct PruneView {
    workspaces: Vec<WorkspaceView>,
    has_more: bool,
    revision: String,
    /// Whether this only tells what would be.
    #[serde(skip)]
    pub(crate) is_trial: bool,
}

impl From<PruneWorkspacesResponse> for PruneView {
    fn from(answer: PruneWorkspacesResponse) -> Self {
        let PruneWorkspacesResponse {
            workspaces,
            has_more,
            revision,
        } = answer;
        let workspaces = workspaces.into_iter().map(WorkspaceView::from).collect();
        Self {
            workspaces,
            has_more,
            revision,
            is_trial: false,
        }
    }
}

impl PruneView {
    /// Takes over what a further call removed. The first call's revision stays: a watch from there
    /// sees the removals of all of them.
    pub(crate) fn extend(&mut self, further: Self) {
        self.workspaces.extend(further.workspaces);
        self.has_more = further.has_more;
    }

    pub(crate) fn count(&self) -> usize {
        self.workspaces.len()
    }

    pub(crate) fn has_more(&self) -> bool {
        self.has_more
    }
}

impl Answer for PruneView {
    fn human(&self, human: &mut Human) {
        let count = self.workspaces.len();
        let what = if self.is_trial {
            "would be removed"
        } else {
            "removed"
        };
        human.line(&format!("{count} {what}"));
        if count > 0 {
            human.table(&table(&self.workspaces, human));
        }
    }

    fn notes(&self) -> Vec<String> {
        if self.has_more {
            vec!["more are due than one call names".to_owned()]
        } else {
            Vec::new()
        }
    }
}
