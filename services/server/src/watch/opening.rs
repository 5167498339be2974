//! The beginning of a watch: from what a request says to a cursor in the log.

use std::sync::Arc;
use std::time::Duration;

use compozy_domain::{CatalogError, ChangeKind, CursorFault, WatchFilter, WorkspaceId, WorkspaceRef};

use super::Seat;
use super::log::Present;
use super::watcher::{Ending, LookAgain, Lost, Parts, Phase, Watcher};
use crate::convert::change::binding;
use crate::planted;
use crate::registry::{Caller, Reference};
use crate::resume_token::{self, Binding, ResumeToken, WatchTokens};

/// Where a watch begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// With what commits from now on.
    Now,
    /// With the current rows.
    Snapshot,
    /// With the oldest change that is retained.
    Earliest,
    /// Behind a token.
    Token(String),
}

/// What a request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchWanted {
    /// Where to begin.
    pub start: Start,
    /// The workspaces of the filter.
    pub workspaces: Vec<Reference>,
    /// Whether sessions without a workspace are wanted.
    pub ungrouped: bool,
    /// The kinds of the filter; empty is all.
    pub kinds: Vec<ChangeKind>,
    /// Whether internal sessions are wanted.
    pub include_internal: bool,
    /// Whether rows ride along.
    pub include_rows: bool,
    /// How long the stream may be silent.
    pub heartbeat: Duration,
    /// Whether an expired token is answered by a resync instead of an error.
    pub resync_expired: bool,
}

/// A watch that was let in and has not begun.
pub struct Opening {
    /// What all watches work with.
    pub parts: Arc<Parts>,
    /// What was asked for.
    pub wanted: WatchWanted,
    /// Who asks.
    pub caller: Caller,
    /// Tells who that is later on.
    pub look_again: LookAgain,
    /// Ends when the stream has to.
    pub ending: Ending,
    /// Its seat.
    pub seat: Seat,
}

impl std::fmt::Debug for Opening {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Opening")
            .field("wanted", &self.wanted)
            .finish_non_exhaustive()
    }
}

/// Where the cursor of a watch is put.
struct Place {
    cursor: i64,
    /// What is missing in front of it.
    lost: Option<Lost>,
    phase: Phase,
}

impl Opening {
    /// Finds the place to begin at.
    ///
    /// # Errors
    /// [`CatalogError::ResumeToken`], [`CatalogError::ResumeTokenExpired`], what may be wrong with a reference, and what the
    /// store answers.
    pub async fn open(self) -> Result<Watcher, CatalogError> {
        let Self {
            parts,
            wanted,
            caller,
            look_again,
            ending,
            seat,
        } = self;
        // Before anything is asked of the store: a bad token is one also while the store is away.
        let token = match &wanted.start {
            Start::Token(token) => {
                let opened = resume_token::decode(&parts.seal, token).await;
                Some(opened.map_err(of_a_token)?)
            }
            Start::Now | Start::Snapshot | Start::Earliest => None,
        };
        let (filter, bound) = filter(&parts, &caller, &wanted, token.as_ref()).await?;
        // Subscribed before the log is asked where it stands, so that nothing gets between.
        let moved = parts.log.moved();
        let present = parts.log.present().await?;
        let place = match token {
            Some(token) => behind(&parts, &token, &present, bound, wanted.resync_expired)?,
            None => Place {
                cursor: match wanted.start {
                    Start::Earliest => present.floor,
                    Start::Now | Start::Snapshot | Start::Token(_) => present.head,
                },
                lost: None,
                phase: if wanted.start == Start::Snapshot {
                    Phase::snapshot()
                } else {
                    Phase::CatchUp { until: present.head }
                },
            },
        };
        let tokens = WatchTokens::new(Arc::clone(&parts.seal), &present.epoch, bound);
        Ok(Watcher::begin(super::watcher::Beginning {
            parts,
            filter,
            principal: caller.principal,
            include_rows: wanted.include_rows,
            heartbeat: wanted.heartbeat,
            tokens,
            epoch: present.epoch,
            cursor: place.cursor,
            lost: place.lost,
            phase: place.phase,
            moved,
            look_again,
            ending,
            seat,
        }))
    }
}

/// The filter of a watch, by ids, and what its tokens are bound to.
async fn filter(
    parts: &Parts,
    caller: &Caller,
    wanted: &WatchWanted,
    token: Option<&ResumeToken>,
) -> Result<(WatchFilter, Binding), CatalogError> {
    let bound_before = token.and_then(|token| token.binding);
    let mut ids = Vec::with_capacity(wanted.workspaces.len());
    let mut missing = None;
    for reference in &wanted.workspaces {
        match parts.registry.find(caller, reference).await {
            Ok(workspace) => ids.push(workspace.id),
            Err(error) => match removed_meanwhile(caller, reference, &error) {
                Some(id) if bound_before.is_some() => {
                    ids.push(id);
                    missing = Some(error);
                }
                _ => return Err(error),
            },
        }
    }
    let filter = WatchFilter::new(
        ids,
        wanted.ungrouped,
        wanted.kinds.clone(),
        wanted.include_internal,
    );
    let bound = binding(&filter);
    if bound_before.is_none_or(|before| before == bound) {
        return Ok((filter, bound));
    }
    Err(missing.unwrap_or(CatalogError::ResumeToken(CursorFault::OtherQuery)))
}

/// What is wrong with a sealed text, told as being wrong with a resume token.
fn of_a_token(error: CatalogError) -> CatalogError {
    match error {
        CatalogError::Cursor(fault) => CatalogError::ResumeToken(fault),
        error => error,
    }
}

/// The id of a workspace that is not there, which a watch from before its removal may go on naming.
fn removed_meanwhile(caller: &Caller, reference: &Reference, error: &CatalogError) -> Option<WorkspaceId> {
    match (&reference.form, error) {
        (WorkspaceRef::Id(id), CatalogError::WorkspaceNotFound { .. }) => {
            Some(id.clone()).filter(|id| caller.principal.visibility.includes(id))
        }
        _ => None,
    }
}

/// The place behind a token.
fn behind(
    parts: &Parts,
    token: &ResumeToken,
    present: &Present,
    bound: Binding,
    resync_expired: bool,
) -> Result<Place, CatalogError> {
    let ResumeToken { revision, .. } = token;
    let from_now_on = |lost| Place {
        cursor: present.head,
        lost: Some(lost),
        phase: Phase::CatchUp { until: present.head },
    };
    let is_of_this_epoch = revision.epoch == *present.epoch || planted::is("foreign_epoch");
    if !is_of_this_epoch || revision.position > present.head {
        return Ok(from_now_on(Lost::Epoch));
    }
    if revision.position < present.floor {
        if resync_expired {
            return Ok(from_now_on(Lost::Expired));
        }
        let mut tokens = WatchTokens::new(Arc::clone(&parts.seal), &present.epoch, bound);
        return Err(CatalogError::ResumeTokenExpired {
            oldest_token: tokens.at(present.floor),
        });
    }
    Ok(Place {
        cursor: revision.position,
        lost: None,
        phase: Phase::CatchUp { until: present.head },
    })
}
