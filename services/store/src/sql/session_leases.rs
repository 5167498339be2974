//! Leases of sessions: whose they are, whether they are held, and the last word under one.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use compozy_domain::session::change::Moment;
use compozy_domain::{CatalogError, LeaseHash, SessionAt, SessionId, Timestamp, Visibility};

use crate::error::Result;
use crate::open::SqlStore;
use crate::sessions::FinishSession;
use crate::sql::db::{Transaction, Tx, Value};
use crate::sql::remember::{Mutation, Scope};
use crate::sql::session_apply::apply;
use crate::sql::session_clock::session_moment;
use crate::sql::session_rows::{COLUMNS, TABLES, is_visible, lock_session, session};

/// Whose hand it is when time changes a session.
pub(super) const BY_SWEEP: &str = "sweep";

#[async_trait]
impl Mutation for FinishSession {
    type Output = SessionAt;

    async fn apply(&self, tx: &mut Tx, scope: &Scope<'_>) -> Result<SessionAt> {
        let id = session_that_had(tx, &self.hash).await?;
        let found = lock_session(tx, &id, scope.visibility).await?;
        let session = found.ok_or(CatalogError::LeaseLost)?;
        session.check_understood()?;
        let (at, away_since) = session_moment(tx, scope.now).await?;
        let moment = Moment {
            now: at,
            by: &session.runtime_holder,
            stale_after: self.stale_after,
            away_since,
        };
        let Some(outcome) = session.finished(&self.hash, &self.word, moment)? else {
            return Ok(SessionAt { session, at });
        };
        // The root is not needed: a session that ends stays where it is.
        apply(tx, &session, &outcome, None, at).await?;
        Ok(SessionAt {
            session: outcome.next,
            at,
        })
    }
}

impl SqlStore {
    pub(super) async fn session_under(
        &self,
        hash: &LeaseHash,
        visibility: &Visibility,
        now: Timestamp,
    ) -> Result<SessionAt> {
        let held = Held {
            hash: hash.clone(),
            visibility: visibility.clone(),
            now,
        };
        self.db().read(Arc::new(held)).await
    }
}

/// The session that a lease holds.
struct Held {
    hash: LeaseHash,
    visibility: Visibility,
    now: Timestamp,
}

#[async_trait]
impl Transaction for Held {
    type Output = SessionAt;

    async fn run(&self, tx: &mut Tx) -> Result<SessionAt> {
        let sql = format!(
            "SELECT {COLUMNS} FROM {TABLES} \
             WHERE s.id = (SELECT session_id FROM session_live WHERE lease_hash = $1)"
        );
        let row = tx.row(&sql, &[bound_hash(&self.hash)]).await?;
        let session = row.map(session).transpose()?.ok_or(CatalogError::LeaseLost)?;
        if !is_visible(&session, &self.visibility) {
            return Err(CatalogError::LeaseLost.into());
        }
        session.check_understood()?;
        let (at, away_since) = session_moment(tx, self.now).await?;
        let moment = Moment {
            now: at,
            by: &session.runtime_holder,
            // Says nothing about a lease.
            stale_after: Duration::ZERO,
            away_since,
        };
        session.check_lease(&self.hash, moment)?;
        Ok(SessionAt { session, at })
    }
}

/// When the sweep last ran.
pub(super) async fn last_run(tx: &mut Tx) -> Result<Option<Timestamp>> {
    let row = tx
        .row("SELECT ran_at FROM session_sweep WHERE one = 1", &[])
        .await?;
    let ran_at: Option<i64> = row.map(|mut row| row.take()).transpose()?;
    Ok(ran_at.map(Timestamp::from_nanos))
}

pub(super) fn bound_hash(hash: &LeaseHash) -> Value {
    Value::Bytes(Some(hash.0.to_vec()))
}

/// The session that a lease is or was of: one that finished with it is found too, for a repeated last word.
async fn session_that_had(tx: &mut Tx, hash: &LeaseHash) -> Result<SessionId> {
    let sql = "SELECT session_id FROM session_live WHERE lease_hash = $1 \
               UNION ALL SELECT id FROM session WHERE finished_lease = $1";
    let row = tx.row(sql, &[bound_hash(hash)]).await?;
    let Some(mut row) = row else {
        return Err(CatalogError::LeaseLost.into());
    };
    Ok(SessionId::from_stored(row.take()?))
}
