//! A planted bug, on Postgres: an entry gets its position while its transaction is still open, so that others which
//! commit before it have later positions. SQLite has one writer and can't show it: whoever numbers there inside a
//! write commits before the next one begins.

use std::time::Duration;

use crate::error::{Error, Result};
use crate::sql::db::{Tx, Value};
use crate::sql::postgres::fault;

/// Long enough for another writer to overtake; not for every one, so that some do.
const DAWDLING: Duration = Duration::from_millis(15);

/// Appends an entry with a position that was given, and published, beside the transaction.
pub(super) async fn append(tx: &mut Tx, binds: &[Value]) -> Result<()> {
    let pool = tx
        .beside
        .clone()
        .ok_or_else(|| Error::Defect("a planted bug writes beside a write only".into()))?;
    let position: i64 =
        sqlx::query_scalar("UPDATE change_head SET head = head + 1 WHERE one = 1 RETURNING head")
            .persistent(false)
            .fetch_one(&pool)
            .await
            .map_err(fault)?;
    let mut with_position = binds[..11].to_vec();
    with_position.push(position.into());
    let sql = "INSERT INTO change (position, kind, op, reason, host_id, workspace_id, from_workspace_id, session_id, \
               profile_id, internal, version, session_count, at) \
               VALUES ($12, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, \
               (SELECT catalog_now()))";
    tx.execute(sql, &with_position).await?;
    if position % 3 == 0 {
        tokio::time::sleep(DAWDLING).await;
    }
    Ok(())
}
