//! The rows that belong to a session beside its record: what is known of it while it is live, its labels, its changes
//! of state, its place in the index of texts.

use compozy_domain::session::{Live, Transition};
use compozy_domain::{Session, SessionId, Timestamp};

use crate::error::Result;
use crate::sql::db::{Tx, Value};
use crate::sql::dialect::Dialect;
use crate::sql::select::Conditions;
use crate::sql::session_documents as documents;

pub(super) async fn write_live(tx: &mut Tx, session: &Session, live: &Live) -> Result<()> {
    let Live {
        lease,
        prompting,
        stalled,
        waiting_for_auth,
        waiting_for_input,
        settled_at,
        attach,
        announced,
    } = live;
    let lease = lease.as_ref();
    let nanos = |at: Option<Timestamp>| Value::Int(at.map(Timestamp::nanos));
    let ttl = lease.map(|lease| i64::try_from(lease.ttl.as_nanos()).unwrap_or(i64::MAX));
    let binds: [Value; 16] = [
        session.id.as_str().into(),
        Value::Bytes(lease.map(|lease| lease.hash.0.to_vec())),
        Value::Int(ttl),
        nanos(lease.map(|lease| lease.expires_at)),
        nanos(lease.map(|lease| lease.bound_at)),
        nanos(lease.and_then(|lease| lease.heartbeat_at)),
        (*prompting).into(),
        (*stalled).into(),
        (*waiting_for_auth).into(),
        (*waiting_for_input).into(),
        nanos(*settled_at),
        Value::Text(attach.as_ref().map(|attach| attach.holder.clone())),
        nanos(attach.as_ref().map(|attach| attach.expires_at)),
        Value::Text(announced.map(|announced| announced.badge.as_str().to_owned())),
        Value::Text(announced.map(|announced| announced.health.as_str().to_owned())),
        Value::Text(session.activity.as_ref().map(documents::write_activity)),
    ];
    let sql = "INSERT INTO session_live (session_id, lease_hash, lease_ttl, lease_expires_at, lease_bound_at, \
               heartbeat_at, prompting, stalled, waiting_for_auth, waiting_for_input, settled_at, attach_holder, \
               attach_expires_at, announced_badge, announced_health, activity) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) \
               ON CONFLICT (session_id) DO UPDATE SET lease_hash = excluded.lease_hash, \
               lease_ttl = excluded.lease_ttl, lease_expires_at = excluded.lease_expires_at, \
               lease_bound_at = excluded.lease_bound_at, heartbeat_at = excluded.heartbeat_at, \
               prompting = excluded.prompting, stalled = excluded.stalled, \
               waiting_for_auth = excluded.waiting_for_auth, waiting_for_input = excluded.waiting_for_input, \
               settled_at = excluded.settled_at, attach_holder = excluded.attach_holder, \
               attach_expires_at = excluded.attach_expires_at, announced_badge = excluded.announced_badge, \
               announced_health = excluded.announced_health, activity = excluded.activity";
    tx.execute(sql, &binds).await?;
    Ok(())
}

pub(super) async fn forget_live(tx: &mut Tx, id: &SessionId) -> Result<()> {
    let sql = "DELETE FROM session_live WHERE session_id = $1";
    tx.execute(sql, &[id.as_str().into()]).await?;
    Ok(())
}

pub(super) async fn write_labels(tx: &mut Tx, session: &Session) -> Result<()> {
    if session.labels.is_empty() {
        return Ok(());
    }
    let mut conditions = Conditions::default();
    let id = conditions.bind(session.id.as_str());
    let mut rows: Vec<String> = Vec::with_capacity(session.labels.len());
    for (key, value) in &session.labels {
        let (key, value) = (conditions.bind(key.as_str()), conditions.bind(value.as_str()));
        rows.push(format!("({id}, {key}, {value})"));
    }
    let sql = format!(
        "INSERT INTO session_label (session_id, key, value) VALUES {}",
        rows.join(", ")
    );
    tx.execute(&sql, conditions.binds()).await?;
    Ok(())
}

pub(super) async fn forget_labels(tx: &mut Tx, id: &SessionId) -> Result<()> {
    let sql = "DELETE FROM session_label WHERE session_id = $1";
    tx.execute(sql, &[id.as_str().into()]).await?;
    Ok(())
}

pub(super) async fn write_transition(tx: &mut Tx, id: &SessionId, transition: &Transition) -> Result<()> {
    let Transition { state, at, cause, by } = transition;
    let sql = "INSERT INTO session_transition (session_id, number, state, at, cause, by_whom) \
               SELECT $1, COALESCE(MAX(number), 0) + 1, $2, $3, $4, $5 FROM session_transition WHERE session_id = $1";
    let binds = [
        id.as_str().into(),
        state.as_str().into(),
        (*at).into(),
        cause.as_str().into(),
        by.as_str().into(),
    ];
    tx.execute(sql, &binds).await?;
    Ok(())
}

/// Puts a session into the index of texts. Postgres keeps its index by itself.
pub(super) async fn index_text(tx: &mut Tx, session: &Session) -> Result<()> {
    if tx.dialect() == Dialect::Sqlite {
        let sql =
            "INSERT INTO session_search (rowid, search) SELECT number, search FROM session WHERE id = $1";
        tx.execute(sql, &[session.id.as_str().into()]).await?;
    }
    Ok(())
}

pub(super) async fn forget_text(tx: &mut Tx, id: &SessionId) -> Result<()> {
    if tx.dialect() == Dialect::Sqlite {
        let sql = "DELETE FROM session_search WHERE rowid = (SELECT number FROM session WHERE id = $1)";
        tx.execute(sql, &[id.as_str().into()]).await?;
    }
    Ok(())
}
