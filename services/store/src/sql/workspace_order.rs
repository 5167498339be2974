//! Moving a workspace in the manual order: one rank is written.

use async_trait::async_trait;

use compozy_domain::{
    ChangeKind, ChangeOp, ChangeReason, NewChange, Rank, Visibility, Workspace, WorkspaceId,
};

use crate::error::Result;
use crate::sql::append::append;
use crate::sql::db::{Tx, Value};
use crate::sql::remember::{Mutation, Scope};
use crate::sql::select::Conditions;
use crate::sql::workspace_rows::lock_existing;
use crate::workspaces::{MoveBefore, Moved};

/// Rows that one statement gives new ranks.
const SPREAD_AT_ONCE: usize = 500;

#[async_trait]
impl Mutation for MoveBefore {
    type Output = Moved;

    async fn apply(&self, tx: &mut Tx, scope: &Scope<'_>) -> Result<Moved> {
        if let Some(lock) = tx.dialect().lock_order() {
            tx.rows(lock, &[]).await?;
        }
        let moving = lock_existing(tx, &self.id, scope.visibility).await?;
        let anchor = match &self.before {
            Some(before) => Some(lock_existing(tx, before, scope.visibility).await?),
            None => None,
        };
        let (previous, next) = (
            neighbour(tx, &moving, Side::Before).await?,
            neighbour(tx, &moving, Side::After).await?,
        );
        let is_there = match &anchor {
            Some(anchor) => anchor.id == moving.id || next.as_ref().is_some_and(|next| next.id == anchor.id),
            None => next.is_none(),
        };
        if is_there {
            return Ok(answer(scope.visibility, previous, next, false));
        }
        moving.check_understood()?;
        let (lower, upper) = match &anchor {
            Some(anchor) => (
                neighbour(tx, anchor, Side::Before).await?,
                Some(Neighbour::of(anchor)),
            ),
            None => (last(tx).await?, None),
        };
        let ranks = (
            lower.as_ref().map(|row| &row.rank),
            upper.as_ref().map(|row| &row.rank),
        );
        match Rank::between(ranks.0, ranks.1) {
            Some(rank) => set_rank(tx, &moving.id, &rank).await?,
            None => spread(tx, &moving.id, upper.as_ref().map(|row| &row.id)).await?,
        }
        let change = NewChange::of_workspace(
            ChangeKind::WorkspaceOrder,
            (ChangeOp::Upserted, ChangeReason::Moved),
            &moving.host_id,
            &moving.id,
            moving.version,
            scope.now,
        );
        append(tx, &change).await?;
        Ok(answer(scope.visibility, lower, upper, true))
    }
}

/// What an order needs to know of a row.
struct Neighbour {
    id: WorkspaceId,
    rank: Rank,
}

impl Neighbour {
    fn of(workspace: &Workspace) -> Self {
        Self {
            id: workspace.id.clone(),
            rank: workspace.rank.clone(),
        }
    }
}

enum Side {
    Before,
    After,
}

async fn neighbour(tx: &mut Tx, of: &Workspace, side: Side) -> Result<Option<Neighbour>> {
    let sql = match side {
        Side::Before => {
            "SELECT id, rank FROM workspace WHERE rank <= $1 AND (rank, root_dir, id) < ($1, $2, $3) \
             ORDER BY rank DESC, root_dir DESC, id DESC LIMIT 1"
        }
        Side::After => {
            "SELECT id, rank FROM workspace WHERE rank >= $1 AND (rank, root_dir, id) > ($1, $2, $3) \
             ORDER BY rank, root_dir, id LIMIT 1"
        }
    };
    let place: [Value; 3] = [
        of.rank.as_bytes().into(),
        of.root_dir.as_str().into(),
        of.id.as_str().into(),
    ];
    first(tx, sql, &place).await
}

async fn last(tx: &mut Tx) -> Result<Option<Neighbour>> {
    first(
        tx,
        "SELECT id, rank FROM workspace ORDER BY rank DESC, root_dir DESC, id DESC LIMIT 1",
        &[],
    )
    .await
}

async fn first(tx: &mut Tx, sql: &str, binds: &[Value]) -> Result<Option<Neighbour>> {
    let Some(mut row) = tx.row(sql, binds).await? else {
        return Ok(None);
    };
    Ok(Some(Neighbour {
        id: WorkspaceId::from_stored(row.take()?),
        rank: Rank::from_stored(row.take()?),
    }))
}

async fn set_rank(tx: &mut Tx, id: &WorkspaceId, rank: &Rank) -> Result<()> {
    let sql = "UPDATE workspace SET rank = $2 WHERE id = $1";
    tx.execute(sql, &[id.as_str().into(), rank.as_bytes().into()])
        .await?;
    Ok(())
}

/// Gives every row a new rank, with one row moved. Only for an order that was wedged into one spot so often
/// that two neighbours touch.
async fn spread(tx: &mut Tx, moving: &WorkspaceId, before: Option<&WorkspaceId>) -> Result<()> {
    let mut order: Vec<WorkspaceId> = Vec::new();
    for mut row in tx
        .rows("SELECT id FROM workspace ORDER BY rank, root_dir, id", &[])
        .await?
    {
        let id = WorkspaceId::from_stored(row.take()?);
        if id != *moving {
            order.push(id);
        }
    }
    let at = before
        .and_then(|before| order.iter().position(|id| id == before))
        .unwrap_or(order.len());
    order.insert(at, moving.clone());
    let mut ranks = Rank::spread(order.len());
    for part in order.chunks(SPREAD_AT_ONCE) {
        let mut conditions = Conditions::default();
        let mut pairs: Vec<String> = Vec::with_capacity(part.len());
        for (id, rank) in part.iter().zip(&mut ranks) {
            let id = conditions.bind(id.as_str());
            let rank = conditions.bind(rank.as_bytes());
            pairs.push(format!("({id}, {rank})"));
        }
        // Both engines call the columns of VALUES so.
        let sql = format!(
            "UPDATE workspace SET rank = v.column2 FROM (VALUES {}) AS v WHERE workspace.id = v.column1",
            pairs.join(", ")
        );
        tx.execute(&sql, conditions.binds()).await?;
    }
    Ok(())
}

fn answer(
    visibility: &Visibility,
    previous: Option<Neighbour>,
    next: Option<Neighbour>,
    moved: bool,
) -> Moved {
    let visible = |row: Option<Neighbour>| row.map(|row| row.id).filter(|id| visibility.includes(id));
    Moved {
        previous: visible(previous),
        next: visible(next),
        moved,
    }
}
