//! Making sessions.
//!
//! Locks are taken in one order: the workspace, the profile, the id. What they hold is there until the session is.

use async_trait::async_trait;

use compozy_domain::error::SessionCwdFault;
use compozy_domain::session::{
    Announced, Attention, AttentionClass, Lineage, RuntimeState, SessionWorkspace, Transition,
};
use compozy_domain::{
    CatalogError, Profile, Rank, Session, SessionAt, SessionId, Timestamp, Visibility, WorkspaceId,
};

use crate::error::Result;
use crate::sessions::{CreateSession, CreatedSession};
use crate::sql::db::Tx;
use crate::sql::profile_rows::hold_existing;
use crate::sql::remember::{Mutation, Scope};
use crate::sql::session_apply::insert_session;
use crate::sql::session_reads::is_taken;
use crate::sql::session_rows::session_now;

#[async_trait]
impl Mutation for CreateSession {
    type Output = CreatedSession;

    async fn apply(&self, tx: &mut Tx, scope: &Scope<'_>) -> Result<CreatedSession> {
        let workspace = match &self.workspace {
            Some((id, root_dir)) => Some(self.hold_workspace(tx, id, root_dir, scope.visibility).await?),
            None => None,
        };
        if self.profile_id != Profile::permanent().id {
            hold_existing(tx, &self.profile_id).await?;
        }
        check_id_free(tx, &self.id).await?;
        let lineage = self.lineage(tx, scope.visibility).await?;
        let rank = match &workspace {
            Some(_) => {
                let front: i64 = tx.one(tx.dialect().next_session_front(), &[]).await?.take()?;
                Some(Rank::front(front))
            }
            None => None,
        };
        let now = session_now(tx, scope.now).await?;
        let session = self.session(workspace, rank, lineage, now);
        let transition = Transition {
            state: session.state,
            at: now,
            cause: "create".to_owned(),
            by: session.start.by.clone(),
        };
        let root_dir = self.workspace.as_ref().map(|(_, root_dir)| root_dir.as_str());
        insert_session(tx, &session, root_dir, &transition).await?;
        Ok(CreatedSession {
            session: SessionAt { session, at: now },
        })
    }
}

impl CreateSession {
    /// The workspace, which nobody removes or moves until the transaction ends.
    async fn hold_workspace(
        &self,
        tx: &mut Tx,
        id: &WorkspaceId,
        root_dir: &str,
        visibility: &Visibility,
    ) -> Result<SessionWorkspace> {
        let lock = tx.dialect().for_key_share();
        let sql = format!("SELECT name, root_dir FROM workspace WHERE id = $1{lock}");
        let row = if visibility.includes(id) {
            tx.row(&sql, &[id.as_str().into()]).await?
        } else {
            None
        };
        let Some(mut row) = row else {
            return Err(CatalogError::WorkspaceNotFound {
                reference: id.to_string(),
            }
            .into());
        };
        let (name, stored_root): (String, String) = (row.take()?, row.take()?);
        if stored_root != root_dir {
            return Err(CatalogError::SessionCwd {
                cwd: self.cwd.clone(),
                fault: SessionCwdFault::Mismatch,
            }
            .into());
        }
        Ok(SessionWorkspace { id: id.clone(), name })
    }

    /// Where the session comes from. A parent that does not exist for the caller is only a label.
    async fn lineage(&self, tx: &mut Tx, visibility: &Visibility) -> Result<Lineage> {
        let mut lineage = Lineage {
            parent: self.parent.clone(),
            root: self.id.clone(),
            depth: 0,
            spawn_role: self.spawn_role.clone(),
        };
        let Some(parent) = &self.parent else {
            return Ok(lineage);
        };
        if *parent == self.id {
            return Err(parent_refused(
                "is the session itself: name another one, or leave it out",
            ));
        }
        lineage.root = parent.clone();
        lineage.depth = 1;
        let sql = "SELECT workspace_id, root_id, depth FROM session WHERE id = $1";
        let Some(mut row) = tx.row(sql, &[parent.as_str().into()]).await? else {
            return Ok(lineage);
        };
        let (account, root): (String, String) = (row.take()?, row.take()?);
        let depth: i64 = row.take()?;
        let account = (!account.is_empty()).then(|| WorkspaceId::from_stored(account));
        let is_visible = match (visibility, &account) {
            (Visibility::All, _) => true,
            (Visibility::Only(_), Some(id)) => visibility.includes(id),
            (Visibility::Only(_), None) => false,
        };
        if !is_visible {
            return Ok(lineage);
        }
        let own = self.workspace.as_ref().map(|(id, _)| id);
        if let (Some(own), Some(account)) = (own, &account)
            && own != account
        {
            return Err(parent_refused(
                "belongs to another workspace: name a parent in the workspace of the session",
            ));
        }
        lineage.root = SessionId::from_stored(root);
        lineage.depth = i32::try_from(depth).unwrap_or(i32::MAX).saturating_add(1);
        Ok(lineage)
    }

    /// The record, as its first state.
    fn session(
        &self,
        workspace: Option<SessionWorkspace>,
        rank: Option<Rank>,
        lineage: Lineage,
        now: Timestamp,
    ) -> Session {
        let Self {
            id,
            host_id,
            workspace: _,
            cwd,
            canonical_cwd,
            name,
            agent,
            provider,
            model,
            session_type,
            state,
            parent: _,
            spawn_role: _,
            permission_mode,
            profile_id,
            start,
            snapshot_fingerprint,
            labels,
            origin,
            bind,
            stale_after,
        } = self.clone();
        let mut session = Session {
            id,
            workspace,
            host_id,
            cwd,
            canonical_cwd,
            rank,
            name,
            agent,
            provider,
            model,
            session_type,
            state,
            state_at: now,
            runtime: RuntimeState::None,
            runtime_holder: String::new(),
            generation: 0,
            stop: None,
            lineage,
            permission_mode,
            profile_id,
            archived_at: None,
            activity: None,
            live: None,
            finished_lease: None,
            start,
            snapshot_fingerprint,
            labels,
            origin,
            has_files: false,
            event_count: 0,
            last_sequence: 0,
            ledger: None,
            attention: Attention {
                class: AttentionClass::Rest,
                at: now,
            },
            version: 1,
            state_number: 1,
            created_at: now,
            updated_at: now,
            defect: None,
        };
        if let Some(lease) = &bind {
            session.generation = 1;
            session.take_lease(lease, now);
        }
        let view = session.view(now, stale_after);
        session.attention.class = view.badge.attention();
        if let Some(live) = &mut session.live {
            live.announced = Some(Announced {
                badge: view.badge,
                health: view.health,
            });
        }
        session
    }
}

/// Refuses an id that is or was in use. Of several transactions that find it free at once, one inserts its row: the
/// others are repeated, and find it.
async fn check_id_free(tx: &mut Tx, id: &SessionId) -> Result<()> {
    if is_taken(tx, id).await? {
        return Err(CatalogError::SessionIdConflict { id: id.to_string() }.into());
    }
    Ok(())
}

fn parent_refused(problem: &'static str) -> crate::error::Error {
    CatalogError::invalid_field("parent_session_id", problem).into()
}
