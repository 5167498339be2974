//! What becomes of the sessions of a workspace that is removed: in its transaction, in a few statements, however many
//! they are. They get no entries of their own: that of the workspace stands for them.

use compozy_domain::session::SessionState;
use compozy_domain::{CatalogError, SessionId, Timestamp, Workspace, WorkspaceId};

use crate::error::Result;
use crate::sql::db::{Tx, Value};
use crate::sql::dialect::Dialect;
use crate::sql::session_counts::{ALL, add};
use crate::sql::session_rows::session_now;

/// Live sessions that a refusal names.
const NAMED_MAX: u32 = 10;

/// What a caller wants of the sessions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionPolicy {
    /// Those that are over go, too.
    pub(crate) delete: bool,
    /// Live ones stay, without a workspace; otherwise they keep it from being removed.
    pub(crate) ungroup_live: bool,
}

/// What became of the sessions.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RemovedSessions {
    /// Without a workspace now.
    pub(crate) kept: u64,
    /// Gone.
    pub(crate) deleted: u64,
}

/// A condition that holds for sessions that are not known to be over. A state of a newer release may be a live one.
pub(crate) fn is_live(state_column: &str) -> String {
    format!("{state_column} NOT IN ({})", over())
}

/// Takes all sessions off the account of a workspace, whose row is locked: no session can join meanwhile.
pub(crate) async fn remove_sessions_of(
    tx: &mut Tx,
    workspace: &Workspace,
    policy: SessionPolicy,
    own_now: Timestamp,
) -> Result<RemovedSessions> {
    let count = lock_all(tx, &workspace.id).await?;
    if count > 0 && !policy.ungroup_live {
        refuse_live(tx, workspace).await?;
    }
    let mut removed = RemovedSessions::default();
    if count > 0 {
        let now = session_now(tx, own_now).await?;
        if policy.delete {
            removed.deleted = delete_over(tx, &workspace.id, now).await?;
        }
        if removed.deleted < count {
            removed.kept = ungroup_all(tx, workspace, now).await?;
        }
    }
    forget_counts(tx, &workspace.id).await?;
    Ok(removed)
}

/// Locks the sessions of a workspace, by id as everybody does who locks several, and says how many they are.
async fn lock_all(tx: &mut Tx, id: &WorkspaceId) -> Result<u64> {
    let sql = format!(
        "SELECT COUNT(*) FROM (SELECT id FROM session WHERE workspace_id = $1 ORDER BY id{}) AS locked",
        tx.dialect().for_update()
    );
    let count: i64 = tx.one(&sql, &[id.as_str().into()]).await?.take()?;
    Ok(count.unsigned_abs())
}

async fn refuse_live(tx: &mut Tx, workspace: &Workspace) -> Result<()> {
    let of: [Value; 1] = [workspace.id.as_str().into()];
    let live = format!("FROM session WHERE workspace_id = $1 AND {}", is_live("state"));
    let session_count: i64 = tx.one(&format!("SELECT COUNT(*) {live}"), &of).await?.take()?;
    if session_count == 0 {
        return Ok(());
    }
    let mut named: Vec<SessionId> = Vec::new();
    let sql = format!("SELECT id {live} ORDER BY id LIMIT {NAMED_MAX}");
    for mut row in tx.rows(&sql, &of).await? {
        named.push(SessionId::from_stored(row.take()?));
    }
    Err(CatalogError::LiveSessions {
        workspace: workspace.name.as_str().to_owned(),
        named,
        session_count,
    }
    .into())
}

/// Removes the sessions that are over, with everything that belongs to them, and remembers their ids.
async fn delete_over(tx: &mut Tx, id: &WorkspaceId, now: Timestamp) -> Result<u64> {
    let of: [Value; 1] = [id.as_str().into()];
    let those = format!("FROM session WHERE workspace_id = $1 AND state IN ({})", over());
    for scope in [format!("'{ALL}'"), "workspace_id".to_owned()] {
        let cells = "hidden, state, type, agent";
        let rows = format!("SELECT {scope}, {cells}, -COUNT(*) {those} GROUP BY workspace_id, {cells}");
        add(tx, &rows, &of).await?;
    }
    if tx.dialect() == Dialect::Sqlite {
        let sql = format!("DELETE FROM session_search WHERE rowid IN (SELECT number {those})");
        tx.execute(&sql, &of).await?;
    }
    for table in ["session_label", "session_transition", "session_live"] {
        let sql = format!("DELETE FROM {table} WHERE session_id IN (SELECT id {those})");
        tx.execute(&sql, &of).await?;
    }
    let sql =
        format!("INSERT INTO deleted_session (id, at) SELECT id, $2 {those} ON CONFLICT (id) DO NOTHING");
    tx.execute(&sql, &[id.as_str().into(), now.into()]).await?;
    tx.execute(&format!("DELETE {those}"), &of).await
}

/// Leaves the sessions without a workspace, in the directories where they are.
async fn ungroup_all(tx: &mut Tx, workspace: &Workspace, now: Timestamp) -> Result<u64> {
    let of: [Value; 1] = [workspace.id.as_str().into()];
    for (scope, sign) in [("workspace_id", "-"), ("''", "")] {
        let cells = "hidden, state, type, agent";
        let rows = format!(
            "SELECT {scope}, {cells}, {sign}COUNT(*) FROM session WHERE workspace_id = $1 \
             GROUP BY workspace_id, {cells}"
        );
        add(tx, &rows, &of).await?;
    }
    let root = workspace.root_dir.trim_end_matches('/');
    let sql = "UPDATE session SET workspace_id = '', rank = $2, \
               place = CASE WHEN place = '' THEN $3 WHEN substr(place, 1, 1) = '/' THEN place ELSE $4 || place END, \
               version = version + 1, state_number = state_number + 1, updated_at = $5 WHERE workspace_id = $1";
    let binds: [Value; 5] = [
        workspace.id.as_str().into(),
        [].as_slice().into(),
        workspace.root_dir.as_str().into(),
        format!("{root}/").into(),
        now.into(),
    ];
    tx.execute(sql, &binds).await
}

/// Nobody asks for the numbers of a workspace that is gone. On Postgres they end as zeros: deltas of others that are
/// not folded yet would otherwise be added to nothing.
async fn forget_counts(tx: &mut Tx, id: &WorkspaceId) -> Result<()> {
    if tx.dialect() == Dialect::Sqlite {
        let sql = "DELETE FROM session_count WHERE scope = $1";
        tx.execute(sql, &[id.as_str().into()]).await?;
    }
    Ok(())
}

/// The words of the states in which a session is over.
fn over() -> String {
    let words = SessionState::ALL.into_iter().filter(|state| !state.is_live());
    let words: Vec<String> = words.map(|state| format!("'{}'", state.as_str())).collect();
    words.join(", ")
}
