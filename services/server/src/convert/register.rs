//! Registrations.

use compozy_domain::workspace::IdentityPolicy;
use compozy_domain::{CatalogError, WorkspaceName, limits, text};
use compozy_proto::workspace::v1 as pb;

use super::diagnostic::findings;
use super::profile;
use super::workspace::{provisional_record, record};
use crate::registry::NamedPath;
use crate::registry::register::{RegisterWanted, Registration};
use crate::resume_token;
use crate::seal::Seal;

/// Directories that a request may name; duplicates among them count here, not in the record.
const DIRS_NAMED_MAX: usize = limits::BATCH_ITEMS_MAX;

/// Reads a request.
///
/// # Errors
/// [`CatalogError`] naming the field.
pub fn wanted(request: pb::RegisterWorkspaceRequest) -> Result<RegisterWanted, CatalogError> {
    let pb::RegisterWorkspaceRequest {
        path,
        name,
        title,
        additional_dirs,
        default_agent,
        identity_policy,
        reuse_enclosing,
        validate_only,
        request_id: _,
        profile,
    } = request;
    if let Some(title) = &title {
        text::check_title(title, "title")?;
    }
    if let Some(agent) = &default_agent {
        text::check_agent(agent, "default_agent")?;
    }
    Ok(RegisterWanted {
        path: NamedPath::parse(&path, "path")?,
        name: name.as_deref().map(WorkspaceName::parse).transpose()?,
        title,
        additional_dirs: dirs(&additional_dirs, "additional_dirs")?,
        default_agent,
        policy: policy(identity_policy),
        reuse_enclosing,
        validate_only,
        is_default: false,
        profile: profile::asked(profile, None)?.request,
    })
}

/// Reads a list of directories.
pub(super) fn dirs(paths: &[String], field: &str) -> Result<Vec<NamedPath>, CatalogError> {
    if paths.len() > DIRS_NAMED_MAX {
        return Err(CatalogError::invalid_field(
            field,
            "must name at most 1000 directories",
        ));
    }
    NamedPath::parse_all(paths, field)
}

/// Makes the response.
#[must_use]
pub fn answer(seal: &Seal, registration: &Registration) -> pb::RegisterWorkspaceResponse {
    let Registration {
        workspace,
        created,
        provisional,
        relinked_from,
        diagnostics,
    } = registration;
    let row = &workspace.value;
    pb::RegisterWorkspaceResponse {
        workspace: Some(if *provisional {
            provisional_record(row)
        } else {
            record(row, None)
        }),
        created: *created,
        relinked_from: relinked_from.clone(),
        diagnostics: findings(diagnostics),
        revision: resume_token::encode(seal, &workspace.revision),
    }
}

fn policy(value: i32) -> IdentityPolicy {
    match pb::IdentityPolicy::try_from(value).unwrap_or_default() {
        pb::IdentityPolicy::Unspecified | pb::IdentityPolicy::Share => IdentityPolicy::Share,
        pb::IdentityPolicy::Fork => IdentityPolicy::Fork,
        pb::IdentityPolicy::Reject => IdentityPolicy::Reject,
    }
}
