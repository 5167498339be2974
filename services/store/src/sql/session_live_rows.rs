//! Writing what heartbeats change of many sessions, in statements of many rows.

use compozy_domain::{Session, Timestamp};

use crate::error::Result;
use crate::sql::db::{Tx, Value};
use crate::sql::select::Conditions;
use crate::sql::session_documents as documents;

/// Rows that a statement writes. Only these numbers, so that batches of every length share a few prepared statements.
const ROWS: [usize; 5] = [256, 64, 16, 4, 1];

/// Writes the lease and the reports of sessions, which have a lease and are locked.
pub(super) async fn renew(tx: &mut Tx, sessions: &[&Session]) -> Result<()> {
    let mut rows: Vec<[Value; 9]> = Vec::with_capacity(sessions.len());
    for session in sessions {
        let Some(live) = &session.live else { continue };
        let Some(lease) = &live.lease else { continue };
        rows.push([
            session.id.as_str().into(),
            lease.expires_at.into(),
            Value::Int(lease.heartbeat_at.map(Timestamp::nanos)),
            live.prompting.into(),
            live.stalled.into(),
            live.waiting_for_auth.into(),
            live.waiting_for_input.into(),
            Value::Int(live.settled_at.map(Timestamp::nanos)),
            Value::Text(session.activity.as_ref().map(documents::write_activity)),
        ]);
    }
    let set = "UPDATE session_live SET lease_expires_at = v.b, heartbeat_at = v.c, prompting = v.d, stalled = v.e, \
               waiting_for_auth = v.f, waiting_for_input = v.g, settled_at = v.h, activity = v.i \
               FROM v WHERE session_live.session_id = v.a";
    write_rows(tx, "a, b, c, d, e, f, g, h, i", set, &rows).await
}

/// Brings the copies of the last activities in the rows of sessions up to date, which are locked.
pub(super) async fn write_activities(tx: &mut Tx, sessions: &[&Session]) -> Result<()> {
    let mut rows: Vec<[Value; 3]> = Vec::with_capacity(sessions.len());
    for session in sessions {
        rows.push([
            session.id.as_str().into(),
            Value::Text(session.activity.as_ref().map(documents::write_activity)),
            session.active_at().into(),
        ]);
    }
    let set = "UPDATE session SET activity = v.b, active_at = v.c FROM v WHERE session.id = v.a";
    write_rows(tx, "a, b, c", set, &rows).await
}

async fn write_rows<const WIDTH: usize>(
    tx: &mut Tx,
    columns: &str,
    set: &str,
    mut rows: &[[Value; WIDTH]],
) -> Result<()> {
    for size in ROWS {
        while rows.len() >= size {
            let (now, later) = rows.split_at(size);
            let mut conditions = Conditions::default();
            let values: Vec<String> = now
                .iter()
                .map(|row| format!("({})", conditions.bind_all(row.iter().cloned())))
                .collect();
            let sql = format!("WITH v ({columns}) AS (VALUES {}) {set}", values.join(", "));
            tx.execute(&sql, conditions.binds()).await?;
            rows = later;
        }
    }
    Ok(())
}
