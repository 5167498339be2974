//! Removals.

use compozy_domain::CatalogError;
use compozy_proto::workspace::v1 as pb;
use compozy_store::{Removed, Written};

use super::count;
use super::reference::reference;
use crate::registry::RemoveWanted;
use crate::resume_token;
use crate::seal::Seal;

/// Reads a request.
///
/// # Errors
/// [`CatalogError`] naming the field.
pub fn wanted(request: pb::RemoveWorkspaceRequest) -> Result<RemoveWanted, CatalogError> {
    let pb::RemoveWorkspaceRequest {
        r#ref,
        sessions,
        live,
        allow_missing,
        etag,
        request_id: _,
    } = request;
    let delete_sessions = match pb::RemovedSessions::try_from(sessions).unwrap_or_default() {
        pb::RemovedSessions::Unspecified | pb::RemovedSessions::Keep => false,
        pb::RemovedSessions::Delete => true,
    };
    let ungroup_live = match pb::LiveSessions::try_from(live).unwrap_or_default() {
        pb::LiveSessions::Unspecified | pb::LiveSessions::Refuse => false,
        pb::LiveSessions::Ungroup => true,
    };
    Ok(RemoveWanted {
        reference: reference(r#ref, "ref")?,
        etag: super::etag(etag)?,
        allow_missing,
        delete_sessions,
        ungroup_live,
    })
}

/// Makes the response.
#[must_use]
pub fn answer(seal: &Seal, written: &Written<Removed>) -> pb::RemoveWorkspaceResponse {
    let Written {
        value:
            Removed {
                workspace,
                kept_session_count,
                deleted_session_count,
            },
        revision,
    } = written;
    pb::RemoveWorkspaceResponse {
        id: workspace
            .as_ref()
            .map(|workspace| workspace.id.to_string())
            .unwrap_or_default(),
        kept_session_count: count(*kept_session_count),
        deleted_session_count: count(*deleted_session_count),
        revision: resume_token::encode(seal, revision),
    }
}
