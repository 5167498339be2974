//! The change log: its state and its entries, in one snapshot.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;

use compozy_domain::{
    ChangeEntry, ChangeKind, ChangeOp, ChangeReason, HostId, NewChange, ProfileId, Revision, SessionId,
    Timestamp, WorkspaceId,
};

use crate::change_log::{ChangeLog, LogHead, LogSlice, Numbering};
use crate::error::{Error, Result};
use crate::open::SqlStore;
use crate::planted;
use crate::sql::db::{Row, Transaction, Tx};
use crate::sql::dialect::Dialect;
use crate::sql::numbering::NumberPending;
use crate::sql::trim::Trim;

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

    async fn read_after(&self, position: i64, limit: u32) -> Result<LogSlice> {
        let floor_apart = if planted::is("floor_apart") {
            tokio::time::sleep(Duration::from_millis(5)).await;
            true
        } else {
            false
        };
        let read = Arc::new(ReadAfter { position, limit });
        let mut slice = match self.db().dialect() {
            // Many rows take longer than a look-up in place may.
            Dialect::Sqlite => self.db().read(read).await?,
            Dialect::Postgres => self.db().read_one(read).await?,
        };
        if floor_apart {
            slice.floor = 0;
        }
        Ok(slice)
    }

    async fn number_pending(&self) -> Result<Numbering> {
        if self.db().dialect() == Dialect::Sqlite {
            return Ok(Numbering::Given(0));
        }
        let number = NumberPending {
            follows_server: self.db().may_move(),
        };
        self.db().write(soon(), Arc::new(number)).await
    }

    async fn settle(&self, deadline: Instant) -> Result<()> {
        if self.db().dialect() == Dialect::Sqlite {
            return Ok(());
        }
        let settled = tokio::time::timeout_at(deadline.into(), self.settle_pending()).await;
        settled.unwrap_or(Err(Error::DeadlineExceeded))
    }

    async fn trim(&self, before: Timestamp, entries: u64) -> Result<u64> {
        let entries = i64::try_from(entries).unwrap_or(i64::MAX);
        self.db().write(soon(), Arc::new(Trim { before, entries })).await
    }

    async fn now(&self, own: Timestamp) -> Result<Timestamp> {
        match self.db().dialect() {
            Dialect::Sqlite => Ok(own),
            Dialect::Postgres => self.db().read_one(Arc::new(DatabaseTime)).await,
        }
    }

    async fn appended(&self) {
        self.db().appended().await;
    }

    async fn hinted(&self) {
        self.db().hinted().await;
    }

    async fn hint(&self) {
        self.db().hint();
    }

    fn poll_period(&self) -> Duration {
        self.db().poll_period()
    }
}

/// The deadline of the log's own writes.
fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

struct Head;

#[async_trait]
impl Transaction for Head {
    type Output = LogHead;

    async fn run(&self, tx: &mut Tx) -> Result<LogHead> {
        let pending = tx.dialect().pending_state();
        let sql = format!(
            "SELECT h.epoch, h.head, h.floor, p.count, p.lag FROM change_head h, {pending} p WHERE h.one = 1"
        );
        let mut row = tx.one(&sql, &[]).await?;
        let head = Revision {
            epoch: row.take()?,
            position: row.take()?,
        };
        let floor = row.take()?;
        let (pending, lag): (i64, i64) = (row.take()?, row.take()?);
        Ok(LogHead {
            head,
            floor,
            pending: pending.unsigned_abs(),
            // The database's clock may have been set back since.
            lag: Duration::from_nanos(u64::try_from(lag).unwrap_or(0)),
        })
    }
}

struct DatabaseTime;

#[async_trait]
impl Transaction for DatabaseTime {
    type Output = Timestamp;

    async fn run(&self, tx: &mut Tx) -> Result<Timestamp> {
        let sql = format!("SELECT {}", tx.dialect().instant("NULL"));
        let nanos = tx.one(&sql, &[]).await?.take()?;
        Ok(Timestamp::from_nanos(nanos))
    }
}

struct ReadAfter {
    position: i64,
    limit: u32,
}

/// Head, floor and entries in one statement, and so in one snapshot. Its one row without an entry tells the state of
/// a log that holds nothing above the position.
const READ_AFTER: &str = "SELECT h.epoch, h.head, h.floor, c.position, c.kind, c.op, c.reason, c.host_id, \
     c.workspace_id, c.from_workspace_id, c.session_id, c.profile_id, c.internal, c.version, c.session_count, c.at \
     FROM change_head h LEFT JOIN \
       (SELECT * FROM change WHERE position > $1 ORDER BY position LIMIT $2) c ON 1 = 1 \
     WHERE h.one = 1 ORDER BY c.position";

#[async_trait]
impl Transaction for ReadAfter {
    type Output = LogSlice;

    async fn run(&self, tx: &mut Tx) -> Result<LogSlice> {
        let binds = [self.position.into(), i64::from(self.limit).into()];
        let mut rows = tx.rows(READ_AFTER, &binds).await?.into_iter();
        let mut first = rows
            .next()
            .ok_or_else(|| Error::Corrupt("the change log has no head".into()))?;
        let mut slice = LogSlice {
            head: Revision {
                epoch: first.take()?,
                position: first.take()?,
            },
            floor: first.take()?,
            entries: Vec::with_capacity(rows.len() + 1),
        };
        let Some(position) = first.take()? else {
            return Ok(slice);
        };
        slice.entries.push(entry(position, first)?);
        for mut row in rows {
            row.skip(3);
            let position = row.take()?;
            slice.entries.push(entry(position, row)?);
        }
        Ok(slice)
    }
}

fn entry(position: i64, mut row: Row) -> Result<ChangeEntry> {
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
            workspace_id: row.take::<Option<String>>()?.map(WorkspaceId::from_stored),
            from_workspace_id: row.take::<Option<String>>()?.map(WorkspaceId::from_stored),
            session_id: row.take::<Option<String>>()?.map(SessionId::from_stored),
            profile_id: row.take::<Option<String>>()?.map(ProfileId::from_stored),
            internal: row.take()?,
            version: row.take()?,
            session_count: row.take()?,
            at: Timestamp::from_nanos(row.take()?),
        },
    })
}
