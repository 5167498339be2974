//! Accounts: requests and their answers.

use compozy_domain::{CatalogError, SessionId, WorkspaceId};
use compozy_proto::workspace::v1 as pb;
use compozy_store::{MovedSession, Regrouped, Written};

use super::super::reference::reference;
use super::lease::id;
use crate::registry::session::accounts::{AttachSessionWanted, DetachSessionWanted, MoveSessionWanted};
use crate::resume_token;
use crate::seal::Seal;

/// Reads a request.
///
/// # Errors
/// [`CatalogError`] naming the field; [`CatalogError::SessionNotFound`] for a text that is no id.
pub fn attach(request: pb::AttachSessionRequest) -> Result<AttachSessionWanted, CatalogError> {
    let pb::AttachSessionRequest {
        workspace,
        session_id,
        request_id: _,
    } = request;
    Ok(AttachSessionWanted {
        workspace: reference(workspace, "workspace")?,
        id: id(session_id)?,
    })
}

/// Makes the response.
#[must_use]
pub fn attached(seal: &Seal, written: &Written<Regrouped>) -> pb::AttachSessionResponse {
    let Written {
        value: Regrouped {
            session,
            from,
            changed,
        },
        revision,
    } = written;
    let workspace = session.session.workspace.as_ref();
    pb::AttachSessionResponse {
        workspace_id: workspace
            .map(|workspace| workspace.id.to_string())
            .unwrap_or_default(),
        from_workspace_id: from.as_ref().map(WorkspaceId::to_string).unwrap_or_default(),
        attached: *changed,
        revision: resume_token::encode(seal, revision),
    }
}

/// Reads a request.
///
/// # Errors
/// As [`attach`].
pub fn detach(request: pb::DetachSessionRequest) -> Result<DetachSessionWanted, CatalogError> {
    let pb::DetachSessionRequest {
        workspace,
        session_id,
        request_id: _,
    } = request;
    let workspace = workspace
        .map(|workspace| reference(Some(workspace), "workspace"))
        .transpose()?;
    Ok(DetachSessionWanted {
        workspace,
        id: id(session_id)?,
    })
}

/// Makes the response.
#[must_use]
pub fn detached(seal: &Seal, written: &Written<Regrouped>) -> pb::DetachSessionResponse {
    let Written {
        value: Regrouped {
            session: _,
            from,
            changed,
        },
        revision,
    } = written;
    pb::DetachSessionResponse {
        from_workspace_id: from.as_ref().map(WorkspaceId::to_string).unwrap_or_default(),
        detached: *changed,
        revision: resume_token::encode(seal, revision),
    }
}

/// Reads a request. Ids that are not well formed are not found in the order of the call: the session, then the anchor.
///
/// # Errors
/// None.
pub fn move_wanted(request: pb::MoveSessionRequest) -> Result<MoveSessionWanted, CatalogError> {
    let pb::MoveSessionRequest {
        session_id,
        before_session_id,
        request_id: _,
    } = request;
    Ok(MoveSessionWanted {
        reference: session_id,
        before: (!before_session_id.is_empty()).then_some(before_session_id),
    })
}

/// Makes the response.
#[must_use]
pub fn moved(seal: &Seal, written: &Written<MovedSession>) -> pb::MoveSessionResponse {
    let Written {
        value: MovedSession {
            previous,
            next,
            moved,
        },
        revision,
    } = written;
    let id = |id: &Option<SessionId>| id.as_ref().map(SessionId::to_string).unwrap_or_default();
    pb::MoveSessionResponse {
        previous_id: id(previous),
        next_id: id(next),
        moved: *moved,
        revision: resume_token::encode(seal, revision),
    }
}
