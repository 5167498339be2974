//! The sweep: what becomes of sessions by time alone.
//!
//! A run stores when it was, and finds out whether the catalog had been away; then the leases that lapsed meanwhile are
//! renewed in the same transaction, so that a process that is stopped in the midst of it leaves none behind. The rest is
//! done in pieces, each in a transaction of its own: candidates are found by a scan of the narrow rows, locked, read
//! again and judged by [`compozy_domain::Session::swept`]. Whoever else sweeps takes the rows that are not locked.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;

use compozy_domain::Timestamp;

use crate::error::{Error, Result};
use crate::open::SqlStore;
use crate::sessions::{Sweep, Swept};
use crate::sql::db::{Transaction, Tx};
use crate::sql::dialect::Dialect;
use crate::sql::session_clock::session_moment;
use crate::sql::session_leases::last_run;
use crate::sql::session_rows::session_now;
use crate::sql::session_sweep_pieces::{Candidates, Found, Piece, Source};

/// A run that takes longer says that it is still at work: otherwise its own length would look like an outage.
const TELL_EVERY: Duration = Duration::from_secs(2);

impl SqlStore {
    pub(super) async fn sweep_sessions(&self, sweep: Sweep) -> Result<Swept> {
        let begun = Begin { now: sweep.now };
        let begun = self.db().write(sweep.deadline, Arc::new(begun)).await?;
        let mut run = Run {
            store: self,
            swept: Swept {
                granted_count: begun.granted_count,
                ..Swept::default()
            },
            classifies: !begun.was_away,
            began: Instant::now(),
            told: Instant::now(),
            sweep,
        };
        let outcome = match run.look_at(Source::Live).await {
            Ok(()) => run.look_at(Source::Starting).await,
            failed => failed,
        };
        match outcome {
            // What was done stays done; the next run does the rest.
            Ok(()) | Err(Error::DeadlineExceeded) => Ok(run.swept),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn last_sweep(&self) -> Result<Option<Timestamp>> {
        self.db().read_one(Arc::new(LastRun)).await
    }
}

/// One run.
struct Run<'s> {
    store: &'s SqlStore,
    sweep: Sweep,
    /// Not so right after the catalog was away: then its own absence is to blame.
    classifies: bool,
    began: Instant,
    told: Instant,
    swept: Swept,
}

impl Run<'_> {
    async fn look_at(&mut self, source: Source) -> Result<()> {
        let mut after = String::new();
        loop {
            if Instant::now() >= self.sweep.deadline {
                return Err(Error::DeadlineExceeded);
            }
            let candidates = Candidates {
                source,
                after: after.clone(),
                sweep: self.sweep.clone(),
                classifies: self.classifies,
            };
            let ids = self.store.db().read(Arc::new(candidates)).await?;
            let Some(last) = ids.last() else {
                return Ok(());
            };
            after.clone_from(last);
            self.do_piece(ids).await?;
            self.tell().await?;
        }
    }

    /// Does a piece; if something in it can't be used, each of its sessions by itself.
    async fn do_piece(&mut self, ids: Vec<String>) -> Result<()> {
        let outcome = self.try_piece(ids.clone()).await;
        let Err(error) = outcome else {
            return Ok(());
        };
        if !is_of_a_row(&error) {
            return Err(error);
        }
        for id in ids {
            match self.try_piece(vec![id.clone()]).await {
                Ok(()) => {}
                Err(error) if is_of_a_row(&error) => self.swept.unusable.push((id, error.to_string())),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn try_piece(&mut self, ids: Vec<String>) -> Result<()> {
        let piece = Piece {
            ids,
            sweep: self.sweep.clone(),
            classifies: self.classifies,
        };
        let found: Found = self
            .store
            .db()
            .write(self.sweep.deadline, Arc::new(piece))
            .await?;
        self.swept.stopped.extend(found.stopped);
        self.swept.attach_lapsed_count += found.attach_lapsed_count;
        self.swept.edge_count += found.edge_count;
        self.swept.unusable.extend(found.unusable);
        Ok(())
    }

    async fn tell(&mut self) -> Result<()> {
        if self.told.elapsed() < TELL_EVERY {
            return Ok(());
        }
        self.told = Instant::now();
        let now = self.sweep.now.plus(self.began.elapsed());
        let tell = Tell { now };
        self.store.db().write(self.sweep.deadline, Arc::new(tell)).await
    }
}

/// Whether it is a row that is at fault, and not the store.
const fn is_of_a_row(error: &Error) -> bool {
    matches!(error, Error::Corrupt(_) | Error::Defect(_) | Error::Rejected(_))
}

/// Stores that a run begins.
struct Begin {
    now: Timestamp,
}

/// How a run begins.
#[derive(Debug)]
struct Begun {
    was_away: bool,
    granted_count: u64,
}

#[async_trait]
impl Transaction for Begin {
    type Output = Begun;

    async fn run(&self, tx: &mut Tx) -> Result<Begun> {
        let lock = format!(
            "SELECT one FROM session_sweep WHERE one = 1{}",
            tx.dialect().for_update()
        );
        tx.row(&lock, &[]).await?;
        let (now, away_since) = session_moment(tx, self.now).await?;
        let granted_count = match away_since {
            Some(away_since) => grant(tx, away_since, now).await?,
            None => 0,
        };
        store_run(tx, now).await?;
        Ok(Begun {
            was_away: away_since.is_some(),
            granted_count,
        })
    }
}

/// Gives each lease that lapsed while the catalog was away one ttl from now.
async fn grant(tx: &mut Tx, away_since: Timestamp, now: Timestamp) -> Result<u64> {
    let lapsed = [away_since.into(), now.into()];
    if tx.dialect() == Dialect::Postgres {
        // Who is about to write one of these sessions has read its lease under this lock.
        let sql = "SELECT COUNT(*) FROM (SELECT s.id FROM session s JOIN session_live l ON l.session_id = s.id \
                   WHERE l.lease_expires_at > $1 AND l.lease_expires_at <= $2 ORDER BY s.id FOR UPDATE OF s) locked";
        tx.rows(sql, &lapsed).await?;
    }
    let sql = "UPDATE session_live SET lease_expires_at = $2 + lease_ttl \
               WHERE lease_expires_at > $1 AND lease_expires_at <= $2";
    tx.execute(sql, &lapsed).await
}

async fn store_run(tx: &mut Tx, now: Timestamp) -> Result<()> {
    let sql = "INSERT INTO session_sweep (one, ran_at) VALUES (1, $1) \
               ON CONFLICT (one) DO UPDATE SET ran_at = excluded.ran_at";
    tx.execute(sql, &[now.into()]).await?;
    Ok(())
}

/// Stores that a run is still at work.
struct Tell {
    now: Timestamp,
}

#[async_trait]
impl Transaction for Tell {
    type Output = ();

    async fn run(&self, tx: &mut Tx) -> Result<()> {
        let now = session_now(tx, self.now).await?;
        store_run(tx, now).await
    }
}

struct LastRun;

#[async_trait]
impl Transaction for LastRun {
    type Output = Option<Timestamp>;

    async fn run(&self, tx: &mut Tx) -> Result<Option<Timestamp>> {
        last_run(tx).await
    }
}
