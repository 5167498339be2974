//! Calls: who asks, until when, and how a repeated write is recognised and answered.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use compozy_domain::workspace::WorkspaceUpdate;
use compozy_domain::{CatalogError, Principal, RequestId, Workspace};
use compozy_store::{Answer, Call, Remember, Remove, Result as StoreResult, Update, Written};
use futures::future::BoxFuture;

use super::{Registry, within};

/// An authorised caller.
#[derive(Debug, Clone)]
pub struct Caller {
    /// Who.
    pub principal: Arc<Principal>,
    /// When the caller stops waiting.
    pub deadline: Instant,
}

/// A write on behalf of a caller, whose outcome is `O`.
#[derive(Debug)]
pub struct WriteCall<O> {
    /// Who asks.
    pub caller: Caller,
    /// How to recognise a repetition; `None` remembers nothing, as for a call that only validates.
    pub repeat: Option<Repeat<O>>,
}

/// A write that is carried out once: the same request gets the first answer again for 24 hours.
pub struct Repeat<O> {
    /// Full name of the method.
    pub method: &'static str,
    /// The caller's id of the request.
    pub request_id: RequestId,
    /// SHA-256 of the request without its id.
    pub hash: [u8; 32],
    /// Makes the bytes of the answer.
    pub encode: Encode<O>,
}

/// Makes the bytes of an answer.
pub type Encode<O> = Arc<dyn Fn(&O) -> Vec<u8> + Send + Sync>;

/// The answer to a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply<O> {
    /// It was carried out now.
    Fresh(O),
    /// It was carried out before; the bytes of the first answer.
    Remembered(Vec<u8>),
}

impl<O> fmt::Debug for Repeat<O> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Repeat")
            .field("method", &self.method)
            .field("request_id", &self.request_id)
            .finish_non_exhaustive()
    }
}

impl<O: Send + 'static> WriteCall<O> {
    /// The store's view of the call. `outcome` makes the answer of what the store wrote.
    fn to_store<T, M>(&self, registry: &Registry, outcome: M) -> Call<T>
    where
        M: Fn(&Written<T>) -> O + Send + Sync + 'static,
        T: 'static,
    {
        let remember = self.repeat.as_ref().map(|repeat| {
            let encode = Arc::clone(&repeat.encode);
            Remember {
                principal: self.caller.principal.id.clone(),
                method: repeat.method,
                request_id: repeat.request_id.clone(),
                hash: repeat.hash,
                encode: Arc::new(move |written: &Written<T>| encode(&outcome(written))),
            }
        });
        Call {
            visibility: self.caller.principal.visibility.clone(),
            now: registry.now(),
            deadline: self.caller.deadline,
            remember,
        }
    }
}

impl Registry {
    /// Carries out a write as a task: it goes on if the caller goes away, and ends by itself at the deadline.
    /// Two at once with one request id take turns; the second gets the first one's answer.
    pub(super) async fn carry_out<O, F, W>(
        self: Arc<Self>,
        call: WriteCall<O>,
        work: W,
    ) -> Result<Reply<O>, CatalogError>
    where
        O: Send + 'static,
        W: FnOnce(Arc<Self>, WriteCall<O>) -> F + Send + 'static,
        F: Future<Output = Result<Reply<O>, CatalogError>> + Send + 'static,
    {
        let deadline = call.caller.deadline;
        let registry = Arc::clone(&self);
        let task = self.tasks.spawn(async move {
            let _turn = registry.take_turn(&call).await?;
            if let Some(bytes) = registry.remembered(&call).await? {
                return Ok(Reply::Remembered(bytes));
            }
            work(registry, call).await
        });
        match tokio::time::timeout_at(deadline.into(), task).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(failed)) => Err(CatalogError::Defect {
                detail: format!("a write ended early: {failed}"),
            }),
            Err(_) => Err(CatalogError::DeadlineExceeded),
        }
    }

    async fn take_turn<O>(
        &self,
        call: &WriteCall<O>,
    ) -> Result<Option<super::in_flight::Turn>, CatalogError> {
        let Some(repeat) = &call.repeat else {
            return Ok(None);
        };
        let key = (
            call.caller.principal.id.clone(),
            repeat.method,
            repeat.request_id.clone(),
        );
        let turn = tokio::time::timeout_at(call.caller.deadline.into(), self.in_flight.wait(key)).await;
        turn.map(Some).map_err(|_| CatalogError::DeadlineExceeded)
    }

    async fn remembered<O>(&self, call: &WriteCall<O>) -> Result<Option<Vec<u8>>, CatalogError> {
        let Some(Repeat {
            method,
            request_id,
            hash,
            encode: _,
        }) = &call.repeat
        else {
            return Ok(None);
        };
        let principal = &call.caller.principal.id;
        within(
            call.caller.deadline,
            self.store
                .find_answer(principal, method, request_id, hash, self.now()),
        )
        .await
    }

    /// Asks the store for a write and makes the caller's answer of it.
    pub(super) async fn write<'a, O, T, M, W>(
        &'a self,
        call: &WriteCall<O>,
        outcome: M,
        write: W,
    ) -> Result<Reply<O>, CatalogError>
    where
        O: Send + 'static,
        T: 'static,
        M: Fn(&Written<T>) -> O + Clone + Send + Sync + 'static,
        W: FnOnce(Call<T>) -> BoxFuture<'a, StoreResult<Answer<T>>>,
    {
        match write(call.to_store(self, outcome.clone())).await? {
            Answer::Fresh(written) => Ok(Reply::Fresh(outcome(&written))),
            Answer::Remembered(bytes) => Ok(Reply::Remembered(bytes)),
        }
    }

    /// Answers a write that found everything as it should be. A change of nothing writes nothing, and keeps the
    /// answer for a repetition.
    pub(super) async fn leave_as_it_is<O, M>(
        &self,
        call: &WriteCall<O>,
        workspace: &Workspace,
        outcome: M,
    ) -> Result<Reply<O>, CatalogError>
    where
        O: Send + 'static,
        M: Fn(&Written<Workspace>) -> O + Clone + Send + Sync + 'static,
    {
        let visibility = &call.caller.principal.visibility;
        if call.repeat.is_none() {
            let (found, revision) =
                within(call.caller.deadline, self.store.find(&workspace.id, visibility)).await?;
            let value = found.ok_or_else(|| not_found(&workspace.id.to_string()))?;
            return Ok(Reply::Fresh(outcome(&Written { value, revision })));
        }
        let nothing = Update {
            id: workspace.id.clone(),
            etag: None,
            update: WorkspaceUpdate::default(),
            validate_only: false,
        };
        self.write(call, outcome, |call| self.store.update(nothing, call))
            .await
    }

    /// Answers a write that touched files only. Removing nothing writes nothing, and keeps the answer for a
    /// repetition.
    pub(super) async fn answer_without_row<O, M>(
        &self,
        call: &WriteCall<O>,
        outcome: M,
    ) -> Result<Reply<O>, CatalogError>
    where
        O: Send + 'static,
        M: Fn(&compozy_domain::Revision) -> O + Clone + Send + Sync + 'static,
    {
        if call.repeat.is_none() {
            let head = within(call.caller.deadline, self.store.head()).await?.head;
            return Ok(Reply::Fresh(outcome(&head)));
        }
        let nothing = Remove {
            id: None,
            etag: None,
            allow_missing: true,
            delete_sessions: false,
            ungroup_live: false,
            reference: String::new(),
        };
        let of_written = move |written: &Written<compozy_store::Removed>| outcome(&written.revision);
        self.write(call, of_written, |call| self.store.remove(nothing, call))
            .await
    }
}

/// No such workspace for this caller, in the same words whether it is invisible or never was.
pub(super) fn not_found(reference: &str) -> CatalogError {
    CatalogError::WorkspaceNotFound {
        reference: reference.to_owned(),
    }
}
