//! What a look at a registered root shows.

use compozy_domain::{CatalogError, DurableId, IdentityFault, PathFault, WorkspaceStatus};

use crate::files::{Directory, DirectoryFault, Files};
use crate::identity::{self, Identity};

/// One look at a root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// What it shows.
    pub status: WorkspaceStatus,
    /// The directory that the root leads to now; its path differs from the root after a link was retargeted.
    pub directory: Option<Directory>,
    /// The identity that it carries, if it can be read.
    pub identity: Option<Identity>,
}

/// Looks at the root of a registration whose durable id is `expected`. Writes nothing.
#[must_use]
pub fn observe(files: &dyn Files, root: &str, expected: &DurableId) -> Observation {
    let directory = match files.directory(root) {
        Ok(directory) => directory,
        Err(fault) => {
            return Observation {
                status: status_of_fault(&fault),
                directory: None,
                identity: None,
            };
        }
    };
    let (status, identity) = match identity::read(files, &directory) {
        Ok(None) => (WorkspaceStatus::IdentityMissing, None),
        Ok(Some(found)) if found.identity.durable_id == *expected => {
            (WorkspaceStatus::Ok, Some(found.identity))
        }
        Ok(Some(found)) => (WorkspaceStatus::IdentityChanged, Some(found.identity)),
        Err(error) => (status_of_error(&error), None),
    };
    Observation {
        status,
        directory: Some(directory),
        identity,
    }
}

fn status_of_fault(fault: &DirectoryFault) -> WorkspaceStatus {
    match fault {
        DirectoryFault::NotFound => WorkspaceStatus::RootMissing,
        DirectoryFault::NotDirectory => WorkspaceStatus::RootNotDirectory,
        DirectoryFault::Loop
        | DirectoryFault::Unreadable
        | DirectoryFault::NotText { .. }
        | DirectoryFault::NameTooLong
        | DirectoryFault::Other { .. } => WorkspaceStatus::RootUnreadable,
    }
}

fn status_of_error(error: &CatalogError) -> WorkspaceStatus {
    match error {
        CatalogError::Identity {
            fault: IdentityFault::Invalid { .. },
            ..
        } => WorkspaceStatus::IdentityInvalid,
        CatalogError::Path {
            fault: PathFault::NotFound,
            ..
        } => WorkspaceStatus::RootMissing,
        CatalogError::Path {
            fault: PathFault::NotDirectory,
            ..
        } => WorkspaceStatus::RootNotDirectory,
        CatalogError::Path { .. } => WorkspaceStatus::RootUnreadable,
        _ => WorkspaceStatus::IdentityUnreadable,
    }
}
