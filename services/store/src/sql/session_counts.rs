//! The numbers of sessions that are kept: exact, in the transaction of each change.
//!
//! A cell is a scope ([`ALL`], a workspace's id, or nothing for the ungrouped ones) with hidden, state, type and agent;
//! every session is in two cells. [`counted`] and [`counted_by`] sum cells in the snapshot of their transaction, and
//! [`kept`] is the table that they sum, for statements of others. [`differing`] finds cells that are not true.

use compozy_domain::{Session, SessionId, WorkspaceId};

use crate::error::Result;
use crate::sql::db::{Tx, Value};
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

/// Which cells to sum.
#[derive(Debug, Default)]
pub(crate) struct Cells<'q> {
    /// Of whom.
    pub(crate) of: CellsOf<'q>,
    /// With one of these numbers of [`hidden`]; with any if there is none.
    pub(crate) hidden: Vec<i64>,
    /// In one of these states; in any if there is none.
    pub(crate) states: Vec<&'q str>,
    /// Of one of these types; of any if there is none.
    pub(crate) types: Vec<&'q str>,
    /// Of one of these agents; of any if there is none.
    pub(crate) agents: Vec<&'q str>,
}

/// Whose cells.
#[derive(Debug, Default)]
pub(crate) enum CellsOf<'q> {
    /// Those of all sessions.
    #[default]
    All,
    /// Those of every workspace and, with an empty id, of the ungrouped ones: for [`counted_by`] `scope`.
    Each,
    /// Those of these workspaces, an empty id standing for the ungrouped ones; none at all if there is none.
    Workspaces(Vec<&'q str>),
}

impl Cells<'_> {
    fn conditions(&self) -> Conditions {
        let mut conditions = Conditions::default();
        match &self.of {
            CellsOf::All => conditions.and_one_of("scope", [ALL]),
            CellsOf::Each => {
                let all = conditions.bind(ALL);
                conditions.and(format!("scope <> {all}"));
            }
            CellsOf::Workspaces(ids) => conditions.and_one_of("scope", ids.iter().copied()),
        }
        if !self.hidden.is_empty() {
            let hidden = conditions.bind_all(self.hidden.iter().copied());
            conditions.and(format!("hidden IN ({hidden})"));
        }
        for (column, words) in [
            ("state", &self.states),
            ("type", &self.types),
            ("agent", &self.agents),
        ] {
            if !words.is_empty() {
                conditions.and_one_of(column, words.iter().copied());
            }
        }
        conditions
    }
}

/// A cell whose kept number is not the true one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DifferingCell {
    /// [`ALL`], a workspace's id, or empty.
    pub(crate) scope: String,
    pub(crate) hidden: i64,
    pub(crate) state: String,
    pub(crate) session_type: String,
    pub(crate) agent: String,
    pub(crate) kept: i64,
    pub(crate) truth: i64,
}

/// The kept numbers as a table of scope, hidden, state, type, agent and count. On Postgres a cell has several rows:
/// what is not folded yet is among them.
pub(crate) const fn kept(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "session_count",
        Dialect::Postgres => {
            "(SELECT scope, hidden, state, type, agent, count FROM session_count \
             UNION ALL SELECT scope, hidden, state, type, agent, count FROM session_count_delta)"
        }
    }
}

/// How many sessions there are in some cells, from the numbers that are kept.
pub(crate) async fn counted(tx: &mut Tx, cells: &Cells<'_>) -> Result<i64> {
    let conditions = cells.conditions();
    let sql = format!(
        "SELECT CAST(COALESCE(SUM(k.count), 0) AS BIGINT) FROM {} k{}",
        kept(tx.dialect()),
        conditions.clause()
    );
    tx.one(&sql, conditions.binds()).await?.take()
}

/// The same apart for each value of a column (`scope`, `state`, `type` or `agent`), without those that have none.
pub(crate) async fn counted_by(
    tx: &mut Tx,
    cells: &Cells<'_>,
    column: &'static str,
) -> Result<Vec<(String, i64)>> {
    let conditions = cells.conditions();
    let sql = format!(
        "SELECT k.{column}, CAST(SUM(k.count) AS BIGINT) FROM {} k{} \
         GROUP BY k.{column} HAVING SUM(k.count) <> 0 ORDER BY k.{column}",
        kept(tx.dialect()),
        conditions.clause()
    );
    let mut all = Vec::new();
    for mut row in tx.rows(&sql, conditions.binds()).await? {
        all.push((row.take()?, row.take()?));
    }
    Ok(all)
}

/// The first cells, by scope, whose kept number is not the true one. Reads every session.
pub(crate) async fn differing(tx: &mut Tx, limit: u32) -> Result<Vec<DifferingCell>> {
    let sql = format!(
        "SELECT scope, hidden, state, type, agent, CAST(SUM(kept) AS BIGINT), CAST(SUM(truth) AS BIGINT) \
         FROM {} d GROUP BY scope, hidden, state, type, agent HAVING SUM(kept) <> SUM(truth) \
         ORDER BY scope, hidden, state, type, agent LIMIT {limit}",
        kept_and_true(tx.dialect())
    );
    let mut cells = Vec::new();
    for mut row in tx.rows(&sql, &[]).await? {
        cells.push(DifferingCell {
            scope: row.take()?,
            hidden: row.take()?,
            state: row.take()?,
            session_type: row.take()?,
            agent: row.take()?,
            kept: row.take()?,
            truth: row.take()?,
        });
    }
    Ok(cells)
}

/// Kept and true numbers side by side, as a table.
pub(crate) fn kept_and_true(dialect: Dialect) -> String {
    let cells = "hidden, state, type, agent";
    format!(
        "(SELECT scope, {cells}, count AS kept, 0 AS truth FROM {} k \
         UNION ALL SELECT '{ALL}', {cells}, 0, COUNT(*) FROM session GROUP BY {cells} \
         UNION ALL SELECT workspace_id, {cells}, 0, COUNT(*) FROM session GROUP BY workspace_id, {cells})",
        kept(dialect)
    )
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
    add(tx, &format!("VALUES {}", rows.join(", ")), conditions.binds()).await
}

/// Counts a stored session `number` times more, in the cells that its very columns name: a row that this release does
/// not understand, or whose workspace is gone, is counted where its writer counted it.
pub(crate) async fn count_stored(tx: &mut Tx, id: &SessionId, number: i64) -> Result<()> {
    let cells = "hidden, state, type, agent";
    let rows = format!(
        "SELECT '{ALL}', {cells}, {number} FROM session WHERE id = $1 \
         UNION ALL SELECT workspace_id, {cells}, {number} FROM session WHERE id = $1"
    );
    add(tx, &rows, &[id.as_str().into()]).await
}

/// Adds rows of scope, hidden, state, type, agent and number to the kept numbers.
pub(crate) async fn add(tx: &mut Tx, rows: &str, binds: &[Value]) -> Result<()> {
    let sql = match tx.dialect() {
        Dialect::Sqlite => format!(
            "INSERT INTO session_count (scope, hidden, state, type, agent, count) {rows} \
             ON CONFLICT (scope, hidden, state, type, agent) DO UPDATE SET count = count + excluded.count"
        ),
        Dialect::Postgres => {
            format!("INSERT INTO session_count_delta (scope, hidden, state, type, agent, count) {rows}")
        }
    };
    tx.execute(&sql, binds).await?;
    Ok(())
}
