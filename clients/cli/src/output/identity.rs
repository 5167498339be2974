//! Identity files.

use compozy_client::proto::workspace::v1::{
    GetIdentityResponse, UpdateIdentityResponse, WorkspaceIdentity as IdentityMessage,
};
use serde::Serialize;

use super::table::Cell;
use super::time::Time;
use super::workspace::WorkspaceView;
use super::{Answer, Human};

/// `compozy.workspace.v1.WorkspaceIdentity`.
#[derive(Debug, Serialize)]
pub(crate) struct IdentityFileView {
    path: String,
    durable_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<Time>,
    realpath_at_creation: String,
    forked_from: String,
}

/// `compozy.workspace.v1.GetIdentityResponse`.
#[derive(Debug, Serialize)]
pub(crate) struct IdentityView {
    #[serde(skip_serializing_if = "Option::is_none")]
    identity: Option<IdentityFileView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace: Option<WorkspaceView>,
}

/// `compozy.workspace.v1.UpdateIdentityResponse`.
#[derive(Debug, Serialize)]
pub(crate) struct IdentityUpdateView {
    #[serde(flatten)]
    shown: IdentityView,
    file_written: bool,
    revision: String,
}

impl From<IdentityMessage> for IdentityFileView {
    fn from(identity: IdentityMessage) -> Self {
        let IdentityMessage {
            path,
            durable_id,
            created_at,
            realpath_at_creation,
            forked_from,
        } = identity;
        let created_at = created_at.and_then(|time| Time::new(time.seconds, time.nanos));
        Self {
            path,
            durable_id,
            created_at,
            realpath_at_creation,
            forked_from,
        }
    }
}

impl From<GetIdentityResponse> for IdentityView {
    fn from(answer: GetIdentityResponse) -> Self {
        let GetIdentityResponse { identity, workspace } = answer;
        Self {
            identity: identity.map(IdentityFileView::from),
            workspace: workspace.map(WorkspaceView::from),
        }
    }
}

impl From<UpdateIdentityResponse> for IdentityUpdateView {
    fn from(answer: UpdateIdentityResponse) -> Self {
        let UpdateIdentityResponse {
            identity,
            workspace,
            file_written,
            revision,
        } = answer;
        let shown = IdentityView::from(GetIdentityResponse { identity, workspace });
        Self {
            shown,
            file_written,
            revision,
        }
    }
}

impl Answer for IdentityView {
    fn human(&self, human: &mut Human) {
        let mut fields = Vec::new();
        match &self.identity {
            Some(file) => fields.extend([
                ("file", Cell::plain(&file.path)),
                ("identity", Cell::plain(&file.durable_id)),
                ("created", human.time(file.created_at)),
                ("first at", Cell::plain(&file.realpath_at_creation)),
                ("forked from", Cell::plain(&file.forked_from)),
            ]),
            None => human.line("there is no identity file"),
        }
        if let Some(workspace) = &self.workspace {
            let is_other = self
                .identity
                .as_ref()
                .is_some_and(|file| file.durable_id != workspace.durable_id);
            fields.extend([
                (
                    "workspace",
                    Cell::plain(format!("{} ({})", workspace.label(), workspace.id)),
                ),
                (
                    "registered as",
                    Cell::bad(if is_other {
                        workspace.durable_id.as_str()
                    } else {
                        ""
                    }),
                ),
                (
                    "shared with",
                    Cell::doubtful(workspace.shares_identity_with.join(", ")),
                ),
            ]);
        }
        human.fields(&fields);
    }
}

impl Answer for IdentityUpdateView {
    fn human(&self, human: &mut Human) {
        human.line(if self.file_written {
            "the identity file was written"
        } else {
            "the identity file stays as it is"
        });
        self.shown.human(human);
    }
}
