//! Identity files: reading one, and settling a difference between one and its registration.

mod settle;

use std::sync::Arc;

use compozy_domain::error::RootFault;
use compozy_domain::{CatalogError, Revision, Workspace};
use compozy_resolver::files::DirectoryFault;
use compozy_resolver::identity::{self, Found};
use compozy_resolver::{Directory, Identity};

use super::{Caller, NamedPath, Reference, Registry, Reply, WriteCall};

/// Whose identity file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdentityTarget {
    /// The root of a workspace.
    Reference(Reference),
    /// A directory, registered or not.
    Path(NamedPath),
}

/// How to settle an identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentityAction {
    /// The row takes the file's id.
    Accept,
    /// The file gets the row's id again.
    Restore,
    /// A missing file is made; an invalid one is replaced with force.
    Repair {
        /// Whether to replace an invalid file.
        force: bool,
    },
    /// File and row get a new id.
    Fork,
}

/// A settling that a caller wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityWanted {
    /// Whose file.
    pub target: IdentityTarget,
    /// What to do.
    pub action: IdentityAction,
}

/// An identity file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityFile {
    /// Its absolute path.
    pub path: String,
    /// What it says.
    pub identity: Identity,
}

/// An identity file and the registration of its directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentitySeen {
    /// The file, if there is one.
    pub file: Option<IdentityFile>,
    /// The registration, if the caller may see one.
    pub workspace: Option<Workspace>,
}

/// What became of an identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentitySettled {
    /// The file as it is now.
    pub file: IdentityFile,
    /// The registration as it is now.
    pub workspace: Option<Workspace>,
    /// Whether the file was written.
    pub file_written: bool,
    /// A position of the change log before this write.
    pub revision: Revision,
}

/// The directory of a target and its registration.
#[derive(Debug)]
struct Place {
    root: Directory,
    row: Option<Workspace>,
}

impl Registry {
    /// Reads the identity file of a registration or directory.
    ///
    /// # Errors
    /// [`CatalogError`] of references, paths, roots and identity files.
    pub async fn get_identity(
        &self,
        caller: &Caller,
        target: &IdentityTarget,
    ) -> Result<IdentitySeen, CatalogError> {
        let Place { root, row } = self.place(caller, target, false).await?;
        let found = self.read_identity(caller, &root).await?;
        let file = found.map(|found| file_of(&root, found.identity));
        Ok(IdentitySeen { file, workspace: row })
    }

    /// Settles an identity.
    ///
    /// # Errors
    /// As [`Registry::get_identity`], [`CatalogError::IdentityMismatch`], [`CatalogError::DiskFull`].
    pub async fn update_identity(
        self: Arc<Self>,
        call: WriteCall<IdentitySettled>,
        wanted: IdentityWanted,
    ) -> Result<Reply<IdentitySettled>, CatalogError> {
        self.carry_out(call, move |registry, call| async move {
            registry.settle_identity(&call, &wanted).await
        })
        .await
    }

    async fn place(
        &self,
        caller: &Caller,
        target: &IdentityTarget,
        to_write: bool,
    ) -> Result<Place, CatalogError> {
        self.require_host()?;
        match target {
            IdentityTarget::Reference(reference) => {
                let row = self.find(caller, reference).await?;
                self.require_own(&row)?;
                let root = self.root_of(caller, &row).await?;
                if root.path == row.root_dir {
                    return Ok(Place { root, row: Some(row) });
                }
                // A link took the place of the root: where it leads was never admitted.
                let led = NamedPath::parse(&row.root_dir, reference.field.clone())?;
                let root = self.admit_place(caller, &led, to_write).await?;
                Ok(Place { root, row: Some(row) })
            }
            IdentityTarget::Path(path) => {
                let root = self.admit_place(caller, path, to_write).await?;
                let row = self.registered_as(caller, &root).await?;
                let row = row.filter(|row| caller.principal.visibility.includes(&row.id));
                Ok(Place { root, row })
            }
        }
    }

    /// The directory of a path whose file is read, or is to be written.
    async fn admit_place(
        &self,
        caller: &Caller,
        path: &NamedPath,
        to_write: bool,
    ) -> Result<Directory, CatalogError> {
        if to_write {
            self.admit_root(caller, path).await
        } else {
            self.admit(caller, path).await
        }
    }

    /// The directory that a registration's root is now.
    async fn root_of(&self, caller: &Caller, row: &Workspace) -> Result<Directory, CatalogError> {
        let root = row.root_dir.clone();
        let found = self
            .look(caller.deadline, move |files| files.directory(&root))
            .await?;
        found.map_err(|fault| {
            let fault = match fault {
                DirectoryFault::NotFound => RootFault::Missing,
                DirectoryFault::NotDirectory => RootFault::NotDirectory,
                _ => RootFault::Unreadable,
            };
            CatalogError::Root {
                root: row.root_dir.clone(),
                fault,
            }
        })
    }

    async fn read_identity(&self, caller: &Caller, root: &Directory) -> Result<Option<Found>, CatalogError> {
        let looked_at = root.clone();
        self.look(caller.deadline, move |files| identity::read(files, &looked_at))
            .await?
    }
}

fn file_of(root: &Directory, identity: Identity) -> IdentityFile {
    IdentityFile {
        path: identity::file_path(&root.path),
        identity,
    }
}
