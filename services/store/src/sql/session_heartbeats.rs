//! Heartbeats: many in one transaction, in a few statements, whatever their number.
//!
//! On Postgres the rows of the sessions are locked first, in the order of their ids: so a heartbeat is serialised with
//! everything else that writes the session, and two batches never wait for each other in a circle. All locks are taken
//! before the first change is appended.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;

use compozy_domain::session::change::{Moment, Outcome, Report};
use compozy_domain::{CatalogError, LeaseHash, Session, SessionAt, SessionId, Timestamp, Visibility};

use crate::error::Result;
use crate::open::SqlStore;
use crate::sessions::{HeartbeatCall, Heartbeats};
use crate::sql::db::{Row, Transaction, Tx};
use crate::sql::dialect::Dialect;
use crate::sql::select::Conditions;
use crate::sql::session_apply::apply;
use crate::sql::session_clock::session_moment;
use crate::sql::session_leases::bound_hash;
use crate::sql::session_live_rows::{renew, write_activities};
use crate::sql::session_rows::{COLUMNS, TABLES, is_visible, session};

/// Sessions that one statement reads or locks.
const AT_ONCE: usize = 512;
/// How far the copy of the last activity may be behind before a heartbeat brings it up to date. The sweep does it for
/// those that fall silent after that.
const COPY_IS_OLD: Duration = Duration::from_secs(5);
/// A heartbeat that was kept waiting for so long is judged by when it was asked for and renews from when it is taken: a
/// removal of very many sessions, or a stalled disk, would otherwise take short leases from live runtimes.
const WAIT_IS_LONG: Duration = Duration::from_millis(500);

type Beaten = std::result::Result<SessionAt, CatalogError>;

impl SqlStore {
    pub(super) async fn take_heartbeats(
        &self,
        beats: &Heartbeats,
        call: &HeartbeatCall,
    ) -> Result<Vec<Beaten>> {
        let batch = Batch {
            beats: beats.clone(),
            visibility: call.visibility.clone(),
            now: call.now,
            asked_at: call.asked_at,
        };
        self.db().write(call.deadline, Arc::new(batch)).await
    }
}

/// Heartbeats to take.
struct Batch {
    beats: Heartbeats,
    visibility: Visibility,
    now: Timestamp,
    asked_at: Instant,
}

/// A session under its lock.
struct Held {
    /// As it is stored.
    stored: Session,
    /// As the heartbeats so far have left it.
    session: Session,
    /// The key of the order by activity, as the row has it.
    active_at: Timestamp,
}

#[async_trait]
impl Transaction for Batch {
    type Output = Vec<Beaten>;

    async fn run(&self, tx: &mut Tx) -> Result<Vec<Beaten>> {
        let mut sessions = self.hold(tx).await?;
        let (now, away_since) = self.moment(tx).await?;
        let by_lease: HashMap<LeaseHash, SessionId> = sessions
            .values()
            .filter_map(|held| Some((lease_of(&held.session)?.clone(), held.session.id.clone())))
            .collect();
        let mut answers = Vec::with_capacity(self.beats.beats.len());
        let mut news: Vec<(Session, Outcome)> = Vec::new();
        for (hash, report) in &self.beats.beats {
            let held = by_lease.get(hash).and_then(|id| sessions.get_mut(id));
            let moment = Moment {
                now,
                by: "",
                stale_after: self.beats.stale_after,
                away_since,
            };
            answers.push(self.beat(held, (hash, report), moment, &mut news));
        }
        for (before, outcome) in &news {
            // The root is not needed: a heartbeat moves no session.
            apply(tx, before, outcome, None, now).await?;
        }
        // After the news, which heartbeats without news may have followed in the same batch.
        write_quiet(tx, &sessions, now).await?;
        Ok(answers)
    }
}

impl Batch {
    fn beat(
        &self,
        held: Option<&mut Held>,
        (hash, report): (&LeaseHash, &Report),
        moment: Moment<'_>,
        news: &mut Vec<(Session, Outcome)>,
    ) -> Beaten {
        let held = held.filter(|held| is_visible(&held.session, &self.visibility));
        let held = held.ok_or(CatalogError::LeaseLost)?;
        held.session.check_understood()?;
        let outcome = held.session.heartbeat(hash, report, moment)?;
        held.session = outcome.next.clone();
        if outcome.entry.is_some() {
            let before = std::mem::replace(&mut held.stored, outcome.next.clone());
            held.active_at = held.session.active_at();
            news.push((before, outcome));
        }
        Ok(SessionAt {
            session: held.session.clone(),
            at: moment.now,
        })
    }

    /// The instant, and since when lapsed leases are excused. To be asked for after the locks.
    async fn moment(&self, tx: &mut Tx) -> Result<(Timestamp, Option<Timestamp>)> {
        let (now, away_since) = session_moment(tx, self.now).await?;
        let waited = self.asked_at.elapsed();
        if waited < WAIT_IS_LONG {
            return Ok((now, away_since));
        }
        let (now, asked) = match tx.dialect() {
            Dialect::Sqlite => (now.max(self.now.plus(waited)), self.now),
            Dialect::Postgres => (now, now.minus(waited)),
        };
        let excused_since = away_since.map_or(asked, |away_since| away_since.min(asked));
        Ok((now, Some(excused_since)))
    }

    /// The sessions of the batch, locked.
    async fn hold(&self, tx: &mut Tx) -> Result<BTreeMap<SessionId, Held>> {
        let ids = self.sessions_of_leases(tx).await?;
        if tx.dialect() == Dialect::Postgres {
            for ids in ids.chunks(AT_ONCE) {
                let mut conditions = Conditions::default();
                conditions.and_one_of("id", ids.iter().map(String::as_str));
                let sql = format!(
                    "SELECT id FROM session{} ORDER BY id{}",
                    conditions.clause(),
                    tx.dialect().for_update()
                );
                tx.rows(&sql, conditions.binds()).await?;
            }
        }
        let mut sessions = BTreeMap::new();
        // Read after the locks, so that the rows are those that the last holders left.
        for ids in ids.chunks(AT_ONCE) {
            let mut conditions = Conditions::default();
            conditions.and_one_of("s.id", ids.iter().map(String::as_str));
            read(tx, &conditions, &mut sessions).await?;
        }
        Ok(sessions)
    }

    /// The ids of the sessions that the leases belong to, in the order in which they are locked: by bytes.
    async fn sessions_of_leases(&self, tx: &mut Tx) -> Result<Vec<String>> {
        let mut hashes: Vec<&LeaseHash> = self.beats.beats.iter().map(|(hash, _)| hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        let mut ids: Vec<String> = Vec::with_capacity(hashes.len());
        for hashes in hashes.chunks(AT_ONCE) {
            let mut conditions = Conditions::default();
            and_one_of_leases(&mut conditions, hashes);
            let sql = format!("SELECT session_id FROM session_live{}", conditions.clause());
            for mut row in tx.rows(&sql, conditions.binds()).await? {
                ids.push(row.take()?);
            }
        }
        ids.sort_unstable();
        Ok(ids)
    }
}

/// Adds that a lease is one of these, of which there is at least one.
fn and_one_of_leases(conditions: &mut Conditions, hashes: &[&LeaseHash]) {
    let Some(last) = hashes.last() else { return };
    // The last one again up to a power of two: lists of every length share a few prepared statements.
    let filling = std::iter::repeat_n(last, hashes.len().next_power_of_two() - hashes.len());
    let placeholders = conditions.bind_all(hashes.iter().chain(filling).map(|hash| bound_hash(hash)));
    conditions.and(format!("lease_hash IN ({placeholders})"));
}

async fn read(tx: &mut Tx, conditions: &Conditions, sessions: &mut BTreeMap<SessionId, Held>) -> Result<()> {
    let sql = format!(
        "SELECT s.active_at, {COLUMNS} FROM {TABLES}{}",
        conditions.clause()
    );
    for row in tx.rows(&sql, conditions.binds()).await? {
        let held = held(row)?;
        sessions.insert(held.session.id.clone(), held);
    }
    Ok(())
}

fn held(mut row: Row) -> Result<Held> {
    let active_at = Timestamp::from_nanos(row.take()?);
    let session = session(row)?;
    Ok(Held {
        stored: session.clone(),
        session,
        active_at,
    })
}

fn lease_of(session: &Session) -> Option<&LeaseHash> {
    Some(&session.live.as_ref()?.lease.as_ref()?.hash)
}

/// Writes what heartbeats without news have left, in rows of many.
async fn write_quiet(tx: &mut Tx, sessions: &BTreeMap<SessionId, Held>, now: Timestamp) -> Result<()> {
    let renewed = |held: &&Held| held.session != held.stored;
    let quiet: Vec<&Session> = sessions
        .values()
        .filter(renewed)
        .map(|held| &held.session)
        .collect();
    renew(tx, &quiet).await?;
    let behind =
        |held: &&Held| held.session.active_at() > held.active_at && held.active_at.plus(COPY_IS_OLD) < now;
    let behind: Vec<&Session> = sessions
        .values()
        .filter(behind)
        .map(|held| &held.session)
        .collect();
    write_activities(tx, &behind).await
}
