//! Exact totals of sessions by state and by workspace, from one snapshot.

use std::collections::{BTreeMap, HashSet};

use async_trait::async_trait;

use compozy_domain::{SessionState, WorkspaceId};

use crate::error::Result;
use crate::sessions::{CountSessions, SessionTotals};
use crate::sql::db::{Transaction, Tx};
use crate::sql::select::Conditions;
use crate::sql::session_counts::{ALL, counted_by, kept};
use crate::sql::session_filter::{Places, Wanted};
use crate::sql::session_list::{Snapshot, snapshot};
use crate::sql::session_sources::{interpret_plans, matches};

/// Totals to read.
pub(crate) struct Totals(pub(crate) CountSessions);

/// Numbers by the word of the state, and by the id of the workspace, which is empty for none.
#[derive(Debug, Default)]
struct Sums {
    by_state: BTreeMap<String, i64>,
    by_workspace: BTreeMap<String, i64>,
}

#[async_trait]
impl Transaction for Totals {
    type Output = SessionTotals;

    async fn run(&self, tx: &mut Tx) -> Result<SessionTotals> {
        let Totals(count) = self;
        let Snapshot { revision, now, .. } = snapshot(tx, count.now).await?;
        let wanted = Wanted::new(&count.filter, &count.visibility, now, count.stale_after);
        let mut sums = Sums::default();
        if wanted.is_nothing() {
            // Nothing to sum.
        } else if wanted.is_kept() {
            sum_kept(tx, &wanted, &mut sums).await?;
        } else {
            interpret_plans(tx).await?;
            sum_matches(tx, &wanted, &mut sums).await?;
        }
        Ok(SessionTotals {
            by_state: by_state(&sums.by_state),
            by_workspace: sums
                .by_workspace
                .into_iter()
                .filter(|(_, count)| *count != 0)
                .map(|(id, count)| ((!id.is_empty()).then(|| WorkspaceId::from_stored(id)), count))
                .collect(),
            revision,
        })
    }
}

async fn sum_kept(tx: &mut Tx, wanted: &Wanted<'_>, sums: &mut Sums) -> Result<()> {
    for (sign, cells) in wanted.cells(false, false) {
        for (state, count) in counted_by(tx, &cells, "state").await? {
            *sums.by_state.entry(state).or_default() += sign * count;
        }
    }
    let gone = match wanted.places {
        Places::All => gone_workspaces(tx).await?,
        Places::Each(_) => HashSet::new(),
    };
    for (sign, cells) in wanted.cells(true, false) {
        for (scope, count) in counted_by(tx, &cells, "scope").await? {
            let workspace = if gone.contains(&scope) {
                String::new()
            } else {
                scope
            };
            *sums.by_workspace.entry(workspace).or_default() += sign * count;
        }
    }
    Ok(())
}

/// Ids of workspaces that sessions name although no row has them: those are listed as sessions without a workspace.
async fn gone_workspaces(tx: &mut Tx) -> Result<HashSet<String>> {
    let sql = format!(
        "SELECT DISTINCT k.scope FROM {} k LEFT JOIN workspace w ON w.id = k.scope \
         WHERE w.id IS NULL AND k.scope <> '' AND k.scope <> '{ALL}'",
        kept(tx.dialect())
    );
    let rows = tx.rows(&sql, &[]).await?;
    rows.into_iter().map(|mut row| row.take()).collect()
}

async fn sum_matches(tx: &mut Tx, wanted: &Wanted<'_>, sums: &mut Sums) -> Result<()> {
    let mut binds = Conditions::default();
    let branches = matches(tx, wanted, &mut binds).await?;
    let prepares = std::mem::replace(&mut tx.prepares, false);
    for branch in &branches {
        // A session whose workspace has no row is listed as one without a workspace.
        let sql = format!(
            "SELECT g.state, w.id, CAST(SUM(g.count) AS BIGINT) FROM (\
               SELECT s.state AS state, s.workspace_id AS workspace_id, COUNT(*) AS count FROM {} WHERE {} \
               GROUP BY s.state, s.workspace_id) g \
             LEFT JOIN workspace w ON w.id = g.workspace_id GROUP BY g.state, w.id",
            branch.from, branch.condition
        );
        for mut row in tx.rows(&sql, binds.binds()).await? {
            let (state, workspace): (String, Option<String>) = (row.take()?, row.take()?);
            let count: i64 = row.take()?;
            *sums.by_state.entry(state).or_default() += count;
            *sums
                .by_workspace
                .entry(workspace.unwrap_or_default())
                .or_default() += count;
        }
    }
    tx.prepares = prepares;
    Ok(())
}

/// In the order of the states. One that this release does not know is read as stopped.
fn by_state(sums: &BTreeMap<String, i64>) -> Vec<(SessionState, i64)> {
    let mut all = Vec::with_capacity(SessionState::ALL.len());
    for state in SessionState::ALL {
        let read = |word: &str| SessionState::parse(word).unwrap_or(SessionState::Stopped);
        let words = sums.iter().filter(|(word, _)| read(word) == state);
        let count: i64 = words.map(|(_, count)| count).sum();
        if count != 0 {
            all.push((state, count));
        }
    }
    all
}
