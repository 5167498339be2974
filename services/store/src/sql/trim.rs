//! Letting the oldest entries of the log go, in pieces.

use async_trait::async_trait;
use compozy_domain::Timestamp;

use crate::error::Result;
use crate::sql::db::{Transaction, Tx};

const TRIMMED_AT_ONCE: i64 = 5_000;

/// Only ever the beginning of the log goes, so that what is left has no gap: an entry of a clock that was set
/// back stays until those in front of it go.
pub(super) struct Trim {
    pub(super) before: Timestamp,
    pub(super) entries: i64,
}

#[async_trait]
impl Transaction for Trim {
    type Output = u64;

    async fn run(&self, tx: &mut Tx) -> Result<u64> {
        let sql = "SELECT head, floor FROM change_head WHERE one = 1";
        let mut row = tx.one(sql, &[]).await?;
        let (head, floor): (i64, i64) = (row.take()?, row.take()?);
        let end = floor.saturating_add(TRIMMED_AT_ONCE);
        // Those beyond the number go whatever their age.
        let mut last = head.saturating_sub(self.entries).clamp(floor, end);
        // Mostly nothing is old, and one row says so.
        for limit in [1, TRIMMED_AT_ONCE] {
            match self.last_old(tx, last, limit.min(end - last)).await? {
                Some(old) => last = old,
                None => break,
            }
        }
        if last == floor {
            return Ok(0);
        }
        if let Some(give_up) = tx.dialect().give_up_when_stopped() {
            tx.rows(give_up, &[]).await?;
        }
        // From the floor on: what lies below it is gone, but its places in the index may not be yet.
        let sql = "DELETE FROM change WHERE position > $1 AND position <= $2";
        let trimmed = tx.execute(sql, &[floor.into(), last.into()]).await?;
        // Another replica may have trimmed as far by now.
        let sql = "UPDATE change_head SET floor = $1 WHERE one = 1 AND floor < $1";
        tx.execute(sql, &[last.into()]).await?;
        Ok(trimmed)
    }
}

impl Trim {
    /// The last of the entries behind a position that are old without a break.
    async fn last_old(&self, tx: &mut Tx, after: i64, limit: i64) -> Result<Option<i64>> {
        let sql = "SELECT position, at FROM change WHERE position > $1 ORDER BY position LIMIT $2";
        let mut last = None;
        for mut row in tx.rows(sql, &[after.into(), limit.into()]).await? {
            let (position, at): (i64, i64) = (row.take()?, row.take()?);
            if at >= self.before.nanos() {
                break;
            }
            last = Some(position);
        }
        Ok(last)
    }
}
