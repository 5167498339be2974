//! Relinking: pointing a registration at another directory of the same identity.

use std::sync::Arc;

use compozy_domain::error::PathConflict;
use compozy_domain::{CatalogError, Etag, Workspace};
use compozy_resolver::{Directory, identity};
use compozy_store::{Relink, Written};

use super::{Caller, NamedPath, Reference, Registry, Reply, WriteCall, within};

/// How often a relinking looks again at a record that changes all the time.
const ATTEMPTS: u32 = 4;

/// A relinking that a caller wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelinkWanted {
    /// Which record.
    pub reference: Reference,
    /// The new root.
    pub path: NamedPath,
    /// Take it although it carries another durable id, or none.
    pub force: bool,
    /// Only in this state.
    pub etag: Option<Etag>,
    /// Only try.
    pub validate_only: bool,
}

/// What a relinking did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relinked {
    /// The record.
    pub workspace: Written<Workspace>,
    /// Where the root was before, if it changed.
    pub from: Option<String>,
}

impl Registry {
    /// Points a registration at another directory.
    ///
    /// # Errors
    /// [`CatalogError`] of references, paths, identities, etags; [`CatalogError::PathConflict`] when another
    /// registration has the root.
    pub async fn relink(
        self: Arc<Self>,
        call: WriteCall<Relinked>,
        wanted: RelinkWanted,
    ) -> Result<Reply<Relinked>, CatalogError> {
        self.carry_out(call, move |registry, call| async move {
            registry.relink_now(&call, wanted).await
        })
        .await
    }

    async fn relink_now(
        &self,
        call: &WriteCall<Relinked>,
        wanted: RelinkWanted,
    ) -> Result<Reply<Relinked>, CatalogError> {
        self.require_host()?;
        // A caller without an etag takes the record in whatever state it is, so one that changed is looked at again.
        for _ in 1..ATTEMPTS {
            match self.try_to_relink(call, &wanted).await {
                Err(CatalogError::EtagMismatch { .. }) if wanted.etag.is_none() => {}
                outcome => return outcome,
            }
        }
        self.try_to_relink(call, &wanted).await
    }

    async fn try_to_relink(
        &self,
        call: &WriteCall<Relinked>,
        wanted: &RelinkWanted,
    ) -> Result<Reply<Relinked>, CatalogError> {
        let caller = &call.caller;
        let workspace = self.find(caller, &wanted.reference).await?;
        self.require_own(&workspace)?;
        workspace.check_etag(wanted.etag.as_ref())?;
        workspace.check_understood()?;
        let root = self.admit_root(caller, &wanted.path).await?;
        let _lock = within(caller.deadline, self.store.lock_path(&self.host, &root.path)).await?;
        if root.path == workspace.root_dir {
            return self
                .leave_as_it_is(call, &workspace, |same| relinked(same, None))
                .await;
        }
        self.refuse_taken_root(caller, &workspace, &root).await?;
        if !wanted.force {
            self.require_identity(caller, &workspace, &root).await?;
        }
        let (from_root, id) = (workspace.root_dir.clone(), workspace.id.clone());
        let relink = Relink {
            etag: Some(workspace.etag()),
            id: workspace.id,
            from_root: from_root.clone(),
            root_dir: root.path,
            root_file: root.file,
            validate_only: wanted.validate_only,
        };
        let outcome = move |written: &Written<Workspace>| relinked(written, Some(from_root.clone()));
        let reply = self
            .write(call, outcome, |call| self.store.relink(relink, call))
            .await;
        self.resolution.forget(&id);
        reply
    }

    async fn refuse_taken_root(
        &self,
        caller: &Caller,
        workspace: &Workspace,
        root: &Directory,
    ) -> Result<(), CatalogError> {
        let Some(holder) = self.registered_as(caller, root).await? else {
            return Ok(());
        };
        if holder.id == workspace.id {
            return Ok(());
        }
        let visible = caller.principal.visibility.includes(&holder.id);
        Err(CatalogError::PathConflict {
            path: root.path.clone(),
            holder: visible.then_some(holder.id),
            conflict: PathConflict::RootTaken,
        })
    }

    async fn require_identity(
        &self,
        caller: &Caller,
        workspace: &Workspace,
        root: &Directory,
    ) -> Result<(), CatalogError> {
        let looked_at = root.clone();
        let found = self
            .look(caller.deadline, move |files| identity::read(files, &looked_at))
            .await??;
        let found = found.map(|found| found.identity.durable_id);
        if found.as_ref() == Some(&workspace.durable_id) {
            return Ok(());
        }
        Err(CatalogError::IdentityMismatch {
            path: root.path.clone(),
            expected: workspace.durable_id.to_string(),
            found: found.map(|durable| durable.to_string()),
            remedy: "use force, or register it on its own",
        })
    }
}

fn relinked(written: &Written<Workspace>, from: Option<String>) -> Relinked {
    Relinked {
        workspace: written.clone(),
        from,
    }
}
