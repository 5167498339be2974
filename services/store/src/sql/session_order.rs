//! Moving a session within its account: one rank is written.

use async_trait::async_trait;

use compozy_domain::{
    CatalogError, ChangeKind, ChangeOp, ChangeReason, NewChange, Rank, Session, SessionId, Visibility,
    WorkspaceId,
};

use crate::error::{Error, Result};
use crate::sessions::{MoveSession, MovedSession};
use crate::sql::append::append;
use crate::sql::db::{Tx, Value};
use crate::sql::rank_spread::{reordered, spread_ranks};
use crate::sql::remember::{Mutation, Scope};
use crate::sql::session_apply::entry;
use crate::sql::session_rows::{COLUMNS, TABLES, is_visible, lock_session, session};

#[async_trait]
impl Mutation for MoveSession {
    type Output = MovedSession;

    async fn apply(&self, tx: &mut Tx, scope: &Scope<'_>) -> Result<MovedSession> {
        let moving = lock_moving(tx, self, scope.visibility).await?;
        let anchor = match &self.before {
            Some(before) => {
                let found = look_up(tx, before.id.as_ref(), scope.visibility).await?;
                Some(found.ok_or_else(|| not_found(&before.reference))?)
            }
            None => None,
        };
        let (account, place) = account_of(&moving, anchor.as_ref())?;
        let (previous, next) = (
            neighbour(tx, account, &place, Side::Before).await?,
            neighbour(tx, account, &place, Side::After).await?,
        );
        let is_there = match &anchor {
            Some(anchor) => anchor.id == place.id || next.as_ref().is_some_and(|next| next.id == anchor.id),
            None => next.is_none(),
        };
        if is_there {
            return Ok(answer(previous, next, false));
        }
        moving.check_understood()?;
        let (lower, upper) = match anchor.as_ref().and_then(Place::of) {
            Some(upper) => (neighbour(tx, account, &upper, Side::Before).await?, Some(upper)),
            None => (last(tx, account).await?, None),
        };
        let ranks = (
            lower.as_ref().map(|place| &place.rank),
            upper.as_ref().map(|place| &place.rank),
        );
        match Rank::between(ranks.0, ranks.1) {
            Some(rank) => set_rank(tx, &moving.id, &rank).await?,
            None => spread(tx, account, &moving.id, upper.as_ref().map(|place| &place.id)).await?,
        }
        // The instant is the log's own on Postgres.
        let change = NewChange {
            kind: ChangeKind::AccountOrder,
            ..entry(
                &moving,
                (ChangeOp::Upserted, ChangeReason::Moved),
                None,
                scope.now,
            )
        };
        append(tx, &change).await?;
        Ok(answer(lower, upper, true))
    }
}

/// What an order needs to know of a row.
struct Place {
    id: SessionId,
    rank: Rank,
}

impl Place {
    /// `None` for a session on no account.
    fn of(session: &Session) -> Option<Self> {
        Some(Self {
            id: session.id.clone(),
            rank: session.rank.clone()?,
        })
    }
}

/// The session to move, locked together with the order of its account. The order comes first: who waits for it
/// holds no row that its holder could need.
async fn lock_moving(tx: &mut Tx, moving: &MoveSession, visibility: &Visibility) -> Result<Session> {
    let unknown = || not_found(&moving.reference);
    let id = moving.id.as_ref().ok_or_else(unknown)?;
    let sql = "SELECT workspace_id FROM session WHERE id = $1";
    let mut row = tx.row(sql, &[id.as_str().into()]).await?.ok_or_else(unknown)?;
    let account: String = row.take()?;
    if let Some(lock) = tx.dialect().lock_account() {
        tx.rows(lock, &[account.as_str().into()]).await?;
    }
    let found = lock_session(tx, id, visibility).await?.ok_or_else(unknown)?;
    let now_on = found.workspace_id().map_or("", WorkspaceId::as_str);
    if !now_on.is_empty() && now_on != account {
        return Err(Error::Repeat("a session to move went to another account".into()));
    }
    Ok(found)
}

/// A session that the caller may see. It is not locked: whoever takes it off its account meanwhile comes after the move.
async fn look_up(tx: &mut Tx, id: Option<&SessionId>, visibility: &Visibility) -> Result<Option<Session>> {
    let Some(id) = id else { return Ok(None) };
    let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE s.id = $1");
    let row = tx.row(&sql, &[id.as_str().into()]).await?;
    let found = row.map(session).transpose()?;
    Ok(found.filter(|session| is_visible(session, visibility)))
}

/// The account that both are on, and the place of the one to move.
fn account_of<'s>(moving: &'s Session, anchor: Option<&Session>) -> Result<(&'s WorkspaceId, Place)> {
    let invalid = |problem| CatalogError::MoveInvalid {
        id: moving.id.clone(),
        problem,
    };
    let (Some(account), Some(place)) = (moving.workspace_id(), Place::of(moving)) else {
        return Err(invalid("is in no workspace").into());
    };
    if anchor.is_some_and(|anchor| anchor.workspace_id() != Some(account)) {
        return Err(invalid("and the one to put it before are not in one workspace").into());
    }
    Ok((account, place))
}

enum Side {
    Before,
    After,
}

async fn neighbour(tx: &mut Tx, account: &WorkspaceId, of: &Place, side: Side) -> Result<Option<Place>> {
    let sql = match side {
        Side::Before => {
            "SELECT id, rank FROM session WHERE workspace_id = $1 AND rank <= $2 AND (rank, id) < ($2, $3) \
             ORDER BY rank DESC, id DESC LIMIT 1"
        }
        Side::After => {
            "SELECT id, rank FROM session WHERE workspace_id = $1 AND rank >= $2 AND (rank, id) > ($2, $3) \
             ORDER BY rank, id LIMIT 1"
        }
    };
    let place: [Value; 3] = [
        account.as_str().into(),
        of.rank.as_bytes().into(),
        of.id.as_str().into(),
    ];
    first(tx, sql, &place).await
}

async fn last(tx: &mut Tx, account: &WorkspaceId) -> Result<Option<Place>> {
    let sql = "SELECT id, rank FROM session WHERE workspace_id = $1 ORDER BY rank DESC, id DESC LIMIT 1";
    first(tx, sql, &[account.as_str().into()]).await
}

async fn first(tx: &mut Tx, sql: &str, binds: &[Value]) -> Result<Option<Place>> {
    let Some(mut row) = tx.row(sql, binds).await? else {
        return Ok(None);
    };
    Ok(Some(Place {
        id: SessionId::from_stored(row.take()?),
        rank: Rank::from_stored(row.take()?),
    }))
}

async fn set_rank(tx: &mut Tx, id: &SessionId, rank: &Rank) -> Result<()> {
    let sql = "UPDATE session SET rank = $2 WHERE id = $1";
    tx.execute(sql, &[id.as_str().into(), rank.as_bytes().into()])
        .await?;
    Ok(())
}

/// Gives every session of an account a new rank, with one of them moved.
async fn spread(
    tx: &mut Tx,
    account: &WorkspaceId,
    moving: &SessionId,
    before: Option<&SessionId>,
) -> Result<()> {
    // Locked, so that none of them leaves the account before it gets its rank.
    let sql = format!(
        "SELECT id FROM session WHERE workspace_id = $1 ORDER BY rank, id{}",
        tx.dialect().for_update()
    );
    let mut order: Vec<String> = Vec::new();
    for mut row in tx.rows(&sql, &[account.as_str().into()]).await? {
        order.push(row.take()?);
    }
    let order = reordered(order, moving.as_str(), before.map(SessionId::as_str));
    spread_ranks(tx, "session", &order).await
}

fn answer(previous: Option<Place>, next: Option<Place>, moved: bool) -> MovedSession {
    MovedSession {
        previous: previous.map(|place| place.id),
        next: next.map(|place| place.id),
        moved,
    }
}

fn not_found(reference: &str) -> CatalogError {
    CatalogError::SessionNotFound {
        id: reference.to_owned(),
    }
}
