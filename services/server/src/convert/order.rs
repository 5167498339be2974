//! Moves in the manual order.

use compozy_domain::{CatalogError, WorkspaceId};
use compozy_proto::workspace::v1 as pb;
use compozy_store::{Moved, Written};

use super::reference::reference;
use crate::registry::MoveWanted;
use crate::resume_token;
use crate::seal::Seal;

/// Reads a request.
///
/// # Errors
/// [`CatalogError`] naming the field.
pub fn wanted(request: pb::MoveWorkspaceRequest) -> Result<MoveWanted, CatalogError> {
    let pb::MoveWorkspaceRequest {
        r#ref,
        before,
        request_id: _,
    } = request;
    let moved = reference(r#ref, "ref")?;
    let before = before
        .map(|anchor| reference(Some(anchor), "before"))
        .transpose()?;
    Ok(MoveWanted {
        reference: moved,
        before,
    })
}

/// Makes the response.
#[must_use]
pub fn answer(seal: &Seal, written: &Written<Moved>) -> pb::MoveWorkspaceResponse {
    let Written {
        value: Moved {
            previous,
            next,
            moved,
        },
        revision,
    } = written;
    let id = |id: &Option<WorkspaceId>| id.as_ref().map(WorkspaceId::to_string).unwrap_or_default();
    pb::MoveWorkspaceResponse {
        previous_id: id(previous),
        next_id: id(next),
        moved: *moved,
        revision: resume_token::encode(seal, revision),
    }
}
