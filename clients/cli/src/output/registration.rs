//! The answers of the commands that change a registration.

use compozy_client::proto::workspace::v1::{
    MoveWorkspaceResponse, RegisterWorkspaceResponse, RelinkWorkspaceResponse, RemoveWorkspaceResponse,
    UpdateWorkspaceResponse,
};
use serde::Serialize;

use super::diagnostic::DiagnosticView;
use super::workspace::{WorkspaceAnswer, WorkspaceView};
use super::{Answer, Human};
use crate::quote;

/// `compozy.workspace.v1.RegisterWorkspaceResponse`.
#[derive(Debug, Serialize)]
pub(crate) struct RegistrationView {
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace: Option<WorkspaceView>,
    created: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    relinked_from: Option<String>,
    diagnostics: Vec<DiagnosticView>,
    revision: String,
    /// Whether this only tells what would be.
    #[serde(skip)]
    pub(crate) is_trial: bool,
}

/// `compozy.workspace.v1.RelinkWorkspaceResponse`.
#[derive(Debug, Serialize)]
pub(crate) struct RelinkView {
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace: Option<WorkspaceView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    relinked_from: Option<String>,
    revision: String,
}

/// `compozy.workspace.v1.MoveWorkspaceResponse`.
#[derive(Debug, Serialize)]
pub(crate) struct MoveView {
    previous_id: String,
    next_id: String,
    moved: bool,
    revision: String,
}

/// `compozy.workspace.v1.RemoveWorkspaceResponse`.
#[derive(Debug, Serialize)]
pub(crate) struct RemovalView {
    id: String,
    kept_session_count: i64,
    deleted_session_count: i64,
    revision: String,
}

impl From<RegisterWorkspaceResponse> for RegistrationView {
    fn from(answer: RegisterWorkspaceResponse) -> Self {
        let RegisterWorkspaceResponse {
            workspace,
            created,
            relinked_from,
            diagnostics,
            revision,
        } = answer;
        Self {
            workspace: workspace.map(WorkspaceView::from),
            created,
            relinked_from,
            diagnostics: diagnostics.into_iter().map(DiagnosticView::from).collect(),
            revision,
            is_trial: false,
        }
    }
}

impl Answer for RegistrationView {
    fn human(&self, human: &mut Human) {
        let Some(workspace) = &self.workspace else { return };
        let (label, root) = (workspace.label(), &workspace.root_dir);
        human.line(&match (&self.relinked_from, self.created, self.is_trial) {
            (Some(from), _, false) => format!("{label} has moved from {from} to {root}"),
            (Some(from), _, true) => format!("{label} would move from {from} to {root}"),
            (None, true, false) => format!("registered {root} as {label}"),
            (None, true, true) => {
                format!(
                    "would register {root} as {}",
                    workspace.name.as_deref().unwrap_or_default()
                )
            }
            (None, false, _) => format!("{root} is registered as {label}"),
        });
        workspace.human(human);
    }

    fn findings(&self) -> Vec<&DiagnosticView> {
        self.diagnostics.iter().collect()
    }

    fn notes(&self) -> Vec<String> {
        if self.is_trial || !self.created {
            return Vec::new();
        }
        let label = self.workspace.as_ref().map(WorkspaceView::label);
        vec![format!(
            "`compozy resolve {}` shows what an agent would see there",
            quote::shell(label.unwrap_or_default())
        )]
    }
}

impl From<UpdateWorkspaceResponse> for WorkspaceAnswer {
    fn from(answer: UpdateWorkspaceResponse) -> Self {
        let UpdateWorkspaceResponse { workspace, revision } = answer;
        Self {
            workspace: workspace.map(WorkspaceView::from),
            revision,
        }
    }
}

impl From<RelinkWorkspaceResponse> for RelinkView {
    fn from(answer: RelinkWorkspaceResponse) -> Self {
        let RelinkWorkspaceResponse {
            workspace,
            relinked_from,
            revision,
        } = answer;
        Self {
            workspace: workspace.map(WorkspaceView::from),
            relinked_from,
            revision,
        }
    }
}

impl Answer for RelinkView {
    fn human(&self, human: &mut Human) {
        let Some(workspace) = &self.workspace else { return };
        human.line(&match &self.relinked_from {
            Some(from) => format!(
                "{} has moved from {from} to {}",
                workspace.label(),
                workspace.root_dir
            ),
            None => format!("{} is at {} already", workspace.label(), workspace.root_dir),
        });
        workspace.human(human);
    }
}

impl From<MoveWorkspaceResponse> for MoveView {
    fn from(answer: MoveWorkspaceResponse) -> Self {
        let MoveWorkspaceResponse {
            previous_id,
            next_id,
            moved,
            revision,
        } = answer;
        Self {
            previous_id,
            next_id,
            moved,
            revision,
        }
    }
}

impl Answer for MoveView {
    fn human(&self, human: &mut Human) {
        human.line(&place(self.moved, &self.previous_id, &self.next_id));
    }
}

/// Where something stands in an order now.
pub(super) fn place(moved: bool, previous: &str, next: &str) -> String {
    let place = match (previous, next) {
        ("", "") => "alone in the order".to_owned(),
        ("", next) => format!("first, before {next}"),
        (previous, "") => format!("last, after {previous}"),
        (previous, next) => format!("between {previous} and {next}"),
    };
    if moved {
        format!("moved: {place}")
    } else {
        format!("already there: {place}")
    }
}

impl From<RemoveWorkspaceResponse> for RemovalView {
    fn from(answer: RemoveWorkspaceResponse) -> Self {
        let RemoveWorkspaceResponse {
            id,
            kept_session_count,
            deleted_session_count,
            revision,
        } = answer;
        Self {
            id,
            kept_session_count,
            deleted_session_count,
            revision,
        }
    }
}

impl Answer for RemovalView {
    fn human(&self, human: &mut Human) {
        let sessions = match (self.kept_session_count, self.deleted_session_count) {
            (0, 0) => String::new(),
            (kept, 0) => format!("; {kept} of its sessions stay, without a workspace"),
            (kept, deleted) => format!("; {deleted} of its sessions are deleted, {kept} stay"),
        };
        human.line(&format!(
            "removed {}{sessions}; its directory was not touched",
            self.id
        ));
    }
}
