//! The answers of the calls that move sessions between accounts and within one.

use compozy_client::proto::workspace::v1::{
    AttachSessionResponse, DetachSessionResponse, MoveSessionResponse,
};
use serde::Serialize;

use super::{Answer, Human};

/// `compozy.workspace.v1.AttachSessionResponse`.
#[derive(Debug, Serialize)]
pub(crate) struct AttachmentView {
    workspace_id: String,
    from_workspace_id: String,
    attached: bool,
    revision: String,
}

/// `compozy.workspace.v1.DetachSessionResponse`.
#[derive(Debug, Serialize)]
pub(crate) struct DetachmentView {
    from_workspace_id: String,
    detached: bool,
    revision: String,
}

/// `compozy.workspace.v1.MoveSessionResponse`.
#[derive(Debug, Serialize)]
pub(crate) struct SessionMoveView {
    previous_id: String,
    next_id: String,
    moved: bool,
    revision: String,
}

impl From<AttachSessionResponse> for AttachmentView {
    fn from(answer: AttachSessionResponse) -> Self {
        let AttachSessionResponse {
            workspace_id,
            from_workspace_id,
            attached,
            revision,
        } = answer;
        Self {
            workspace_id,
            from_workspace_id,
            attached,
            revision,
        }
    }
}

impl Answer for AttachmentView {
    fn human(&self, human: &mut Human) {
        let to = &self.workspace_id;
        human.line(&match (self.attached, self.from_workspace_id.as_str()) {
            (false, _) => format!("it is on the account of {to} already"),
            (true, from) if from.is_empty() || from == to => format!("attached to {to}"),
            (true, from) => format!("attached to {to}, from {from}"),
        });
    }
}

impl From<DetachSessionResponse> for DetachmentView {
    fn from(answer: DetachSessionResponse) -> Self {
        let DetachSessionResponse {
            from_workspace_id,
            detached,
            revision,
        } = answer;
        Self {
            from_workspace_id,
            detached,
            revision,
        }
    }
}

impl Answer for DetachmentView {
    fn human(&self, human: &mut Human) {
        human.line(&if self.detached {
            format!(
                "detached from {}; it stays, without a workspace",
                self.from_workspace_id
            )
        } else {
            "it is not on that account, and nothing was changed".to_owned()
        });
    }
}

impl From<MoveSessionResponse> for SessionMoveView {
    fn from(answer: MoveSessionResponse) -> Self {
        let MoveSessionResponse {
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

impl Answer for SessionMoveView {
    fn human(&self, human: &mut Human) {
        human.line(&super::registration::place(
            self.moved,
            &self.previous_id,
            &self.next_id,
        ));
    }
}
