//! The numbers of sessions that are kept: exact, in the transaction of each change.

use compozy_domain::{Session, WorkspaceId};

use crate::error::Result;
use crate::open::SqlStore;
use crate::sql::db::Tx;
use crate::sql::dialect::Dialect;
use crate::sql::select::Conditions;
use crate::sql::session_apply::hidden;

/// The scope that stands for all sessions.
pub(crate) const ALL: &str = "*";

/// Where a session is counted.
#[derive(Debug, PartialEq, Eq)]
struct Cell<'s> {
    workspace: &'s str,
    hidden: i64,
    state: &'static str,
    session_type: &'static str,
    agent: &'s str,
}

impl<'s> Cell<'s> {
    fn of(session: &'s Session) -> Self {
        Self {
            workspace: session.workspace_id().map_or("", WorkspaceId::as_str),
            hidden: hidden(session),
            state: session.state.as_str(),
            session_type: session.session_type.as_str(),
            agent: &session.agent,
        }
    }
}

/// Counts a session where it is now instead of where it was. One statement, none when it is counted alike.
pub(crate) async fn count_change(
    tx: &mut Tx,
    before: Option<&Session>,
    after: Option<&Session>,
) -> Result<()> {
    let (before, after) = (before.map(Cell::of), after.map(Cell::of));
    if before == after {
        return Ok(());
    }
    let mut conditions = Conditions::default();
    let mut rows: Vec<String> = Vec::new();
    for (cell, number) in [(before, -1_i64), (after, 1)] {
        let Some(cell) = cell else { continue };
        for scope in [ALL, cell.workspace] {
            let scope = conditions.bind(scope);
            let hidden = conditions.bind(cell.hidden);
            let state = conditions.bind(cell.state);
            let session_type = conditions.bind(cell.session_type);
            let agent = conditions.bind(cell.agent);
            let number = conditions.bind(number);
            rows.push(format!(
                "({scope}, {hidden}, {state}, {session_type}, {agent}, {number})"
            ));
        }
    }
    let rows = rows.join(", ");
    let sql = match tx.dialect() {
        Dialect::Sqlite => format!(
            "INSERT INTO session_count (scope, hidden, state, type, agent, count) VALUES {rows} \
             ON CONFLICT (scope, hidden, state, type, agent) DO UPDATE SET count = count + excluded.count"
        ),
        Dialect::Postgres => format!(
            "INSERT INTO session_count_delta (scope, hidden, state, type, agent, count) VALUES {rows}"
        ),
    };
    tx.execute(&sql, conditions.binds()).await?;
    Ok(())
}

impl SqlStore {
    pub(super) async fn fold_session_counts(&self) -> Result<u64> {
        Err(crate::error::Error::Defect("not built yet".into()))
    }

    pub(super) async fn recount_all_sessions(&self) -> Result<u64> {
        Err(crate::error::Error::Defect("not built yet".into()))
    }
}
