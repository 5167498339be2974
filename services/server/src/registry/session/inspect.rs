//! One session, looked at closely.

use std::time::Duration;

use compozy_domain::session::Transition;
use compozy_domain::{CatalogError, Revision, SessionAt, SessionId};

use crate::registry::{Caller, Registry, within};

/// Looks at a session that changes its state all the time before the last one has to do.
const LOOKS_MAX: usize = 3;

/// A session with its history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspected {
    /// The session.
    pub session: SessionAt,
    /// Every change of its state, oldest first, the last 1,000.
    pub transitions: Vec<Transition>,
    /// Silence of a runtime that counts as too long.
    pub stale_after: Duration,
    /// Head of the change log in the snapshot of the session.
    pub revision: Revision,
}

impl Registry {
    /// A session with its history. The last transition is the one into the state that the record shows.
    ///
    /// # Errors
    /// [`CatalogError::SessionNotFound`], and what the store answers.
    pub async fn inspect_session(&self, caller: &Caller, id: &SessionId) -> Result<Inspected, CatalogError> {
        let (mut session, mut revision) = self.get_session(caller, id).await?;
        let mut transitions = self.transitions_of(caller, id).await?;
        for _ in 1..LOOKS_MAX {
            let last = transitions.last();
            if last.is_none_or(|last| last.state == session.session.state) {
                break;
            }
            // The state changed between the two looks.
            (session, revision) = self.get_session(caller, id).await?;
            transitions = self.transitions_of(caller, id).await?;
        }
        Ok(Inspected {
            session,
            transitions,
            stale_after: self.stale_after(),
            revision,
        })
    }

    async fn transitions_of(&self, caller: &Caller, id: &SessionId) -> Result<Vec<Transition>, CatalogError> {
        within(caller.deadline, self.store.transitions(id)).await
    }
}
