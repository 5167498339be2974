//! Changing a record.

use compozy_domain::workspace::{DirsUpdate, RemovedDir, WorkspaceUpdate};
use compozy_domain::{CatalogError, Etag, Workspace, WorkspaceName};
use compozy_store::{Update, Written};

use super::{Caller, NamedPath, Reference, Registry, Reply, WriteCall};

/// A change that a caller wants. What is `None` stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateWanted {
    /// Which record.
    pub reference: Reference,
    /// The handle.
    pub name: Option<WorkspaceName>,
    /// Display text.
    pub title: Option<String>,
    /// Agent of new sessions.
    pub default_agent: Option<String>,
    /// The additional directories.
    pub dirs: DirsWanted,
    /// Only in this state.
    pub etag: Option<Etag>,
    /// Only try.
    pub validate_only: bool,
}

/// A change of the additional directories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DirsWanted {
    /// They stay.
    Keep,
    /// These instead.
    Replace(Vec<NamedPath>),
    /// First some are taken away, then some are added at the end.
    Delta {
        /// Directories to add.
        add: Vec<NamedPath>,
        /// Directories to take away. They need not exist any more.
        remove: Vec<NamedPath>,
    },
}

impl Registry {
    /// Changes a record. A change of nothing writes nothing.
    ///
    /// # Errors
    /// [`CatalogError`] of references, names, etags and, for added directories, of paths.
    pub async fn update(
        self: std::sync::Arc<Self>,
        call: WriteCall<Written<Workspace>>,
        wanted: UpdateWanted,
    ) -> Result<Reply<Written<Workspace>>, CatalogError> {
        self.carry_out(call, move |registry, call| async move {
            registry.update_now(&call, wanted).await
        })
        .await
    }

    async fn update_now(
        &self,
        call: &WriteCall<Written<Workspace>>,
        wanted: UpdateWanted,
    ) -> Result<Reply<Written<Workspace>>, CatalogError> {
        let UpdateWanted {
            reference,
            name,
            title,
            default_agent,
            dirs,
            etag,
            validate_only,
        } = wanted;
        let workspace = self.find(&call.caller, &reference).await?;
        let dirs = self.canonical_dirs(&call.caller, &workspace, dirs).await?;
        let id = workspace.id.clone();
        let update = Update {
            id: workspace.id,
            etag,
            update: WorkspaceUpdate {
                name,
                title,
                default_agent,
                dirs,
            },
            validate_only,
        };
        let reply = self
            .write(call, Written::clone, |call| self.store.update(update, call))
            .await;
        self.resolution.forget(&id);
        reply
    }

    async fn canonical_dirs(
        &self,
        caller: &Caller,
        workspace: &Workspace,
        wanted: DirsWanted,
    ) -> Result<DirsUpdate, CatalogError> {
        let (add, remove) = match wanted {
            DirsWanted::Keep => return Ok(DirsUpdate::Keep),
            DirsWanted::Replace(dirs) if dirs.is_empty() => return Ok(DirsUpdate::Replace(Vec::new())),
            DirsWanted::Replace(dirs) => {
                self.require_own(workspace)?;
                return Ok(DirsUpdate::Replace(self.admit_all(caller, &dirs).await?));
            }
            DirsWanted::Delta { add, remove } => (add, remove),
        };
        self.require_own(workspace)?;
        let mut removed = Vec::with_capacity(remove.len());
        for NamedPath { path, field: _ } in remove {
            let canonical = self.canonical_for_comparison(caller, &path).await?;
            removed.push(RemovedDir {
                given: path.as_str().to_owned(),
                canonical,
            });
        }
        Ok(DirsUpdate::Delta {
            add: self.admit_all(caller, &add).await?,
            remove: removed,
        })
    }

    /// Only a daemon of the same host looks at a workspace's disk.
    pub(super) fn require_own(&self, workspace: &Workspace) -> Result<(), CatalogError> {
        self.require_host()?;
        if workspace.host_id == self.host {
            return Ok(());
        }
        Err(CatalogError::OtherHost {
            host: workspace.host_id.to_string(),
        })
    }
}
