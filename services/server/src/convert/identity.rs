//! Identity files.

use compozy_domain::CatalogError;
use compozy_proto::workspace::v1 as pb;
use compozy_proto::workspace::v1::{get_identity_request, update_identity_request};
use compozy_resolver::Identity;

use super::reference::reference;
use super::timestamp;
use super::workspace::record;
use crate::registry::NamedPath;
use crate::registry::identity::{
    IdentityAction, IdentityFile, IdentitySeen, IdentitySettled, IdentityTarget, IdentityWanted,
};
use crate::resume_token;
use crate::seal::Seal;

/// Reads a request for an identity file.
///
/// # Errors
/// [`CatalogError`] naming the field.
pub fn target(request: pb::GetIdentityRequest) -> Result<IdentityTarget, CatalogError> {
    let pb::GetIdentityRequest { target } = request;
    match target {
        None => Err(no_target()),
        Some(get_identity_request::Target::Ref(named)) => by_reference(named),
        Some(get_identity_request::Target::Path(path)) => by_path(&path),
    }
}

/// Reads a request to settle one.
///
/// # Errors
/// [`CatalogError`] naming the field.
pub fn wanted(request: pb::UpdateIdentityRequest) -> Result<IdentityWanted, CatalogError> {
    let pb::UpdateIdentityRequest {
        target,
        action,
        force,
        request_id: _,
    } = request;
    let target = match target {
        None => return Err(no_target()),
        Some(update_identity_request::Target::Ref(named)) => by_reference(named)?,
        Some(update_identity_request::Target::Path(path)) => by_path(&path)?,
    };
    let action = match pb::IdentityAction::try_from(action).unwrap_or_default() {
        pb::IdentityAction::Accept => IdentityAction::Accept,
        pb::IdentityAction::Restore => IdentityAction::Restore,
        pb::IdentityAction::Repair => IdentityAction::Repair { force },
        pb::IdentityAction::Fork => IdentityAction::Fork,
        pb::IdentityAction::Unspecified => {
            return Err(CatalogError::invalid_field(
                "action",
                "must be ACCEPT, RESTORE, REPAIR or FORK",
            ));
        }
    };
    Ok(IdentityWanted { target, action })
}

/// Makes the response for a file that was read.
#[must_use]
pub fn seen(seen: IdentitySeen) -> pb::GetIdentityResponse {
    let IdentitySeen { file, workspace } = seen;
    pb::GetIdentityResponse {
        identity: file.as_ref().map(identity),
        workspace: workspace.as_ref().map(|workspace| record(workspace, None)),
    }
}

/// Makes the response for one that was settled.
#[must_use]
pub fn answer(seal: &Seal, settled: &IdentitySettled) -> pb::UpdateIdentityResponse {
    let IdentitySettled {
        file,
        workspace,
        file_written,
        revision,
    } = settled;
    pb::UpdateIdentityResponse {
        identity: Some(identity(file)),
        workspace: workspace.as_ref().map(|workspace| record(workspace, None)),
        file_written: *file_written,
        revision: resume_token::encode(seal, revision),
    }
}

fn identity(file: &IdentityFile) -> pb::WorkspaceIdentity {
    let IdentityFile { path, identity } = file;
    let Identity {
        durable_id,
        created_at,
        realpath_at_creation,
        forked_from,
    } = identity;
    pb::WorkspaceIdentity {
        path: path.clone(),
        durable_id: durable_id.to_string(),
        created_at: Some(timestamp(*created_at)),
        realpath_at_creation: realpath_at_creation.clone(),
        forked_from: forked_from.as_ref().map(ToString::to_string).unwrap_or_default(),
    }
}

fn by_reference(named: pb::WorkspaceRef) -> Result<IdentityTarget, CatalogError> {
    Ok(IdentityTarget::Reference(reference(Some(named), "ref")?))
}

fn by_path(path: &str) -> Result<IdentityTarget, CatalogError> {
    Ok(IdentityTarget::Path(NamedPath::parse(path, "path")?))
}

fn no_target() -> CatalogError {
    CatalogError::invalid_field("ref", "must name a workspace, or path a directory")
}
