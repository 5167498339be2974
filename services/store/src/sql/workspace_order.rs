//! Moving a workspace in the manual order: one rank is written.

use async_trait::async_trait;

use compozy_domain::{
    ChangeKind, ChangeOp, ChangeReason, NewChange, Rank, Visibility, Workspace, WorkspaceId,
};

use crate::error::Result;
use crate::sql::append::append;
use crate::sql::db::{Tx, Value};
use crate::sql::rank_spread::{reordered, spread_ranks};
use crate::sql::remember::{Mutation, Scope};
use crate::sql::workspace_rows::lock_existing;
use crate::workspaces::{MoveBefore, Moved};

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
    let sql = "SELECT id FROM workspace ORDER BY rank, root_dir, id";
    let mut order: Vec<String> = Vec::new();
    for mut row in tx.rows(sql, &[]).await? {
        order.push(row.take()?);
    }
    let order = reordered(order, moving.as_str(), before.map(WorkspaceId::as_str));
    spread_ranks(tx, "workspace", &order).await
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
