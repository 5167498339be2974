//! The workspace that a command is about, once it is known, and how the caller's own session bears on it.

use compozy_client::proto::workspace::v1::workspace_ref::Form;
use compozy_client::proto::workspace::v1::{GetWorkspaceRequest, WorkspaceRef};
use compozy_client::{Client, Error, ErrorReason};

use super::Source;
use super::session::{self, Own};
use crate::app::App;
use crate::failure::Failure;

/// The workspace to ask for.
#[derive(Debug)]
pub(crate) struct Selected {
    pub(crate) reference: WorkspaceRef,
    pub(super) source: Source,
    /// It is another workspace than that of the session that the caller itself runs in.
    pub(super) crosses: bool,
}

impl Selected {
    /// How it is told that the current directory decided.
    pub(crate) const OF_DIRECTORY: &str = "cwd";

    /// Where the answer came from, as programs are told it.
    pub(crate) fn resolution_source(&self) -> &'static str {
        if self.crosses {
            "cross_workspace_attempt"
        } else {
            self.source.name()
        }
    }

    /// Says where the reference came from when it failed and stands nowhere in the command.
    pub(crate) fn failure(&self, error: Error) -> Failure {
        let is_about_it = is_about_reference(&error);
        let failure = Failure::from(error).with("resolution_source", self.resolution_source());
        match self.source {
            _ if !is_about_it => failure,
            Source::Environment => failure.saying("(the reference comes from COMPOZY_WORKSPACE)"),
            Source::Flag => failure.saying("(the reference comes from --workspace)"),
            Source::SessionIdentity => failure.saying("(the workspace is that of your own session)"),
            Source::Positional | Source::Directory => failure,
        }
    }
}

/// The workspace of the caller's own session; a note says why it does not count where there is one.
pub(super) async fn own_workspace(app: &App, client: &Client) -> Result<Option<Selected>, Failure> {
    match session::ask(app, client).await? {
        Own::Workspace { id, .. } => Ok(Some(Selected {
            reference: WorkspaceRef {
                form: Some(Form::Id(id)),
            },
            source: Source::SessionIdentity,
            crosses: false,
        })),
        Own::Nothing(None) => Ok(None),
        Own::Nothing(Some(why)) => {
            app.printer
                .note(&format!("{why}; the current directory decides instead"));
            Ok(None)
        }
    }
}

/// Whether a reference leads out of the caller's own workspace, however it is spelled. What cannot be told is no
/// reason to refuse anything: the command itself will meet the same failure.
pub(super) async fn crosses(app: &App, client: &Client, reference: &WorkspaceRef) -> bool {
    let Ok(Own::Workspace { id, session_id }) = session::ask(app, client).await else {
        return false;
    };
    let request = GetWorkspaceRequest {
        r#ref: Some(reference.clone()),
        include_status: false,
    };
    let answer = app
        .wait("looking for the workspace", client.get_workspace(request))
        .await;
    let Ok(Some(named)) = answer.map(|answer| answer.workspace) else {
        return false;
    };
    if named.id == id {
        return false;
    }
    app.printer.note(&format!(
        "{} is another workspace than that of your own session {session_id}",
        named.name.unwrap_or(named.id)
    ));
    true
}

/// Whether a reference can be what is wrong; a session, a profile, an agent or a file's content has other causes.
fn is_about_reference(error: &Error) -> bool {
    match error.reason() {
        ErrorReason::ProfileNotFound
        | ErrorReason::ProfileArchived
        | ErrorReason::AgentNotFound
        | ErrorReason::DefinitionNotFound
        | ErrorReason::FingerprintStale
        | ErrorReason::ConfigInvalid
        | ErrorReason::MessageTooLarge
        | ErrorReason::CursorInvalid
        | ErrorReason::SessionNotFound
        | ErrorReason::SessionIdConflict => false,
        ErrorReason::InvalidField => {
            let field = error.metadata().get("field").map(String::as_str);
            field.is_none_or(|field| field.contains("ref") || field.contains("workspace"))
        }
        _ => true,
    }
}
