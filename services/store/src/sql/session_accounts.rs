//! Accounts: which sessions belong to a workspace. Their order is in `session_order.rs`.

use async_trait::async_trait;

use compozy_domain::error::SessionCwdFault;
use compozy_domain::path::contains;
use compozy_domain::session::SessionWorkspace;
use compozy_domain::session::change::Outcome;
use compozy_domain::{
    CatalogError, ChangeReason, HostId, Rank, Session, SessionAt, Timestamp, Visibility, WorkspaceId,
};

use crate::error::Result;
use crate::sessions::{AttachSession, DetachSession, Regrouped};
use crate::sql::db::Tx;
use crate::sql::remember::{Mutation, Scope};
use crate::sql::session_apply::apply;
use crate::sql::session_rows::{lock_existing_session, session_now};

#[async_trait]
impl Mutation for AttachSession {
    type Output = Regrouped;

    async fn apply(&self, tx: &mut Tx, scope: &Scope<'_>) -> Result<Regrouped> {
        let owner = keep_workspace(tx, &self.workspace_id, scope.visibility).await?;
        let current = lock_existing_session(tx, &self.id, scope.visibility).await?;
        let now = session_now(tx, scope.now).await?;
        if current.workspace_id() == Some(&self.workspace_id) {
            return Ok(left_alone(current, now));
        }
        current.check_understood()?;
        let is_owned = owner.root_dir == self.root_dir
            && owner.host_id == current.host_id
            && contains(&self.root_dir, &self.canonical_cwd);
        if !is_owned {
            return Err(CatalogError::SessionCwd {
                cwd: current.cwd,
                fault: SessionCwdFault::Mismatch,
            }
            .into());
        }
        let front: i64 = tx.one(tx.dialect().next_session_front(), &[]).await?.take()?;
        let workspace = SessionWorkspace {
            id: self.workspace_id.clone(),
            name: owner.name,
        };
        let mut next = current
            .clone()
            .regrouped(Some(workspace), Some(Rank::front(front)), now);
        next.canonical_cwd.clone_from(&self.canonical_cwd);
        regroup(
            tx,
            &current,
            next,
            ChangeReason::Attached,
            Some(&self.root_dir),
            now,
        )
        .await
    }
}

#[async_trait]
impl Mutation for DetachSession {
    type Output = Regrouped;

    async fn apply(&self, tx: &mut Tx, scope: &Scope<'_>) -> Result<Regrouped> {
        let current = lock_existing_session(tx, &self.id, scope.visibility).await?;
        let now = session_now(tx, scope.now).await?;
        let is_meant = match (&self.workspace_id, current.workspace_id()) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(only), Some(account)) => only == account,
        };
        if !is_meant {
            return Ok(left_alone(current, now));
        }
        current.check_understood()?;
        let next = current.clone().regrouped(None, None, now);
        regroup(tx, &current, next, ChangeReason::Detached, None, now).await
    }
}

/// What an account needs to know of its workspace.
struct Owner {
    name: String,
    root_dir: String,
    host_id: HostId,
}

/// A workspace that stays, with the root that it has, until the transaction ends.
async fn keep_workspace(tx: &mut Tx, id: &WorkspaceId, visibility: &Visibility) -> Result<Owner> {
    let unknown = || CatalogError::WorkspaceNotFound {
        reference: id.to_string(),
    };
    if !visibility.includes(id) {
        return Err(unknown().into());
    }
    let sql = format!(
        "SELECT name, root_dir, host_id FROM workspace WHERE id = $1{}",
        tx.dialect().for_key_share()
    );
    let mut row = tx.row(&sql, &[id.as_str().into()]).await?.ok_or_else(unknown)?;
    Ok(Owner {
        name: row.take()?,
        root_dir: row.take()?,
        host_id: HostId::from_stored(row.take()?),
    })
}

async fn regroup(
    tx: &mut Tx,
    current: &Session,
    next: Session,
    reason: ChangeReason,
    root_dir: Option<&str>,
    now: Timestamp,
) -> Result<Regrouped> {
    let outcome = Outcome {
        next,
        entry: Some(reason),
        transition: None,
    };
    apply(tx, current, &outcome, root_dir, now).await?;
    Ok(Regrouped {
        session: SessionAt {
            session: outcome.next,
            at: now,
        },
        // Who may see a session may see its workspace.
        from: current.workspace_id().cloned(),
        changed: true,
    })
}

fn left_alone(session: Session, now: Timestamp) -> Regrouped {
    Regrouped {
        session: SessionAt { session, at: now },
        from: None,
        changed: false,
    }
}
