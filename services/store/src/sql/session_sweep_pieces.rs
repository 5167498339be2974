//! One piece of the sweep: sessions that time may have changed, found without a lock and judged under it.

use async_trait::async_trait;

use compozy_domain::session::change::{Moment, Outcome};
use compozy_domain::{ChangeReason, Session, SessionId, SessionState, Timestamp};

use crate::error::Result;
use crate::sessions::Sweep;
use crate::sql::db::{Row, Transaction, Tx};
use crate::sql::dialect::Dialect;
use crate::sql::select::Conditions;
use crate::sql::session_apply::apply;
use crate::sql::session_leases::BY_SWEEP;
use crate::sql::session_live_rows::write_activities;
use crate::sql::session_rows::{COLUMNS, TABLES, session, session_now};

/// Sessions of a piece: few, so that others get in.
const PIECE: i64 = 200;

/// Whether the copy of the last activity in the record is not the one that the runtime reported.
const IS_BEHIND: &str = "l.activity IS NOT NULL AND l.activity IS DISTINCT FROM s.activity";

/// Where candidates are found.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    /// Among the rows of live sessions: lapsed leases, silence, activities that the record does not have yet.
    Live,
    /// Among the sessions that start, also those without such a row.
    Starting,
}

/// The next sessions that time may have changed.
pub(super) struct Candidates {
    pub(super) source: Source,
    /// The last one before; empty for the first piece.
    pub(super) after: String,
    pub(super) sweep: Sweep,
    /// Whether lapsed leases and late starts are given up.
    pub(super) classifies: bool,
}

#[async_trait]
impl Transaction for Candidates {
    type Output = Vec<String>;

    async fn run(&self, tx: &mut Tx) -> Result<Vec<String>> {
        let now = session_now(tx, self.sweep.now).await?;
        let rows = match self.source {
            Source::Live => self.live(tx, now).await?,
            Source::Starting if self.classifies => self.starting(tx, now).await?,
            // While the catalog was away no start could go on.
            Source::Starting => Vec::new(),
        };
        rows.into_iter().map(|mut row| row.take()).collect()
    }
}

impl Candidates {
    async fn live(&self, tx: &mut Tx, now: Timestamp) -> Result<Vec<Row>> {
        let mut conditions = Conditions::default();
        let after = conditions.bind(self.after.as_str());
        let now_bound = conditions.bind(now);
        let heard_before = conditions.bind(now.minus(self.sweep.stale_after));
        let no = conditions.bind(false);
        let limit = conditions.bind(PIECE);
        let classifies = conditions.bind(self.classifies);
        // What the log was told of the health is no longer what is true. The words are those that are stored.
        let edge = format!(
            "l.lease_hash IS NOT NULL AND l.stalled = {no} AND l.announced_health <> \
             CASE WHEN l.lease_expires_at - l.lease_ttl < {heard_before} THEN 'stale' ELSE 'healthy' END"
        );
        let sql = format!(
            "SELECT l.session_id FROM session_live l JOIN session s ON s.id = l.session_id \
             WHERE l.session_id > {after} AND ((l.lease_expires_at <= {now_bound} AND {classifies}) \
             OR l.attach_expires_at <= {now_bound} OR ({edge}) OR ({IS_BEHIND})) \
             ORDER BY l.session_id LIMIT {limit}"
        );
        tx.rows(&sql, conditions.binds()).await
    }

    async fn starting(&self, tx: &mut Tx, now: Timestamp) -> Result<Vec<Row>> {
        // Few, of an index of their own; sorted apart, so that no engine prefers to walk all sessions by id.
        let sql = "WITH late AS MATERIALIZED (SELECT id FROM session WHERE state = 'starting' AND state_at < $1) \
                   SELECT id FROM late WHERE id > $2 ORDER BY id LIMIT $3";
        let binds = [
            now.minus(self.sweep.start_timeout).into(),
            self.after.as_str().into(),
            PIECE.into(),
        ];
        tx.rows(sql, &binds).await
    }
}

/// Sessions to judge.
pub(super) struct Piece {
    pub(super) ids: Vec<String>,
    pub(super) sweep: Sweep,
    /// Whether lapsed leases and late starts are given up.
    pub(super) classifies: bool,
}

/// What was found in a piece.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) stopped: Vec<SessionId>,
    pub(super) attach_lapsed_count: u64,
    pub(super) edge_count: u64,
    pub(super) unusable: Vec<(String, String)>,
}

#[async_trait]
impl Transaction for Piece {
    type Output = Found;

    async fn run(&self, tx: &mut Tx) -> Result<Found> {
        let ids = self.lock(tx).await?;
        let now = session_now(tx, self.sweep.now).await?;
        let moment = Moment {
            now,
            by: BY_SWEEP,
            stale_after: self.sweep.stale_after,
            // The leases that lapsed while it was away have got their ttl when the run began.
            away_since: (!self.classifies).then_some(now),
        };
        let mut found = Found::default();
        let mut outcomes: Vec<(Session, Outcome)> = Vec::new();
        let mut behind: Vec<Session> = Vec::new();
        for (session, is_behind) in read(tx, &ids).await? {
            if let Some(defect) = session.defect {
                found.unusable.push((session.id.to_string(), defect));
                continue;
            }
            match session.swept(self.sweep.start_timeout, moment) {
                // Brings the copy up to date too.
                Some(outcome) => {
                    found.count(&session, &outcome);
                    outcomes.push((session, outcome));
                }
                None if is_behind => behind.push(session),
                None => {}
            }
        }
        write_activities(tx, &behind.iter().collect::<Vec<_>>()).await?;
        for (before, outcome) in &outcomes {
            // The root is not needed: time moves no session.
            apply(tx, before, outcome, None, now).await?;
        }
        Ok(found)
    }
}

impl Piece {
    /// Those that nobody else has locked: who has is at work on them.
    async fn lock(&self, tx: &mut Tx) -> Result<Vec<String>> {
        if tx.dialect() == Dialect::Sqlite {
            return Ok(self.ids.clone());
        }
        let mut conditions = Conditions::default();
        conditions.and_one_of("id", self.ids.iter().map(String::as_str));
        let sql = format!(
            "SELECT id FROM session{} ORDER BY id FOR UPDATE SKIP LOCKED",
            conditions.clause()
        );
        let rows = tx.rows(&sql, conditions.binds()).await?;
        rows.into_iter().map(|mut row| row.take()).collect()
    }
}

impl Found {
    fn count(&mut self, before: &Session, outcome: &Outcome) {
        let next = &outcome.next;
        if before.state.is_live() && next.state == SessionState::Stopped {
            self.stopped.push(next.id.clone());
            return;
        }
        match outcome.entry {
            Some(ChangeReason::AttachLease) => self.attach_lapsed_count += 1,
            Some(_) => self.edge_count += 1,
            None => {}
        }
    }
}

/// The sessions as they are under the lock, and whether the copy of the last activity is behind.
async fn read(tx: &mut Tx, ids: &[String]) -> Result<Vec<(Session, bool)>> {
    let mut conditions = Conditions::default();
    conditions.and_one_of("s.id", ids.iter().map(String::as_str));
    let sql = format!(
        "SELECT {IS_BEHIND}, {COLUMNS} FROM {TABLES}{} ORDER BY s.id",
        conditions.clause()
    );
    let rows = tx.rows(&sql, conditions.binds()).await?;
    rows.into_iter()
        .map(|mut row| {
            let is_behind = row.take()?;
            Ok((session(row)?, is_behind))
        })
        .collect()
}
