//! The methods of `SessionCatalogService` for the runtime of a session, by its lease.

use compozy_proto::session::v1::{
    BatchHeartbeatRequest, BatchHeartbeatResponse, BindRuntimeRequest, BindRuntimeResponse,
    FinishSessionRequest, FinishSessionResponse, GetLaunchRequest, GetLaunchResponse, HeartbeatRequest,
    HeartbeatResponse, RuntimeBinding, RuntimeLease, Session,
};

use crate::retry::{ATTEMPTS, Repeat};
use crate::{Client, Error, request_id};

/// Each method fails as `SessionCatalogService` in the contract says.
impl Client {
    /// Takes the runtime lease of a live session. The token of a lease is in no repeated answer: where the first one
    /// got lost, the same holder binds once more, under a request id of its own.
    pub async fn bind_runtime(&self, mut request: BindRuntimeRequest) -> Result<BindRuntimeResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        for _ in 0..ATTEMPTS {
            let answer = self
                .call(request.clone(), Repeat::Safe, |request| {
                    let mut stub = self.session_stub();
                    async move { stub.bind_runtime(request).await }
                })
                .await?;
            if answer.lease.as_ref().is_some_and(has_token) {
                return Ok(answer);
            }
            request.request_id = request_id::new()?;
        }
        Err(Error::broken_answer(
            "the server binds a runtime and gives no lease for it",
        ))
    }

    /// Renews a runtime lease and reports. A repetition reports the same.
    pub async fn heartbeat(&self, request: HeartbeatRequest) -> Result<HeartbeatResponse, Error> {
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.session_stub();
            async move { stub.heartbeat(request).await }
        })
        .await
    }

    /// Many heartbeats at once. One that fails does not fail the others.
    pub async fn batch_heartbeat(
        &self,
        request: BatchHeartbeatRequest,
    ) -> Result<BatchHeartbeatResponse, Error> {
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.session_stub();
            async move { stub.batch_heartbeat(request).await }
        })
        .await
    }

    /// The runtime's last word: the session is stopped and classified.
    pub async fn finish_session(
        &self,
        mut request: FinishSessionRequest,
    ) -> Result<FinishSessionResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.session_stub();
            async move { stub.finish_session(request).await }
        })
        .await
    }

    /// What the holder of a runtime lease needs to start the agent, secrets included.
    pub async fn get_launch(&self, request: GetLaunchRequest) -> Result<GetLaunchResponse, Error> {
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.session_stub();
            async move { stub.get_launch(request).await }
        })
        .await
    }

    /// Binds where a lease was asked for and is not in the answer.
    pub(super) async fn bind_where_lost(
        &self,
        binding: Option<RuntimeBinding>,
        session: &mut Option<Session>,
        lease: &mut Option<RuntimeLease>,
    ) -> Result<(), Error> {
        if binding.is_none() || lease.as_ref().is_some_and(has_token) {
            return Ok(());
        }
        let session_id = session.as_ref().map(|session| session.id.clone());
        let request = BindRuntimeRequest {
            session_id: session_id.unwrap_or_default(),
            binding,
            request_id: String::new(),
        };
        let answer = self.bind_runtime(request).await?;
        *lease = answer.lease;
        if answer.session.is_some() {
            *session = answer.session;
        }
        Ok(())
    }
}

fn has_token(lease: &RuntimeLease) -> bool {
    !lease.token.is_empty()
}
