//! Discovery and the directory picker.

use compozy_domain::{CatalogError, limits};
use compozy_proto::workspace::v1 as pb;
use prost::Message as _;

use super::page::{ROOM, framed_len};
use super::workspace::record;
use crate::registry::directory::{DirectoryEntry, DirectoryListing, DirectoryMade};
use crate::registry::{Discovered, DiscoveryMethod, NamedPath};
use crate::seal::Seal;

/// Reads a request for the owner of a path.
///
/// # Errors
/// [`CatalogError`] naming `path`.
pub fn discover(request: pb::DiscoverWorkspaceRequest) -> Result<NamedPath, CatalogError> {
    let pb::DiscoverWorkspaceRequest { path } = request;
    NamedPath::parse(&path, "path")
}

/// Makes the response with the owner.
#[must_use]
pub fn discovered(discovered: Discovered) -> pb::DiscoverWorkspaceResponse {
    let Discovered {
        workspace,
        method,
        canonical_path,
    } = discovered;
    let method = match method {
        DiscoveryMethod::Root => pb::DiscoveryMethod::Root,
        DiscoveryMethod::Ancestor => pb::DiscoveryMethod::Ancestor,
        DiscoveryMethod::SameFile => pb::DiscoveryMethod::SameFile,
    };
    pb::DiscoverWorkspaceResponse {
        workspace: Some(record(&workspace, None)),
        method: method.into(),
        canonical_path,
    }
}

/// Reads a request for child directories; `None` stands for the operator's home.
///
/// # Errors
/// [`CatalogError`] naming `path`.
pub fn list(request: pb::ListDirectoryRequest) -> Result<Option<NamedPath>, CatalogError> {
    let pb::ListDirectoryRequest { path } = request;
    if path.is_empty() {
        return Ok(None);
    }
    NamedPath::parse(&path, "path").map(Some)
}

/// Makes the response with the children, as many as fit.
#[must_use]
pub fn listed(listing: DirectoryListing) -> pb::ListDirectoryResponse {
    let DirectoryListing {
        path,
        entries,
        truncated,
        crumbs,
    } = listing;
    let mut response = pb::ListDirectoryResponse {
        path,
        entries: Vec::with_capacity(entries.len()),
        truncated,
        crumbs: crumbs
            .into_iter()
            .map(|(name, path)| pb::DirectoryCrumb { name, path })
            .collect(),
    };
    let mut room = limits::RESPONSE_BYTES_MAX.saturating_sub(response.encoded_len() + ROOM);
    for DirectoryEntry { name, path, hidden } in entries {
        let entry = pb::DirectoryEntry { name, path, hidden };
        let Some(left) = room.checked_sub(framed_len(&entry)) else {
            response.truncated = true;
            break;
        };
        room = left;
        response.entries.push(entry);
    }
    response
}

/// Reads a request to make a directory. Its name is checked where it is made.
///
/// # Errors
/// [`CatalogError`] naming `parent`.
pub fn create(request: pb::CreateDirectoryRequest) -> Result<(NamedPath, String), CatalogError> {
    let pb::CreateDirectoryRequest {
        parent,
        name,
        request_id: _,
    } = request;
    Ok((NamedPath::parse(&parent, "parent")?, name))
}

/// Makes the response with the new directory.
#[must_use]
pub fn created(_seal: &Seal, made: &DirectoryMade) -> pb::CreateDirectoryResponse {
    let DirectoryMade { path } = made;
    pb::CreateDirectoryResponse { path: path.clone() }
}
