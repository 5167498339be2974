//! Upkeep of the kept numbers of sessions: folding what writers have left on Postgres, and counting anew.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;

use crate::error::Result;
use crate::open::SqlStore;
use crate::sql::db::{Transaction, Tx};
use crate::sql::dialect::Dialect;
use crate::sql::session_counts::kept_and_true;

/// Deltas that are folded in one transaction at most.
const FOLDED_AT_ONCE: i64 = 5_000;
/// Of the lock that the one who folds, or counts anew, holds.
const FOLDING_LOCK: i64 = 7_022_364_301_936_340;
const FOLD_LIMIT: Duration = Duration::from_secs(20);
/// Every session is read once.
const RECOUNT_LIMIT: Duration = Duration::from_secs(600);

/// Adds deltas to the kept numbers and deletes them. A reader sees a delta either apart or added, never both. Only one
/// process at a time; the others go on.
struct Fold;

#[async_trait]
impl Transaction for Fold {
    type Output = u64;

    async fn run(&self, tx: &mut Tx) -> Result<u64> {
        let sql = "SELECT pg_try_advisory_xact_lock($1), \
                   set_config('idle_in_transaction_session_timeout', '2000', TRUE)";
        let locked: bool = tx.one(sql, &[FOLDING_LOCK.into()]).await?.take()?;
        if !locked {
            return Ok(0);
        }
        let sql = "WITH taken AS (\
                     DELETE FROM session_count_delta WHERE number IN \
                       (SELECT number FROM session_count_delta ORDER BY number LIMIT $1) \
                     RETURNING scope, hidden, state, type, agent, count), \
                   folded AS (\
                     INSERT INTO session_count (scope, hidden, state, type, agent, count) \
                     SELECT scope, hidden, state, type, agent, CAST(SUM(count) AS BIGINT) FROM taken \
                     GROUP BY scope, hidden, state, type, agent HAVING SUM(count) <> 0 \
                     ON CONFLICT (scope, hidden, state, type, agent) \
                     DO UPDATE SET count = session_count.count + excluded.count) \
                   SELECT COUNT(*) FROM taken";
        let count: i64 = tx.one(sql, &[FOLDED_AT_ONCE.into()]).await?.take()?;
        Ok(count.unsigned_abs())
    }
}

/// Adds to each kept number what it lacks. Both are seen in the snapshot of one statement, so that what is written
/// meanwhile counts once.
struct Recount;

#[async_trait]
impl Transaction for Recount {
    type Output = u64;

    async fn run(&self, tx: &mut Tx) -> Result<u64> {
        if tx.dialect() == Dialect::Postgres {
            let sql = "SELECT pg_advisory_xact_lock($1) IS NULL";
            tx.rows(sql, &[FOLDING_LOCK.into()]).await?;
        }
        let sql = format!(
            "INSERT INTO session_count (scope, hidden, state, type, agent, count) \
             SELECT scope, hidden, state, type, agent, CAST(SUM(truth) - SUM(kept) AS BIGINT) FROM {} d \
             GROUP BY scope, hidden, state, type, agent HAVING SUM(truth) <> SUM(kept) \
             ON CONFLICT (scope, hidden, state, type, agent) \
             DO UPDATE SET count = session_count.count + excluded.count",
            kept_and_true(tx.dialect())
        );
        tx.execute(&sql, &[]).await
    }
}

impl SqlStore {
    pub(super) async fn fold_session_counts(&self) -> Result<u64> {
        match self.db().dialect() {
            Dialect::Sqlite => Ok(0),
            Dialect::Postgres => self.db().write(Instant::now() + FOLD_LIMIT, Arc::new(Fold)).await,
        }
    }

    pub(super) async fn recount_all_sessions(&self) -> Result<u64> {
        let deadline = Instant::now() + RECOUNT_LIMIT;
        self.db().write(deadline, Arc::new(Recount)).await
    }
}
