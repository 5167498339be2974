//! Runtimes and operators: who runs a session, who is in it, and what a runtime reports.

use std::sync::Arc;
use std::time::{Duration, Instant};

use compozy_domain::session::change::{LastWord, NewLease, Report, SessionChange};
use compozy_domain::{CatalogError, LeaseHash, LeaseToken, Revision, SessionAt, SessionId};
use compozy_store::{ChangeSession, FinishSession, HeartbeatCall, Heartbeats, Written};
use sha2::{Digest as _, Sha256};

use crate::registry::{Caller, Registry, Reply, WriteCall};

/// A runtime lease that a caller wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindingWanted {
    /// For whom.
    pub holder: String,
    /// For how long without a heartbeat; `None` = as the configuration says.
    pub ttl: Option<Duration>,
}

/// A change of a session that a caller wants, besides those of its record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseWanted<T> {
    /// Which session.
    pub id: SessionId,
    /// What is wanted of it.
    pub wanted: T,
}

/// An operator's lease that a caller wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachWanted {
    /// For whom.
    pub holder: String,
    /// For how long.
    pub ttl: Duration,
}

/// A runtime's last word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishWanted {
    /// The hash of its lease.
    pub hash: LeaseHash,
    /// What it says.
    pub word: LastWord,
}

/// A session after a call about its leases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leased {
    /// The session.
    pub session: SessionAt,
    /// A position of the change log before the call's own write.
    pub revision: Revision,
    /// Silence of a runtime that counts as too long.
    pub stale_after: Duration,
    /// The token of the lease that this very call gave. Never in what is remembered.
    pub token: Option<LeaseToken>,
}

/// The hash by which the catalog knows a lease.
#[must_use]
pub fn lease_hash(token: &LeaseToken) -> LeaseHash {
    LeaseHash(Sha256::digest(token.expose()).into())
}

impl Registry {
    /// A runtime lease to give, and its token for the holder alone.
    ///
    /// # Errors
    /// When there is no randomness.
    pub(in crate::registry) fn new_lease(
        &self,
        wanted: BindingWanted,
    ) -> Result<(LeaseToken, NewLease), CatalogError> {
        let BindingWanted { holder, ttl } = wanted;
        let token = LeaseToken::generate(self.now(), self.random.as_ref())?;
        let lease = NewLease {
            holder,
            hash: lease_hash(&token),
            ttl: ttl.unwrap_or(self.settings.sessions.runtime_ttl),
        };
        Ok((token, lease))
    }

    /// Gives the runtime lease of a live session.
    ///
    /// # Errors
    /// [`CatalogError::LeaseHeld`], [`CatalogError::SessionArchived`], [`CatalogError::SessionState`],
    /// [`CatalogError::SessionNotFound`].
    pub async fn bind_runtime(
        self: Arc<Self>,
        call: WriteCall<Leased>,
        wanted: LeaseWanted<BindingWanted>,
    ) -> Result<Reply<Leased>, CatalogError> {
        let LeaseWanted { id, wanted } = wanted;
        let (token, lease) = self.new_lease(wanted)?;
        let changed = self.change_leases(call, id, SessionChange::Bind(lease)).await?;
        Ok(with_token(changed, Some(token)))
    }

    /// Makes a stopped session start again, perhaps with its runtime bound at once.
    ///
    /// # Errors
    /// As [`Registry::bind_runtime`].
    pub async fn resume_session(
        self: Arc<Self>,
        call: WriteCall<Leased>,
        wanted: LeaseWanted<Option<BindingWanted>>,
    ) -> Result<Reply<Leased>, CatalogError> {
        let LeaseWanted { id, wanted } = wanted;
        let (token, bind) = match wanted {
            None => (None, None),
            Some(wanted) => {
                let (token, lease) = self.new_lease(wanted)?;
                (Some(token), Some(lease))
            }
        };
        let changed = self
            .change_leases(call, id, SessionChange::Resume { bind })
            .await?;
        Ok(with_token(changed, token))
    }

    /// Takes or renews an operator's lease.
    ///
    /// # Errors
    /// As [`Registry::bind_runtime`].
    pub async fn acquire_attach(
        self: Arc<Self>,
        call: WriteCall<Leased>,
        wanted: LeaseWanted<AttachWanted>,
    ) -> Result<Reply<Leased>, CatalogError> {
        let LeaseWanted {
            id,
            wanted: AttachWanted { holder, ttl },
        } = wanted;
        self.change_leases(call, id, SessionChange::AcquireAttach { holder, ttl })
            .await
    }

    /// Gives an operator's lease back.
    ///
    /// # Errors
    /// [`CatalogError::SessionNotFound`].
    pub async fn release_attach(
        self: Arc<Self>,
        call: WriteCall<Leased>,
        wanted: LeaseWanted<String>,
    ) -> Result<Reply<Leased>, CatalogError> {
        let LeaseWanted { id, wanted: holder } = wanted;
        self.change_leases(call, id, SessionChange::ReleaseAttach { holder })
            .await
    }

    /// Takes note that somebody has seen what the last turn did.
    ///
    /// # Errors
    /// [`CatalogError::SessionNotFound`].
    pub async fn mark_seen(
        self: Arc<Self>,
        call: WriteCall<Leased>,
        wanted: LeaseWanted<()>,
    ) -> Result<Reply<Leased>, CatalogError> {
        self.change_leases(call, wanted.id, SessionChange::Seen).await
    }

    /// Takes a runtime's last word.
    ///
    /// # Errors
    /// [`CatalogError::LeaseLost`].
    pub async fn finish_session(
        self: Arc<Self>,
        call: WriteCall<Leased>,
        wanted: FinishWanted,
    ) -> Result<Reply<Leased>, CatalogError> {
        let stale_after = self.settings.sessions.stale_after;
        self.carry_out(call, move |registry, call| async move {
            let FinishWanted { hash, word } = wanted;
            let finish = FinishSession {
                hash,
                word,
                stale_after,
            };
            registry
                .write(
                    &call,
                    move |written| leased(written, stale_after),
                    |call| registry.store.finish_session(finish, call),
                )
                .await
        })
        .await
    }

    /// Renews a lease and takes its report.
    ///
    /// # Errors
    /// [`CatalogError::LeaseLost`].
    pub async fn heartbeat(
        self: Arc<Self>,
        caller: Caller,
        beat: (LeaseHash, Report),
    ) -> Result<SessionAt, CatalogError> {
        let mut outcomes = self.heartbeats(caller, vec![beat]).await?;
        outcomes.pop().unwrap_or(Err(CatalogError::LeaseLost))
    }

    /// Renews many leases, no two of them the same, and takes their reports, each by itself. The outcomes are in the
    /// order of the heartbeats.
    ///
    /// # Errors
    /// Those of the store, for all of them.
    pub async fn heartbeats(
        self: Arc<Self>,
        caller: Caller,
        beats: Vec<(LeaseHash, Report)>,
    ) -> Result<Vec<Result<SessionAt, CatalogError>>, CatalogError> {
        if beats.is_empty() {
            return Ok(Vec::new());
        }
        let deadline = caller.deadline;
        let call = HeartbeatCall {
            visibility: caller.principal.visibility.clone(),
            now: self.now(),
            asked_at: Instant::now(),
            deadline,
        };
        let beats = Heartbeats {
            beats,
            stale_after: self.settings.sessions.stale_after,
        };
        // It goes on if its caller goes away: a write happens completely or not at all.
        let registry = Arc::clone(&self);
        let task = self
            .tasks
            .spawn(async move { registry.store.heartbeat(&beats, &call).await });
        match tokio::time::timeout_at(deadline.into(), task).await {
            Ok(Ok(outcomes)) => Ok(outcomes?),
            Ok(Err(failed)) => Err(CatalogError::Defect {
                detail: format!("heartbeats ended early: {failed}"),
            }),
            Err(_) => Err(CatalogError::DeadlineExceeded),
        }
    }

    async fn change_leases(
        self: Arc<Self>,
        call: WriteCall<Leased>,
        id: SessionId,
        change: SessionChange,
    ) -> Result<Reply<Leased>, CatalogError> {
        let stale_after = self.settings.sessions.stale_after;
        self.carry_out(call, move |registry, call| async move {
            let change = ChangeSession {
                id,
                etag: None,
                change,
                by: call.caller.principal.id.clone(),
                stale_after,
            };
            registry
                .write(
                    &call,
                    move |written| leased(written, stale_after),
                    |call| registry.store.change_session(change, call),
                )
                .await
        })
        .await
    }
}

/// What is remembered of a call: everything but the token.
fn leased(written: &Written<SessionAt>, stale_after: Duration) -> Leased {
    Leased {
        session: written.value.clone(),
        revision: written.revision.clone(),
        stale_after,
        token: None,
    }
}

/// The holder's answer: only the call that gave the lease has its token.
fn with_token(reply: Reply<Leased>, token: Option<LeaseToken>) -> Reply<Leased> {
    match reply {
        Reply::Fresh(leased) => Reply::Fresh(Leased { token, ..leased }),
        remembered @ Reply::Remembered(_) => remembered,
    }
}
