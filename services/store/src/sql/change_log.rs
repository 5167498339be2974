//! Reading and numbering the change log.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;

use compozy_domain::{
    ChangeEntry, ChangeKind, ChangeOp, ChangeReason, HostId, NewChange, Revision, Timestamp, WorkspaceId,
};

use crate::change_log::{ChangeLog, LogHead};
use crate::error::{Error, Result};
use crate::open::SqlStore;
use crate::sql::db::{Row, Transaction, Tx};
use crate::sql::dialect::Dialect;

const NUMBERED_AT_ONCE: i64 = 1_000;
const TRIMMED_AT_ONCE: i64 = 5_000;
/// Of the lock that the one who numbers holds.
const NUMBERING_LOCK: i64 = 7_022_364_301_936_338;

/// Epoch and newest position, as this transaction sees them.
pub(crate) async fn head_revision(tx: &mut Tx) -> Result<Revision> {
    let mut row = tx
        .one("SELECT epoch, head FROM change_head WHERE one = 1", &[])
        .await?;
    Ok(Revision {
        epoch: row.take()?,
        position: row.take()?,
    })
}

#[async_trait]
impl ChangeLog for SqlStore {
    async fn head(&self) -> Result<LogHead> {
        self.db().read_one(Arc::new(Head)).await
    }

    async fn read_after(&self, position: i64, limit: u32) -> Result<(Vec<ChangeEntry>, i64)> {
        self.db().read(Arc::new(ReadAfter { position, limit })).await
    }

    async fn number_pending(&self) -> Result<u64> {
        if self.db().dialect() == Dialect::Sqlite {
            return Ok(0);
        }
        let deadline = Instant::now() + Duration::from_secs(10);
        self.db().write(deadline, Arc::new(NumberPending)).await
    }

    async fn trim(&self, before: Timestamp, entries: u64) -> Result<u64> {
        let deadline = Instant::now() + Duration::from_secs(10);
        let entries = i64::try_from(entries).unwrap_or(i64::MAX);
        self.db()
            .write(deadline, Arc::new(Trim { before, entries }))
            .await
    }

    async fn appended(&self) {
        self.db().appended().await;
    }
}

struct Head;

#[async_trait]
impl Transaction for Head {
    type Output = LogHead;

    async fn run(&self, tx: &mut Tx) -> Result<LogHead> {
        let pending = tx.dialect().pending_count();
        let sql = format!("SELECT epoch, head, floor, {pending} FROM change_head WHERE one = 1");
        let mut row = tx.one(&sql, &[]).await?;
        let head = Revision {
            epoch: row.take()?,
            position: row.take()?,
        };
        let floor = row.take()?;
        let pending: i64 = row.take()?;
        Ok(LogHead {
            head,
            floor,
            pending: pending.unsigned_abs(),
        })
    }
}

struct ReadAfter {
    position: i64,
    limit: u32,
}

#[async_trait]
impl Transaction for ReadAfter {
    type Output = (Vec<ChangeEntry>, i64);

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output> {
        let floor: i64 = tx
            .one("SELECT floor FROM change_head WHERE one = 1", &[])
            .await?
            .take()?;
        let sql = "SELECT position, kind, op, reason, host_id, workspace_id, version, session_count, at \
                   FROM change WHERE position > $1 ORDER BY position LIMIT $2";
        let rows = tx
            .rows(sql, &[self.position.into(), i64::from(self.limit).into()])
            .await?;
        let entries = rows.into_iter().map(entry).collect::<Result<_>>()?;
        Ok((entries, floor))
    }
}

fn entry(mut row: Row) -> Result<ChangeEntry> {
    let position = row.take()?;
    let (kind, op, reason): (String, String, String) = (row.take()?, row.take()?, row.take()?);
    let unknown = || {
        Error::Corrupt(format!(
            "entry {position} of the change log holds an unknown word"
        ))
    };
    Ok(ChangeEntry {
        position,
        change: NewChange {
            kind: ChangeKind::parse(&kind).ok_or_else(unknown)?,
            op: ChangeOp::parse(&op).ok_or_else(unknown)?,
            reason: ChangeReason::parse(&reason).ok_or_else(unknown)?,
            host_id: HostId::from_stored(row.take()?),
            workspace_id: WorkspaceId::from_stored(row.take()?),
            version: row.take()?,
            session_count: row.take()?,
            at: Timestamp::from_nanos(row.take()?),
        },
    })
}

/// Moves committed entries into the log, in the order in which their numbers were drawn. Only one process at
/// a time; the others go on reading.
struct NumberPending;

#[async_trait]
impl Transaction for NumberPending {
    type Output = u64;

    async fn run(&self, tx: &mut Tx) -> Result<u64> {
        let locked: bool = tx
            .one("SELECT pg_try_advisory_xact_lock($1)", &[NUMBERING_LOCK.into()])
            .await?
            .take()?;
        if !locked {
            return Ok(0);
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
        let row = tx.row(sql, &[NUMBERED_AT_ONCE.into()]).await?;
        let count: i64 = row.map_or(Ok(0), |mut row| row.take())?;
        Ok(count.unsigned_abs())
    }
}

/// Only ever the beginning of the log goes, so that what is left has no gap: an entry of a clock that was set
/// back stays until those in front of it go.
struct Trim {
    before: Timestamp,
    entries: i64,
}

#[async_trait]
impl Transaction for Trim {
    type Output = u64;

    async fn run(&self, tx: &mut Tx) -> Result<u64> {
        // Mostly nothing is due, and one row says so.
        let mut floor = None;
        for limit in [1, TRIMMED_AT_ONCE] {
            let Some(last) = self.last_due(tx, limit).await? else {
                break;
            };
            floor = Some(last);
        }
        let Some(floor) = floor else { return Ok(0) };
        let sql = "DELETE FROM change WHERE position <= $1";
        let trimmed = tx.execute(sql, &[floor.into()]).await?;
        // Another replica may have trimmed as far by now.
        let sql = "UPDATE change_head SET floor = $1 WHERE one = 1 AND floor < $1";
        tx.execute(sql, &[floor.into()]).await?;
        Ok(trimmed)
    }
}

impl Trim {
    /// The last of the oldest entries that are due without a break.
    async fn last_due(&self, tx: &mut Tx, limit: i64) -> Result<Option<i64>> {
        let sql = "SELECT c.position, c.at, h.head FROM change c, change_head h \
                   WHERE h.one = 1 AND c.position > h.floor ORDER BY c.position LIMIT $1";
        let mut last = None;
        for mut row in tx.rows(sql, &[limit.into()]).await? {
            let (position, at, head): (i64, i64, i64) = (row.take()?, row.take()?, row.take()?);
            if at >= self.before.nanos() && position > head.saturating_sub(self.entries) {
                break;
            }
            last = Some(position);
        }
        Ok(last)
    }
}
