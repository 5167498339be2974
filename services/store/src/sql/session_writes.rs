//! Changing and deleting sessions: every write locks the row before it looks at it, and appends its entry last. What a
//! session leads to (leases, labels, changes of state) is written under the lock of its row.

use async_trait::async_trait;

use compozy_domain::session::change::Moment;
use compozy_domain::{CatalogError, ChangeOp, ChangeReason, SessionAt, SessionId};

use crate::error::Result;
use crate::sessions::{ChangeSession, DeleteSession};
use crate::sql::append::append;
use crate::sql::db::Tx;
use crate::sql::remember::{Mutation, Scope};
use crate::sql::session_apply::{apply, entry, remove_session};
use crate::sql::session_clock::session_moment;
use crate::sql::session_rows::{lock_existing_session, lock_session, session_now};

#[async_trait]
impl Mutation for ChangeSession {
    type Output = SessionAt;

    async fn apply(&self, tx: &mut Tx, scope: &Scope<'_>) -> Result<SessionAt> {
        let current = lock_existing_session(tx, &self.id, scope.visibility).await?;
        current.check_etag(self.etag.as_ref())?;
        current.check_understood()?;
        let (now, away_since) = session_moment(tx, scope.now).await?;
        let moment = Moment {
            now,
            by: &self.by,
            stale_after: self.stale_after,
            away_since,
        };
        let session = match current.changed(&self.change, moment)? {
            None => current,
            Some(outcome) => {
                // A place depends on the root only where workspace or directory change.
                apply(tx, &current, &outcome, None, now).await?;
                outcome.next
            }
        };
        Ok(SessionAt { session, at: now })
    }
}

#[async_trait]
impl Mutation for DeleteSession {
    type Output = Option<SessionId>;

    async fn apply(&self, tx: &mut Tx, scope: &Scope<'_>) -> Result<Option<SessionId>> {
        let found = match &self.id {
            Some(id) => lock_session(tx, id, scope.visibility).await?,
            None => None,
        };
        let Some(mut session) = found else {
            if self.allow_missing {
                return Ok(None);
            }
            return Err(CatalogError::SessionNotFound {
                id: self.reference.clone(),
            }
            .into());
        };
        // One that this release does not understand can go: somebody named it.
        session.check_etag(self.etag.as_ref())?;
        session.check_deletable(self.force)?;
        let now = session_now(tx, scope.now).await?;
        remove_session(tx, &session, now).await?;
        session.version += 1;
        let what = (ChangeOp::Deleted, ChangeReason::Removed);
        append(tx, &entry(&session, what, None, now)).await?;
        Ok(Some(session.id))
    }
}
