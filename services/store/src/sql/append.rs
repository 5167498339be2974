//! Appending to the change log, the last statement of every write.

use compozy_domain::NewChange;

use crate::error::Result;
use crate::sql::db::{Tx, Value};
use crate::sql::dialect::Dialect;

/// Appends an entry. SQLite gives the next position at once; Postgres draws a sequence number, after all row
/// locks of the transaction, and the tail gives the position after commit.
pub(crate) async fn append(tx: &mut Tx, change: &NewChange) -> Result<()> {
    let NewChange {
        kind,
        op,
        reason,
        host_id,
        workspace_id,
        version,
        session_count,
        at,
    } = change;
    let binds: [Value; 8] = [
        kind.as_str().into(),
        op.as_str().into(),
        reason.as_str().into(),
        host_id.as_str().into(),
        workspace_id.as_str().into(),
        (*version).into(),
        (*session_count).into(),
        (*at).into(),
    ];
    match tx.dialect() {
        Dialect::Sqlite => {
            tx.execute("UPDATE change_head SET head = head + 1 WHERE one = 1", &[])
                .await?;
            let sql = "INSERT INTO change \
                       (position, kind, op, reason, host_id, workspace_id, version, session_count, at) \
                       SELECT head, $1, $2, $3, $4, $5, $6, $7, $8 FROM change_head WHERE one = 1";
            tx.execute(sql, &binds).await?;
        }
        Dialect::Postgres => {
            let sql = "INSERT INTO change_pending \
                       (kind, op, reason, host_id, workspace_id, version, session_count, at) \
                       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
            tx.execute(sql, &binds).await?;
        }
    }
    Ok(())
}
