//! The catalog's clock: the database's on Postgres. A file has one process, and its clock counts, never below an instant
//! that was stored: a clock that was set back stands still until it has caught up.

use std::sync::atomic::{AtomicI64, Ordering};

use compozy_domain::Timestamp;
use compozy_domain::session::change::OUTAGE_AFTER;

use crate::error::Result;
use crate::open::SqlStore;
use crate::sql::db::{Db, Tx};
use crate::sql::dialect::Dialect;

/// The newest instant that was stored of sessions, as far as the process that has the file open knows; it knows all of
/// them.
#[derive(Debug)]
pub(crate) struct NewestInstant(AtomicI64);

impl Default for NewestInstant {
    fn default() -> Self {
        Self(AtomicI64::new(i64::MIN))
    }
}

impl NewestInstant {
    /// This instant, or the newest one if that is later.
    pub(crate) fn not_below(&self, now: Timestamp) -> Timestamp {
        now.max(Timestamp::from_nanos(self.0.load(Ordering::SeqCst)))
    }

    /// An instant was stored.
    pub(crate) fn raise(&self, stored: Timestamp) {
        self.0.fetch_max(stored.nanos(), Ordering::SeqCst);
    }
}

/// The instant of a write, and when the sweep last ran if that was so long ago that the catalog counts as having been
/// away. To be asked for after the locks.
pub(crate) async fn session_moment(tx: &mut Tx, own: Timestamp) -> Result<(Timestamp, Option<Timestamp>)> {
    let sql = format!(
        "SELECT {}, (SELECT ran_at FROM session_sweep WHERE one = 1)",
        tx.dialect().instant("0")
    );
    let mut row = tx.one(&sql, &[]).await?;
    let database = Timestamp::from_nanos(row.take()?);
    let now = match tx.dialect() {
        Dialect::Sqlite => tx.not_below_stored(own),
        Dialect::Postgres => database,
    };
    let swept_at: Option<i64> = row.take()?;
    let away_since = swept_at
        .map(Timestamp::from_nanos)
        .filter(|swept_at| swept_at.plus(OUTAGE_AFTER) < now);
    Ok((now, away_since))
}

/// Takes in what was stored before a file was opened. Every move of a record is in `updated_at`, of which the index of
/// the lists has the newest of each state first; the sweep stores when it ran, every few seconds.
pub(crate) async fn load_newest_instant(tx: &mut Tx) -> Result<()> {
    let newest: Option<i64> = tx.one(NEWEST_INSTANT, &[]).await?.take()?;
    if let Some(newest) = newest {
        tx.newest.raise(Timestamp::from_nanos(newest));
    }
    Ok(())
}

const NEWEST_INSTANT: &str = "SELECT MAX(at) FROM (\
     SELECT (SELECT s.updated_at FROM session s WHERE s.hidden = k.hidden AND s.state = k.state \
       ORDER BY s.updated_at DESC LIMIT 1) AS at \
     FROM (SELECT DISTINCT hidden, state FROM session_count WHERE scope = '*') k \
     UNION ALL SELECT MAX(ran_at) FROM session_sweep \
     UNION ALL SELECT MAX(heartbeat_at) FROM session_live \
     UNION ALL SELECT MAX(lease_bound_at) FROM session_live) n";

impl SqlStore {
    /// The catalog's clock as far as this process knows it. On Postgres the database's is read in each transaction
    /// instead.
    pub(super) fn session_clock(&self, now: Timestamp) -> Timestamp {
        match self.db() {
            Db::Sqlite(sqlite) => sqlite.newest().not_below(now),
            Db::Postgres(_) => now,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_newest_instant_is_found_without_reading_every_session() {
        let catalog = rusqlite::Connection::open_in_memory().unwrap();
        for migration in [
            include_str!("../../migrations/sqlite/0001_catalog.sql"),
            include_str!("../../migrations/sqlite/0002_origin.sql"),
            include_str!("../../migrations/sqlite/0003_profiles.sql"),
            include_str!("../../migrations/sqlite/0004_sessions.sql"),
        ] {
            catalog.execute_batch(migration).unwrap();
        }
        let mut plan = catalog
            .prepare(&format!("EXPLAIN QUERY PLAN {NEWEST_INSTANT}"))
            .unwrap();
        let mut steps = plan.raw_query();
        let mut details = Vec::new();
        while let Some(step) = steps.next().unwrap() {
            details.push(step.get::<_, String>("detail").unwrap());
        }
        let of_sessions = details.iter().find(|detail| detail.contains(" s ")).unwrap();
        assert!(of_sessions.starts_with("SEARCH s USING"), "{details:?}");
        assert!(
            !details.iter().any(|detail| detail.contains("ORDER BY")),
            "{details:?}"
        );
    }
}
