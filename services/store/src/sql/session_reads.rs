//! Reading sessions one by one.

use std::sync::Arc;

use async_trait::async_trait;

use compozy_domain::session::Transition;
use compozy_domain::{ProfileId, Revision, SessionAt, SessionId, SessionState, Timestamp, Visibility};

use crate::error::Result;
use crate::open::SqlStore;
use crate::sql::db::{Row, Transaction, Tx};
use crate::sql::dialect::Dialect;
use crate::sql::select::Conditions;
use crate::sql::session_rows::{COLUMNS, TABLES, is_visible, session};

/// Changes of state that are told of a session.
const TRANSITIONS_TOLD: u32 = 1_000;
/// Rows that are looked up in place on SQLite, where more would keep others from the thread.
const IN_PLACE_MAX: usize = 16;

/// One session, the head of the log and the instant, in one statement.
struct Find {
    id: SessionId,
    visibility: Visibility,
    now: Timestamp,
}

#[async_trait]
impl Transaction for Find {
    type Output = (Option<SessionAt>, Revision);

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output> {
        let sql = format!(
            "SELECT h.epoch, h.head, {}, s.id IS NOT NULL, {COLUMNS} FROM change_head h \
             LEFT JOIN session s ON s.id = $1 LEFT JOIN workspace w ON w.id = s.workspace_id \
             LEFT JOIN session_live l ON l.session_id = s.id WHERE h.one = 1",
            tx.dialect().instant("0")
        );
        let mut row = tx.one(&sql, &[self.id.as_str().into()]).await?;
        let revision = Revision {
            epoch: row.take()?,
            position: row.take()?,
        };
        let at = instant(tx, &mut row, self.now)?;
        let exists: bool = row.take()?;
        if !exists {
            return Ok((None, revision));
        }
        let session = session(row)?;
        let found = is_visible(&session, &self.visibility).then_some(SessionAt { session, at });
        Ok((found, revision))
    }
}

/// Some sessions and the instant, in one statement.
struct FindAll {
    conditions: Conditions,
    visibility: Visibility,
    now: Timestamp,
}

#[async_trait]
impl Transaction for FindAll {
    type Output = Vec<SessionAt>;

    async fn run(&self, tx: &mut Tx) -> Result<Vec<SessionAt>> {
        let sql = format!(
            "SELECT {}, {COLUMNS} FROM {TABLES}{}",
            tx.dialect().instant("0"),
            self.conditions.clause()
        );
        let rows = tx.rows(&sql, self.conditions.binds()).await?;
        let mut found = Vec::with_capacity(rows.len());
        for mut row in rows {
            let at = instant(tx, &mut row, self.now)?;
            let session = session(row)?;
            if is_visible(&session, &self.visibility) {
                found.push(SessionAt { session, at });
            }
        }
        Ok(found)
    }
}

/// Reads the instant that a statement selects with [`Dialect::instant`].
fn instant(tx: &mut Tx, row: &mut Row, own: Timestamp) -> Result<Timestamp> {
    let database = Timestamp::from_nanos(row.take()?);
    Ok(match tx.dialect() {
        Dialect::Sqlite => tx.newest.not_below(own),
        Dialect::Postgres => database,
    })
}

/// What was told of a session's states, the newest first.
struct Transitions(SessionId);

#[async_trait]
impl Transaction for Transitions {
    type Output = Vec<Transition>;

    async fn run(&self, tx: &mut Tx) -> Result<Vec<Transition>> {
        let sql = format!(
            "SELECT state, at, cause, by_whom FROM session_transition WHERE session_id = $1 \
             ORDER BY number DESC LIMIT {TRANSITIONS_TOLD}"
        );
        let mut told = Vec::new();
        for mut row in tx.rows(&sql, &[self.0.as_str().into()]).await? {
            let state: String = row.take()?;
            // A state of a newer release has no word here.
            if let Some(state) = SessionState::parse(&state) {
                told.push(Transition {
                    state,
                    at: Timestamp::from_nanos(row.take()?),
                    cause: row.take()?,
                    by: row.take()?,
                });
            }
        }
        Ok(told)
    }
}

struct IsTaken(SessionId);

#[async_trait]
impl Transaction for IsTaken {
    type Output = bool;

    async fn run(&self, tx: &mut Tx) -> Result<bool> {
        is_taken(tx, &self.0).await
    }
}

/// Whether an id is or was in use.
pub(crate) async fn is_taken(tx: &mut Tx, id: &SessionId) -> Result<bool> {
    let sql = "SELECT 1 FROM session WHERE id = $1 UNION ALL SELECT 1 FROM deleted_session WHERE id = $1";
    Ok(tx.row(sql, &[id.as_str().into()]).await?.is_some())
}

struct CountOfProfile(ProfileId);

#[async_trait]
impl Transaction for CountOfProfile {
    type Output = i64;

    async fn run(&self, tx: &mut Tx) -> Result<i64> {
        count_of_profile(tx, &self.0).await
    }
}

/// How many sessions belong to a profile.
pub(crate) async fn count_of_profile(tx: &mut Tx, id: &ProfileId) -> Result<i64> {
    let sql = "SELECT COUNT(*) FROM session WHERE profile_id = $1";
    tx.one(sql, &[id.as_str().into()]).await?.take()
}

impl SqlStore {
    pub(super) async fn session_with_id(
        &self,
        id: &SessionId,
        visibility: &Visibility,
        now: Timestamp,
    ) -> Result<(Option<SessionAt>, Revision)> {
        let find = Find {
            id: id.clone(),
            visibility: visibility.clone(),
            now,
        };
        self.db().read_one(Arc::new(find)).await
    }

    pub(super) async fn sessions_with_ids(
        &self,
        ids: &[SessionId],
        visibility: &Visibility,
        now: Timestamp,
    ) -> Result<Vec<SessionAt>> {
        let mut conditions = Conditions::default();
        conditions.and_one_of("s.id", ids.iter().map(SessionId::as_str));
        let find = FindAll {
            conditions,
            visibility: visibility.clone(),
            now,
        };
        if ids.len() <= IN_PLACE_MAX {
            self.db().read_one(Arc::new(find)).await
        } else {
            self.db().read(Arc::new(find)).await
        }
    }

    pub(super) async fn transitions_of(&self, id: &SessionId) -> Result<Vec<Transition>> {
        let mut told = self.db().read(Arc::new(Transitions(id.clone()))).await?;
        told.reverse();
        Ok(told)
    }

    pub(super) async fn session_id_is_taken(&self, id: &SessionId) -> Result<bool> {
        self.db().read(Arc::new(IsTaken(id.clone()))).await
    }

    pub(super) async fn count_sessions_of_profile(&self, id: &ProfileId) -> Result<i64> {
        self.db().read(Arc::new(CountOfProfile(id.clone()))).await
    }
}
