//! Settling a difference between an identity file and its registration.

use compozy_domain::{CatalogError, DurableId, Revision, Scope, Visibility, Workspace};
use compozy_resolver::identity::{self, Found};
use compozy_resolver::{Directory, Files, Identity};
use compozy_store::{SetDurableId, Written};

use super::{IdentityAction, IdentityFile, IdentitySettled, IdentityWanted, Place, file_of};
use crate::registry::{Caller, Registry, Reply, WriteCall, within};

impl Registry {
    pub(super) async fn settle_identity(
        &self,
        call: &WriteCall<IdentitySettled>,
        wanted: &IdentityWanted,
    ) -> Result<Reply<IdentitySettled>, CatalogError> {
        let caller = &call.caller;
        let Place { root, row } = self.place(caller, &wanted.target, true).await?;
        let _lock = within(caller.deadline, self.store.lock_path(&self.host, &root.path)).await?;
        let Some(row) = row else {
            // What exists only for others must not be written to.
            if caller.principal.visibility != Visibility::All {
                return Err(CatalogError::ScopeDenied {
                    scope: Scope::Write.as_str(),
                });
            }
            let IdentityAction::Repair { force } = wanted.action else {
                let problem = "must be REPAIR for a directory that is not registered";
                return Err(CatalogError::invalid_field("action", problem));
            };
            return self.repair_unregistered(call, root, force).await;
        };
        row.check_understood()?;
        match wanted.action {
            IdentityAction::Accept => self.accept(call, root, row).await,
            IdentityAction::Restore => {
                let durable_id = row.durable_id.clone();
                let restore =
                    move |files: &dyn Files, root: &Directory| identity::restore(files, root, &durable_id);
                self.write_file(call, root, row, restore).await
            }
            IdentityAction::Repair { force } => {
                let wanted = Identity::of(row.durable_id.clone(), &root.path, self.now());
                let repair =
                    move |files: &dyn Files, root: &Directory| identity::repair(files, root, &wanted, force);
                self.write_file(call, root, row, repair).await
            }
            IdentityAction::Fork => self.fork(call, root, row).await,
        }
    }

    async fn accept(
        &self,
        call: &WriteCall<IdentitySettled>,
        root: Directory,
        row: Workspace,
    ) -> Result<Reply<IdentitySettled>, CatalogError> {
        let found = self.required_identity(&call.caller, &root).await?;
        let set = SetDurableId {
            id: row.id,
            durable_id: found.identity.durable_id.clone(),
            intent: None,
        };
        let file = file_of(&root, found.identity);
        let outcome = move |row: &Written<Workspace>| settled(&file, row, false);
        self.write(call, outcome, |call| self.store.set_durable_id(set, call))
            .await
    }

    async fn fork(
        &self,
        call: &WriteCall<IdentitySettled>,
        root: Directory,
        row: Workspace,
    ) -> Result<Reply<IdentitySettled>, CatalogError> {
        let old = self.required_identity(&call.caller, &root).await?;
        let durable_id = DurableId::generate(self.now(), self.random.as_ref())?;
        let pending = self.fork_identity(&call.caller, &root, &old, &durable_id).await?;
        let set = SetDurableId {
            id: row.id,
            durable_id,
            intent: Some(pending.intent_id()),
        };
        let file = file_of(&root, pending.found.identity.clone());
        let outcome = move |row: &Written<Workspace>| settled(&file, row, true);
        let reply = self
            .write(call, outcome, |call| self.store.set_durable_id(set, call))
            .await;
        self.settle(Some(pending), &reply).await;
        reply
    }

    /// Changes only the file of a registration, so that it carries the row's id.
    async fn write_file<W>(
        &self,
        call: &WriteCall<IdentitySettled>,
        root: Directory,
        row: Workspace,
        write: W,
    ) -> Result<Reply<IdentitySettled>, CatalogError>
    where
        W: FnOnce(&dyn Files, &Directory) -> Result<identity::Written, CatalogError> + Send + 'static,
    {
        let written_to = root.clone();
        let identity::Written { found, written } =
            self.touch(move |files| write(files, &written_to)).await??;
        if found.identity.durable_id != row.durable_id {
            return Err(CatalogError::IdentityMismatch {
                path: root.path,
                expected: row.durable_id.to_string(),
                found: Some(found.identity.durable_id.to_string()),
                remedy: "settle it with `compozy workspace identity accept` or `restore`",
            });
        }
        let file = file_of(&root, found.identity);
        let outcome = move |row: &Written<Workspace>| settled(&file, row, written);
        self.leave_as_it_is(call, &row, outcome).await
    }

    async fn repair_unregistered(
        &self,
        call: &WriteCall<IdentitySettled>,
        root: Directory,
        force: bool,
    ) -> Result<Reply<IdentitySettled>, CatalogError> {
        let wanted = Identity::generate(&root.path, self.now(), self.random.as_ref())?;
        let written_to = root.clone();
        let repaired = self
            .touch(move |files| identity::repair(files, &written_to, &wanted, force))
            .await??;
        let file = file_of(&root, repaired.found.identity);
        let outcome = move |revision: &Revision| IdentitySettled {
            file: file.clone(),
            workspace: None,
            file_written: repaired.written,
            revision: revision.clone(),
        };
        self.answer_without_row(call, outcome).await
    }

    async fn required_identity(&self, caller: &Caller, root: &Directory) -> Result<Found, CatalogError> {
        let found = self.read_identity(caller, root).await?;
        found.ok_or_else(|| identity::missing(&root.path))
    }
}

fn settled(file: &IdentityFile, row: &Written<Workspace>, file_written: bool) -> IdentitySettled {
    IdentitySettled {
        file: file.clone(),
        workspace: Some(row.value.clone()),
        file_written,
        revision: row.revision.clone(),
    }
}
