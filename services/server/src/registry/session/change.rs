//! Changes of a record by its callers: labels and permission mode, name, archive, stop. The rules stand in the domain,
//! the store applies them; here a stop is waited for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use compozy_domain::session::change::SessionChange;
use compozy_domain::{CatalogError, Etag, Revision, SessionAt, SessionId};
use compozy_store::{ChangeSession, Written};

use crate::registry::{Caller, News, Registry, Reply, WriteCall, within};

/// How often a stop is looked for at most, and when the change log wakes nobody.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How often it is looked for when the change log is silent: what it does not tell in time is not missed for long.
const LOOK_AGAIN: Duration = Duration::from_secs(2);
/// Time that an answer needs to reach its caller before the deadline.
const ANSWER_ROOM: Duration = Duration::from_millis(200);

/// A change of a session that a caller wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeWanted {
    /// Which session.
    pub id: SessionId,
    /// Only in this state.
    pub etag: Option<Etag>,
    /// What is wanted of it.
    pub change: SessionChange,
}

/// A stop that a caller wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopWanted {
    /// The change.
    pub change: ChangeWanted,
    /// How long to wait for the runtime.
    pub wait: Duration,
}

/// A session after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The session.
    pub session: SessionAt,
    /// A position of the change log before the call's own write.
    pub revision: Revision,
    /// Silence of a runtime that counts as too long.
    pub stale_after: Duration,
}

impl Registry {
    /// Changes a session. A change of nothing writes nothing.
    ///
    /// # Errors
    /// [`CatalogError::SessionNotFound`], [`CatalogError::EtagMismatch`], [`CatalogError::SessionState`],
    /// [`CatalogError::InvalidField`], [`CatalogError::RecordNotUnderstood`].
    pub async fn change_session(
        self: Arc<Self>,
        call: WriteCall<Changed>,
        wanted: ChangeWanted,
    ) -> Result<Reply<Changed>, CatalogError> {
        self.carry_out(call, move |registry, call| async move {
            let ChangeWanted { id, etag, change } = wanted;
            let stale_after = registry.settings.sessions.stale_after;
            let change = ChangeSession {
                id,
                etag,
                change,
                by: call.caller.principal.id.clone(),
                stale_after,
            };
            let outcome = move |written: &Written<SessionAt>| Changed {
                session: written.value.clone(),
                revision: written.revision.clone(),
                stale_after,
            };
            registry
                .write(&call, outcome, |call| registry.store.change_session(change, call))
                .await
        })
        .await
    }

    /// Asks a session to stop, and waits a while for its runtime if that is wanted and not too many others wait. The
    /// write is done before the wait: who goes away meanwhile has asked all the same.
    ///
    /// # Errors
    /// As [`Registry::change_session`].
    pub async fn stop_session(
        self: Arc<Self>,
        call: WriteCall<Changed>,
        wanted: StopWanted,
    ) -> Result<Reply<Changed>, CatalogError> {
        let StopWanted { change, wait } = wanted;
        let caller = call.caller.clone();
        let until = Instant::now().checked_add(wait).unwrap_or(caller.deadline);
        let last = caller
            .deadline
            .checked_sub(ANSWER_ROOM)
            .unwrap_or(caller.deadline);
        match Arc::clone(&self).change_session(call, change).await? {
            Reply::Fresh(changed) => {
                // Who waits takes up room that the runtime may need to say that it is over.
                let Ok(_turn) = self.stop_waits.try_acquire() else {
                    return Ok(Reply::Fresh(changed));
                };
                let session = self.stopped_by(&caller, changed.session, until.min(last)).await;
                Ok(Reply::Fresh(Changed { session, ..changed }))
            }
            remembered @ Reply::Remembered(_) => Ok(remembered),
        }
    }

    /// The session once it is over, or as it is at the end of the wait, which comes early when the server takes leave.
    /// One that is gone by then, or can't be looked at, is told as it was last seen.
    async fn stopped_by(&self, caller: &Caller, mut last: SessionAt, until: Instant) -> SessionAt {
        let mut news = self.news.get().cloned();
        while last.session.state.is_live() && Instant::now() < until {
            let looked_at = Instant::now();
            if let Some(news) = &mut news {
                // Before the look: what comes after it is news.
                news.log_moved.mark_unchanged();
            }
            let id = &last.session.id;
            let look = self
                .store
                .find_session(id, &caller.principal.visibility, self.now());
            match within(until, look).await {
                Ok((Some(found), _)) => last = found,
                Ok((None, _)) => return last,
                // The store may be back before the wait is over.
                Err(_) => {}
            }
            if last.session.state.is_live() && !next_look(news.as_mut(), looked_at, until).await {
                return last;
            }
        }
        last
    }
}

/// Waits until another look may show something new. `false` if nobody is to wait any longer.
async fn next_look(news: Option<&mut News>, looked_at: Instant, until: Instant) -> bool {
    let in_time = |pause| looked_at.checked_add(pause).map_or(until, |at| at.min(until));
    let soonest = tokio::time::sleep_until(in_time(LOOK_EVERY).into());
    let Some(News { log_moved, parting }) = news else {
        soonest.await;
        return true;
    };
    let woken = async {
        // A log that moves all the time has nobody look all the time.
        soonest.await;
        if log_moved.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        biased;
        () = parting.cancelled() => false,
        () = woken => true,
        () = tokio::time::sleep_until(in_time(LOOK_AGAIN).into()) => true,
    }
}
