//! Relinking.

use compozy_domain::CatalogError;
use compozy_proto::workspace::v1 as pb;

use super::reference::reference;
use super::workspace::record;
use crate::registry::{NamedPath, RelinkWanted, Relinked};
use crate::resume_token;
use crate::seal::Seal;

/// Reads a request.
///
/// # Errors
/// [`CatalogError`] naming the field.
pub fn wanted(request: pb::RelinkWorkspaceRequest) -> Result<RelinkWanted, CatalogError> {
    let pb::RelinkWorkspaceRequest {
        r#ref,
        path,
        force,
        etag,
        validate_only,
        request_id: _,
    } = request;
    Ok(RelinkWanted {
        reference: reference(r#ref, "ref")?,
        path: NamedPath::parse(&path, "path")?,
        force,
        etag: super::etag(etag)?,
        validate_only,
    })
}

/// Makes the response.
#[must_use]
pub fn answer(seal: &Seal, relinked: &Relinked) -> pb::RelinkWorkspaceResponse {
    let Relinked { workspace, from } = relinked;
    pb::RelinkWorkspaceResponse {
        workspace: Some(record(&workspace.value, None)),
        relinked_from: from.clone(),
        revision: resume_token::encode(seal, &workspace.revision),
    }
}
