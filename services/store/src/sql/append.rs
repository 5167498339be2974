//! Appending to the change log, the last statement of every write.

use compozy_domain::NewChange;

use crate::error::Result;
use crate::sql::db::{Tx, Value};
use crate::sql::dialect::Dialect;

/// Appends an entry. SQLite gives the next position at once; Postgres draws a sequence number, after all row
/// locks of the transaction, and the tail gives the position after commit.
pub(crate) async fn append(tx: &mut Tx, change: &NewChange) -> Result<()> {
    tx.moves_log = true;
    let NewChange {
        kind,
        op,
        reason,
        host_id,
        workspace_id,
        from_workspace_id,
        session_id,
        profile_id,
        internal,
        version,
        session_count,
        at,
    } = change;
    let binds: [Value; 12] = [
        kind.as_str().into(),
        op.as_str().into(),
        reason.as_str().into(),
        host_id.as_str().into(),
        Value::Text(workspace_id.as_ref().map(ToString::to_string)),
        Value::Text(from_workspace_id.as_ref().map(ToString::to_string)),
        Value::Text(session_id.as_ref().map(ToString::to_string)),
        Value::Text(profile_id.as_ref().map(ToString::to_string)),
        Value::Bool(*internal),
        (*version).into(),
        (*session_count).into(),
        (*at).into(),
    ];
    let at = tx.dialect().instant("$12");
    match tx.dialect() {
        Dialect::Sqlite => {
            tx.execute("UPDATE change_head SET head = head + 1 WHERE one = 1", &[])
                .await?;
            let sql = format!(
                "INSERT INTO change (position, kind, op, reason, host_id, workspace_id, \
                 from_workspace_id, session_id, profile_id, internal, version, session_count, at) \
                 SELECT head, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, {at} FROM change_head WHERE one = 1"
            );
            tx.execute(&sql, &binds).await?;
        }
        #[cfg(feature = "planted-bugs")]
        Dialect::Postgres if crate::planted::is("number_before_commit") => {
            super::number_before_commit::append(tx, &binds).await?;
        }
        Dialect::Postgres => {
            let sql = format!(
                "INSERT INTO change_pending \
                 (kind, op, reason, host_id, workspace_id, from_workspace_id, session_id, profile_id, \
                 internal, version, session_count, at) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, {at})"
            );
            tx.execute(&sql, &binds[..11]).await?;
        }
    }
    Ok(())
}
