//! Sessions under test, and the short words that tests about them are written in.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use compozy_domain::session::change::{NewLease, SessionChange};
use compozy_domain::session::fields::SessionName;
use compozy_domain::session::{Origin, PermissionMode, Start, StopCause};
use compozy_domain::{
    LeaseHash, ProfileId, Random as _, Session, SessionAt, SessionId, SessionState, SessionType, Visibility,
    Workspace,
};

use super::fixture::{Catalog, HOST, fresh, host};
use super::hooks;
use super::numbers::Numbers;
use super::requests::Request;
use crate::call::{Call, Written};
use crate::catalog::{CatalogStore as _, StoreKind};
use crate::error::Result;
use crate::sessions::{ChangeSession, CreateSession, CreatedSession, DeleteSession, SessionStore as _};

/// Silence of a runtime that counts as too long.
pub const STALE_AFTER: Duration = Duration::from_secs(120);
/// For how long heartbeats renew a lease.
pub const TTL: Duration = Duration::from_secs(30);

/// A new id.
#[must_use]
pub fn session_id() -> SessionId {
    SessionId::generate(&Numbers).unwrap()
}

/// A lease of [`TTL`] with a token of its own.
#[must_use]
pub fn new_lease(holder: &str) -> NewLease {
    new_lease_of(holder, TTL)
}

/// A lease with a token of its own.
#[must_use]
pub fn new_lease_of(holder: &str, ttl: Duration) -> NewLease {
    let mut hash = [0; 32];
    Numbers.fill(&mut hash).unwrap();
    NewLease {
        holder: holder.to_owned(),
        hash: LeaseHash(hash),
        ttl,
    }
}

/// A session in no workspace: active, of the agent `general`, without a runtime.
#[must_use]
pub fn ungrouped() -> CreateSession {
    CreateSession {
        id: session_id(),
        host_id: host(HOST),
        workspace: None,
        cwd: "/w".to_owned(),
        canonical_cwd: "/w".to_owned(),
        name: String::new(),
        agent: "general".to_owned(),
        provider: String::new(),
        model: String::new(),
        session_type: SessionType::User,
        state: SessionState::Active,
        parent: None,
        spawn_role: String::new(),
        permission_mode: PermissionMode::ApproveReads,
        profile_id: ProfileId::from_stored("default".to_owned()),
        start: Start {
            cause: String::new(),
            by: "local".to_owned(),
        },
        snapshot_fingerprint: String::new(),
        labels: BTreeMap::new(),
        origin: Origin::native(),
        bind: None,
        stale_after: STALE_AFTER,
    }
}

/// The same in a workspace, in its root.
#[must_use]
pub fn new_in(workspace: &Workspace) -> CreateSession {
    CreateSession {
        workspace: Some((workspace.id.clone(), workspace.root_dir.clone())),
        cwd: workspace.root_dir.clone(),
        canonical_cwd: workspace.root_dir.clone(),
        ..ungrouped()
    }
}

/// The deletion of a session that is over.
pub(crate) fn deletion(id: &SessionId) -> DeleteSession {
    DeleteSession {
        id: Some(id.clone()),
        reference: id.to_string(),
        force: false,
        allow_missing: false,
        etag: None,
    }
}

/// A stop with a cause.
pub(crate) fn stopping(cause: StopCause, detail: &str) -> SessionChange {
    SessionChange::Stop {
        cause: Some(cause),
        detail: detail.to_owned(),
    }
}

/// A rename.
pub(crate) fn renaming(name: &str) -> SessionChange {
    SessionChange::Rename(SessionName::parse(name, "name").unwrap())
}

/// A change by somebody called `local`.
pub(crate) fn changing(id: &SessionId, change: SessionChange) -> ChangeSession {
    ChangeSession {
        id: id.clone(),
        etag: None,
        change,
        by: "local".to_owned(),
        stale_after: STALE_AFTER,
    }
}

/// Calls about sessions. They leave the clock alone: see [`Catalog::set_clock`] and [`Catalog::pass`]. Until it is set,
/// Postgres has its own.
impl<E> Catalog<E> {
    /// A call of somebody who may see everything.
    #[must_use]
    pub fn session_call<T>(&self) -> Call<T> {
        self.session_call_as(Visibility::All)
    }

    /// A call of somebody who may see some workspaces.
    #[must_use]
    pub fn session_call_as<T>(&self, visibility: Visibility) -> Call<T> {
        Call {
            visibility,
            now: self.now(),
            deadline: Instant::now() + Duration::from_secs(30),
            remember: None,
        }
    }

    /// A call that is carried out once.
    #[must_use]
    pub fn session_call_once<T: std::fmt::Debug>(&self, request: &Request) -> Call<T> {
        Call {
            remember: Some(request.remember()),
            ..self.session_call()
        }
    }

    /// Makes a session.
    ///
    /// # Errors
    /// As [`crate::SessionStore::create_session`].
    pub async fn try_create_session(&self, create: CreateSession) -> Result<Written<CreatedSession>> {
        let answer = self.store.create_session(create, self.session_call()).await;
        Ok(fresh(answer?))
    }

    /// Makes a session.
    ///
    /// # Panics
    /// If it is refused.
    pub async fn create_session(&self, create: CreateSession) -> Session {
        self.try_create_session(create)
            .await
            .unwrap()
            .value
            .session
            .session
    }

    /// Makes a plain session in a workspace.
    pub async fn session_in(&self, workspace: &Workspace) -> Session {
        self.create_session(new_in(workspace)).await
    }

    /// Makes a session in a workspace and stops it.
    pub async fn stopped_in(&self, workspace: &Workspace) -> Session {
        let made = self.session_in(workspace).await;
        self.change_session(&made.id, stopping(StopCause::Completed, ""))
            .await
    }

    /// Changes a session.
    ///
    /// # Errors
    /// As [`crate::SessionStore::change_session`].
    pub async fn try_change_session(
        &self,
        id: &SessionId,
        change: SessionChange,
    ) -> Result<Written<SessionAt>> {
        let change = changing(id, change);
        let answer = self.store.change_session(change, self.session_call()).await;
        Ok(fresh(answer?))
    }

    /// Changes a session.
    ///
    /// # Panics
    /// If it is refused.
    pub async fn change_session(&self, id: &SessionId, change: SessionChange) -> Session {
        self.try_change_session(id, change).await.unwrap().value.session
    }

    /// Deletes a session.
    ///
    /// # Errors
    /// As [`crate::SessionStore::delete_session`].
    pub async fn delete_session(&self, delete: DeleteSession) -> Result<Written<Option<SessionId>>> {
        let answer = self.store.delete_session(delete, self.session_call()).await;
        Ok(fresh(answer?))
    }

    /// The session as it is now.
    pub async fn find_session(&self, id: &SessionId) -> Option<Session> {
        let found = self.store.find_session(id, &Visibility::All, self.now()).await;
        found.unwrap().0.map(|found| found.session)
    }

    /// The session as it is now.
    ///
    /// # Panics
    /// If it is gone.
    pub async fn get_session(&self, id: &SessionId) -> Session {
        self.find_session(id).await.expect("the session is there")
    }

    /// The kept numbers of sessions, those not folded yet included, without the cells that hold none: scope, hidden,
    /// state, type, agent, count.
    pub async fn kept_counts(&self) -> Vec<Vec<String>> {
        let kept = match self.store.kind() {
            StoreKind::Sqlite => "SELECT scope, hidden, state, type, agent, count FROM session_count",
            StoreKind::Postgres => {
                "SELECT scope, hidden, state, type, agent, count FROM session_count \
                 UNION ALL SELECT scope, hidden, state, type, agent, count FROM session_count_delta"
            }
        };
        let sql = format!(
            "SELECT scope, hidden, state, type, agent, CAST(SUM(count) AS BIGINT) FROM ({kept}) k \
             GROUP BY scope, hidden, state, type, agent HAVING SUM(count) <> 0 \
             ORDER BY scope, hidden, state, type, agent"
        );
        hooks::rows(&self.store, &sql).await.unwrap()
    }

    /// The true numbers of sessions, as [`Self::kept_counts`] tells the kept ones.
    pub async fn true_counts(&self) -> Vec<Vec<String>> {
        let cells = "hidden, state, type, agent, COUNT(*)";
        let sql = format!(
            "SELECT * FROM (\
               SELECT '*' AS scope, {cells} FROM session GROUP BY hidden, state, type, agent \
               UNION ALL \
               SELECT workspace_id, {cells} FROM session GROUP BY workspace_id, hidden, state, type, agent) t \
             ORDER BY scope, hidden, state, type, agent"
        );
        hooks::rows(&self.store, &sql).await.unwrap()
    }

    /// Fails if a kept number differs from the true one.
    pub async fn assert_counts_are_true(&self) {
        assert_eq!(self.kept_counts().await, self.true_counts().await);
    }
}
