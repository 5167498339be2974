//! Writing workspaces: every write locks the row before it looks at it, and appends its change last.

use std::sync::Arc;

use async_trait::async_trait;

use compozy_domain::workspace::NewName;
use compozy_domain::{
    CatalogError, ChangeKind, ChangeOp, ChangeReason, DurableId, FileIdentity, HostId, NewChange, Page, Rank,
    Revision, Visibility, Workspace, WorkspaceId, WorkspaceName, limits,
};

use crate::call::{Answer, Call};
use crate::error::{Error, Result};
use crate::open::SqlStore;
use crate::sql::append::append;
use crate::sql::db::Tx;
use crate::sql::intents::take_over;
use crate::sql::profile_selections::forget_selection;
use crate::sql::remember::{Answered, Mutation, Scope};
use crate::sql::select::Conditions;
use crate::sql::session_removal::{RemovedSessions, SessionPolicy, is_live, remove_sessions_of};
use crate::sql::workspace_list::List;
use crate::sql::workspace_rows::{columns, insert, lock_existing, lock_workspace, replace, workspace};
use crate::workspaces::{
    ListWorkspaces, MoveBefore, Moved, Prune, Pruned, Register, Registered, Relink, Remove, Removed,
    SetDurableId, Update, WorkspaceStore,
};

/// What a prune does with sessions: it removes nothing that is live.
const KEEP: SessionPolicy = SessionPolicy {
    delete: false,
    ungroup_live: false,
};

#[async_trait]
impl WorkspaceStore for SqlStore {
    async fn find(&self, id: &WorkspaceId, visibility: &Visibility) -> Result<(Option<Workspace>, Revision)> {
        self.find_workspace(id, visibility).await
    }

    async fn find_by_name(&self, key: &str, visibility: &Visibility) -> Result<Option<Workspace>> {
        self.workspace_named(key, visibility).await
    }

    async fn find_by_durable(
        &self,
        durable_id: &DurableId,
        visibility: &Visibility,
    ) -> Result<Vec<Workspace>> {
        self.workspaces_with_durable_id(durable_id, visibility).await
    }

    async fn find_by_roots(
        &self,
        host: &HostId,
        paths: &[String],
        files: &[FileIdentity],
    ) -> Result<Vec<Workspace>> {
        self.workspaces_at(host, paths, files).await
    }

    async fn of_host(
        &self,
        host: &HostId,
        after: Option<&WorkspaceId>,
        limit: u32,
    ) -> Result<Vec<Workspace>> {
        self.workspaces_of_host(host, after, limit).await
    }

    async fn find_all(&self, ids: &[WorkspaceId], visibility: &Visibility) -> Result<Vec<Workspace>> {
        self.workspaces_with_ids(ids, visibility).await
    }

    async fn above(
        &self,
        after: Option<&WorkspaceId>,
        only: &[WorkspaceId],
        limit: u32,
        visibility: &Visibility,
    ) -> Result<Vec<Workspace>> {
        self.workspaces_above(after, only, limit, visibility).await
    }

    async fn list(&self, list: &ListWorkspaces) -> Result<Page<Workspace>> {
        self.db().read(Arc::new(List(list.clone()))).await
    }

    async fn register(&self, register: Register, call: Call<Registered>) -> Result<Answer<Registered>> {
        self.write(register, call).await
    }

    async fn update(&self, update: Update, call: Call<Workspace>) -> Result<Answer<Workspace>> {
        self.write(update, call).await
    }

    async fn relink(&self, relink: Relink, call: Call<Workspace>) -> Result<Answer<Workspace>> {
        self.write(relink, call).await
    }

    async fn set_durable_id(&self, set: SetDurableId, call: Call<Workspace>) -> Result<Answer<Workspace>> {
        self.write(set, call).await
    }

    async fn move_before(&self, moving: MoveBefore, call: Call<Moved>) -> Result<Answer<Moved>> {
        self.write(moving, call).await
    }

    async fn remove(&self, remove: Remove, call: Call<Removed>) -> Result<Answer<Removed>> {
        self.write(remove, call).await
    }

    async fn prune(&self, prune: Prune, call: Call<Pruned>) -> Result<Answer<Pruned>> {
        self.write(prune, call).await
    }
}

impl SqlStore {
    pub(super) async fn write<M: Mutation>(
        &self,
        mutation: M,
        call: Call<M::Output>,
    ) -> Result<Answer<M::Output>> {
        let deadline = call.deadline;
        self.db()
            .write(deadline, Arc::new(Answered { mutation, call }))
            .await
    }
}

#[async_trait]
impl Mutation for Register {
    type Output = Registered;

    async fn apply(&self, tx: &mut Tx, scope: &Scope<'_>) -> Result<Registered> {
        let new = &self.workspace;
        check_root_length(&new.root_dir)?;
        tx.discard |= self.validate_only;
        if let Some(holder) = workspace_at(tx, &new.host_id, &new.root_dir, scope).await? {
            take_over(tx, self.intent.as_ref(), &new.host_id, &new.root_dir).await?;
            return Ok(Registered::Existing(holder));
        }
        let name = match &new.name {
            NewName::Explicit(name) => {
                check_name_free(tx, name, None, scope.visibility).await?;
                name.clone()
            }
            NewName::Derived(name) => first_free_name(tx, name).await?,
        };
        let front: i64 = tx.one(tx.dialect().next_front(), &[]).await?.take()?;
        let workspace = Workspace {
            id: new.id.clone(),
            durable_id: new.durable_id.clone(),
            host_id: new.host_id.clone(),
            root_dir: new.root_dir.clone(),
            root_file: new.root_file,
            additional_dirs: new.additional_dirs.clone(),
            name,
            title: new.title.clone(),
            default_agent: new.default_agent.clone(),
            is_default: new.is_default,
            rank: Rank::front(front),
            version: 1,
            state_number: 1,
            created_at: new.at,
            updated_at: new.at,
            shares_identity_with: Vec::new(),
            session_counts: compozy_domain::workspace::SessionCounts::default(),
            defect: None,
        };
        insert(tx, &workspace).await?;
        take_over(tx, self.intent.as_ref(), &new.host_id, &new.root_dir).await?;
        append_record(tx, &workspace, ChangeReason::Created, scope).await?;
        // Read back, for the registrations that share the identity.
        let stored = lock_workspace(tx, &workspace.id, &Visibility::All).await?;
        let mut created = stored.unwrap_or(workspace);
        created
            .shares_identity_with
            .retain(|id| scope.visibility.includes(id));
        Ok(Registered::Created(created))
    }
}

#[async_trait]
impl Mutation for Update {
    type Output = Workspace;

    async fn apply(&self, tx: &mut Tx, scope: &Scope<'_>) -> Result<Workspace> {
        let current = lock_existing(tx, &self.id, scope.visibility).await?;
        current.check_etag(self.etag.as_ref())?;
        current.check_understood()?;
        tx.discard |= self.validate_only;
        if let Some(name) = &self.update.name {
            check_name_free(tx, name, Some(&self.id), scope.visibility).await?;
        }
        let Some((next, reason)) = current.updated(&self.update, scope.now)? else {
            return Ok(current);
        };
        replace(tx, &next).await?;
        append_record(tx, &next, reason, scope).await?;
        Ok(next)
    }
}

#[async_trait]
impl Mutation for Relink {
    type Output = Workspace;

    async fn apply(&self, tx: &mut Tx, scope: &Scope<'_>) -> Result<Workspace> {
        check_root_length(&self.root_dir)?;
        let current = lock_existing(tx, &self.id, scope.visibility).await?;
        current.check_etag(self.etag.as_ref())?;
        current.check_understood()?;
        tx.discard |= self.validate_only;
        if current.root_dir != self.from_root || current.root_dir == self.root_dir {
            return Ok(current);
        }
        if let Some(holder) = workspace_at(tx, &current.host_id, &self.root_dir, scope).await? {
            return Err(CatalogError::PathConflict {
                path: self.root_dir.clone(),
                holder: scope.visibility.includes(&holder.id).then_some(holder.id),
                conflict: compozy_domain::error::PathConflict::RootTaken,
            }
            .into());
        }
        let mut next = current.next_state(scope.now);
        next.root_dir.clone_from(&self.root_dir);
        next.root_file = self.root_file;
        next.additional_dirs.retain(|dir| *dir != self.root_dir);
        replace(tx, &next).await?;
        take_over(tx, None, &next.host_id, &next.root_dir).await?;
        forget_observation(tx, &next.id).await?;
        append_record(tx, &next, ChangeReason::Relinked, scope).await?;
        Ok(next)
    }
}

#[async_trait]
impl Mutation for SetDurableId {
    type Output = Workspace;

    async fn apply(&self, tx: &mut Tx, scope: &Scope<'_>) -> Result<Workspace> {
        let current = lock_existing(tx, &self.id, scope.visibility).await?;
        current.check_understood()?;
        take_over(tx, self.intent.as_ref(), &current.host_id, &current.root_dir).await?;
        if current.durable_id == self.durable_id {
            return Ok(current);
        }
        let mut next = current.next_state(scope.now);
        next.durable_id = self.durable_id.clone();
        replace(tx, &next).await?;
        append_record(tx, &next, ChangeReason::Identity, scope).await?;
        lock_existing(tx, &self.id, scope.visibility).await
    }
}

#[async_trait]
impl Mutation for Remove {
    type Output = Removed;

    async fn apply(&self, tx: &mut Tx, scope: &Scope<'_>) -> Result<Removed> {
        let found = match &self.id {
            Some(id) => lock_workspace(tx, id, scope.visibility).await?,
            None => None,
        };
        let Some(current) = found else {
            if self.allow_missing {
                return Ok(Removed {
                    workspace: None,
                    kept_session_count: 0,
                    deleted_session_count: 0,
                });
            }
            return Err(CatalogError::WorkspaceNotFound {
                reference: self.reference.clone(),
            }
            .into());
        };
        current.check_etag(self.etag.as_ref())?;
        let policy = SessionPolicy {
            delete: self.delete_sessions,
            ungroup_live: self.ungroup_live,
        };
        let sessions = delete(tx, &current, policy, scope).await?;
        Ok(Removed {
            workspace: Some(current),
            kept_session_count: sessions.kept,
            deleted_session_count: sessions.deleted,
        })
    }
}

#[async_trait]
impl Mutation for Prune {
    type Output = Pruned;

    async fn apply(&self, tx: &mut Tx, scope: &Scope<'_>) -> Result<Pruned> {
        let dialect = tx.dialect();
        let mut conditions = Conditions::default();
        let host = conditions.bind(self.host.as_str());
        let since = conditions.bind(self.missing_since);
        conditions.and(format!(
            "w.host_id = {host} AND s.status = 'root_missing' AND s.missing_since <= {since}"
        ));
        if let Visibility::Only(ids) = scope.visibility {
            let ids = conditions.bind_all(ids.iter().map(WorkspaceId::as_str));
            conditions.and(if ids.is_empty() {
                "1 = 0".to_owned()
            } else {
                format!("w.id IN ({ids})")
            });
        }
        // Live sessions are looked for again once the rows are locked.
        conditions.and(format!(
            "NOT EXISTS (SELECT 1 FROM session l WHERE l.workspace_id = w.id AND {})",
            is_live("l.state")
        ));
        let sql = format!(
            "SELECT w.id FROM workspace w JOIN workspace_observation s ON s.workspace_id = w.id{} \
             ORDER BY w.id LIMIT {}{}",
            conditions.clause(),
            self.limit + 1,
            dialect.for_update()
        );
        let mut ids: Vec<WorkspaceId> = Vec::new();
        for mut row in tx.rows(&sql, conditions.binds()).await? {
            ids.push(WorkspaceId::from_stored(row.take()?));
        }
        let has_more = ids.len() > self.limit as usize;
        ids.truncate(self.limit as usize);
        tx.discard |= !self.apply;
        let mut workspaces = Vec::with_capacity(ids.len());
        for id in ids {
            let Some(current) = lock_workspace(tx, &id, scope.visibility).await? else {
                continue;
            };
            // A row that this release does not understand goes only when somebody names it.
            if current.defect.is_some() {
                continue;
            }
            match delete(tx, &current, KEEP, scope).await {
                Ok(_) => workspaces.push(current),
                Err(Error::Rejected(CatalogError::LiveSessions { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Pruned { workspaces, has_more })
    }
}

/// The registration with this root, whoever may see it.
async fn workspace_at(
    tx: &mut Tx,
    host: &HostId,
    root_dir: &str,
    scope: &Scope<'_>,
) -> Result<Option<Workspace>> {
    let columns = columns(tx.dialect());
    let sql = format!("SELECT {columns} FROM workspace w WHERE w.host_id = $1 AND w.root_dir = $2");
    let row = tx.row(&sql, &[host.as_str().into(), root_dir.into()]).await?;
    row.map(|row| workspace(row, scope.visibility)).transpose()
}

/// Refuses a name that another registration has. Its holder is told only to those who may see it.
async fn check_name_free(
    tx: &mut Tx,
    name: &WorkspaceName,
    own: Option<&WorkspaceId>,
    visibility: &Visibility,
) -> Result<()> {
    let row = tx
        .row(
            "SELECT id FROM workspace WHERE name_key = $1",
            &[name.key().into()],
        )
        .await?;
    let Some(mut row) = row else { return Ok(()) };
    let holder = WorkspaceId::from_stored(row.take()?);
    if own == Some(&holder) {
        return Ok(());
    }
    let holder = visibility.includes(&holder).then_some(holder);
    Err(CatalogError::NameConflict {
        name: name.as_str().to_owned(),
        holder,
    }
    .into())
}

/// The name itself, or with the smallest free number behind it.
async fn first_free_name(tx: &mut Tx, name: &WorkspaceName) -> Result<WorkspaceName> {
    if let Some(lock) = tx.dialect().lock_derived_name() {
        tx.rows(lock, &[name.key().into()]).await?;
    }
    let mut candidates = vec![name.clone()];
    let mut number = 2_u64;
    loop {
        let mut conditions = Conditions::default();
        let keys = conditions.bind_all(candidates.iter().map(WorkspaceName::key));
        let sql = format!("SELECT name_key FROM workspace WHERE name_key IN ({keys})");
        let mut taken: Vec<String> = Vec::new();
        for mut row in tx.rows(&sql, conditions.binds()).await? {
            taken.push(row.take()?);
        }
        if let Some(free) = candidates
            .into_iter()
            .find(|name| !taken.iter().any(|key| key == name.key()))
        {
            return Ok(free);
        }
        let end = number + 64;
        candidates = (number..end).map(|number| name.with_suffix(number)).collect();
        number = end;
    }
}

/// Removes a record with everything that belongs to it. Refuses before it writes.
async fn delete(
    tx: &mut Tx,
    workspace: &Workspace,
    policy: SessionPolicy,
    scope: &Scope<'_>,
) -> Result<RemovedSessions> {
    let sessions = remove_sessions_of(tx, workspace, policy, scope.now).await?;
    forget_observation(tx, &workspace.id).await?;
    forget_selection(tx, &workspace.id).await?;
    tx.execute(
        "DELETE FROM workspace WHERE id = $1",
        &[workspace.id.as_str().into()],
    )
    .await?;
    // Some of the sessions may be kept although the others are gone. Whoever hears that they are kept looks at each
    // of them again; who hears that they are gone does not.
    let reason = if policy.delete && sessions.kept == 0 {
        ChangeReason::RemovedSessionsDeleted
    } else {
        ChangeReason::RemovedSessionsKept
    };
    let mut change = NewChange::of_workspace(
        ChangeKind::Workspace,
        (ChangeOp::Deleted, reason),
        &workspace.host_id,
        &workspace.id,
        workspace.version + 1,
        scope.now,
    );
    change.session_count = i64::try_from(sessions.kept + sessions.deleted).unwrap_or(i64::MAX);
    append(tx, &change).await?;
    Ok(sessions)
}

async fn append_record(
    tx: &mut Tx,
    workspace: &Workspace,
    reason: ChangeReason,
    scope: &Scope<'_>,
) -> Result<()> {
    let change = NewChange::of_workspace(
        ChangeKind::Workspace,
        (ChangeOp::Upserted, reason),
        &workspace.host_id,
        &workspace.id,
        workspace.version,
        scope.now,
    );
    append(tx, &change).await
}

async fn forget_observation(tx: &mut Tx, id: &WorkspaceId) -> Result<()> {
    tx.execute(
        "DELETE FROM workspace_observation WHERE workspace_id = $1",
        &[id.as_str().into()],
    )
    .await?;
    Ok(())
}

fn check_root_length(root_dir: &str) -> Result<()> {
    if root_dir.len() > limits::ROOT_BYTES_MAX {
        let problem = format!(
            "must have at most {} bytes in canonical form",
            limits::ROOT_BYTES_MAX
        );
        return Err(CatalogError::invalid_field("path", problem).into());
    }
    Ok(())
}
