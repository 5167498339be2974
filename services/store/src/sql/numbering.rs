//! Giving positions to committed entries, on Postgres; SQLite numbers inside the write.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::change_log::{ChangeLog as _, NUMBERED_AT_ONCE, Numbering};
use crate::error::Result;
use crate::open::SqlStore;
use crate::sql::db::{Transaction, Tx};
use crate::sql::origin;

/// Between two looks at entries that another process numbers.
const SETTLING_PAUSE: Duration = Duration::from_millis(3);
/// Of the lock that the one who numbers holds.
const NUMBERING_LOCK: i64 = 7_022_364_301_936_338;

/// Moves committed entries into the log, in the order in which their numbers were drawn. Only one process at
/// a time; the others go on reading.
pub(super) struct NumberPending {
    /// Settle the epoch as well: the server that gives the positions may be another one than at the last time.
    pub(super) follows_server: bool,
}

#[async_trait]
impl Transaction for NumberPending {
    type Output = Numbering;

    async fn run(&self, tx: &mut Tx) -> Result<Numbering> {
        // Lock and `Dialect::give_up_when_stopped` in one round trip: this runs after every burst of writes.
        let sql = "SELECT pg_try_advisory_xact_lock($1), \
                   set_config('idle_in_transaction_session_timeout', '2000', TRUE)";
        let locked: bool = tx.one(sql, &[NUMBERING_LOCK.into()]).await?.take()?;
        if !locked {
            return Ok(Numbering::Busy);
        }
        let sql = "WITH taken AS (\
                     DELETE FROM change_pending WHERE seq IN \
                       (SELECT seq FROM change_pending ORDER BY seq LIMIT $1) RETURNING *), \
                   numbered AS (\
                     INSERT INTO change (position, kind, op, reason, host_id, workspace_id, from_workspace_id, \
                       session_id, profile_id, internal, version, session_count, at) \
                     SELECT h.head + row_number() OVER (ORDER BY t.seq), t.kind, t.op, t.reason, t.host_id, \
                       t.workspace_id, t.from_workspace_id, t.session_id, t.profile_id, t.internal, t.version, \
                       t.session_count, t.at FROM taken t, change_head h \
                     RETURNING position) \
                   UPDATE change_head SET head = head + n.count \
                   FROM (SELECT COUNT(*) AS count FROM numbered) n WHERE n.count > 0 RETURNING n.count";
        let limit = i64::try_from(NUMBERED_AT_ONCE).unwrap_or(i64::MAX);
        let row = tx.row(sql, &[limit.into()]).await?;
        let count: i64 = row.map_or(Ok(0), |mut row| row.take())?;
        if count > 0 && self.follows_server {
            let current: Option<String> = tx.one(origin::CURRENT, &[]).await?.take()?;
            if let Some(current) = current {
                tx.execute(origin::SETTLE, &[current.into()]).await?;
            }
        }
        Ok(Numbering::Given(count.unsigned_abs()))
    }
}

impl SqlStore {
    /// Mostly nothing is pending, and one statement says so. Whoever numbers a piece that is not full has left nothing
    /// of before; only behind somebody else's back it has to be looked for.
    pub(super) async fn settle_pending(&self) -> Result<()> {
        if !self
            .db()
            .read_one(Arc::new(IsPending { up_to: i64::MAX }))
            .await?
        {
            return Ok(());
        }
        let mut newest = None;
        loop {
            match self.number_pending().await? {
                Numbering::Given(NUMBERED_AT_ONCE) => {}
                Numbering::Given(_) => return Ok(()),
                Numbering::Busy => {
                    if newest.is_none() {
                        newest = self.db().read_one(Arc::new(NewestPending)).await?;
                    }
                    let Some(up_to) = newest else { return Ok(()) };
                    if !self.db().read_one(Arc::new(IsPending { up_to })).await? {
                        return Ok(());
                    }
                    tokio::time::sleep(SETTLING_PAUSE).await;
                }
            }
        }
    }
}

struct NewestPending;

#[async_trait]
impl Transaction for NewestPending {
    type Output = Option<i64>;

    async fn run(&self, tx: &mut Tx) -> Result<Option<i64>> {
        let mut row = tx.one("SELECT MAX(seq) FROM change_pending", &[]).await?;
        row.take()
    }
}

struct IsPending {
    up_to: i64,
}

#[async_trait]
impl Transaction for IsPending {
    type Output = bool;

    async fn run(&self, tx: &mut Tx) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM change_pending WHERE seq <= $1)";
        tx.one(sql, &[self.up_to.into()]).await?.take()
    }
}
