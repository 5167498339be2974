//! The methods of `SessionCatalogService` about records. Writes get a request id when the caller gave none, and keep
//! it over their retries.

mod health;
mod runtime;

use std::time::Duration;

use compozy_proto::session::v1::session_catalog_service_client::SessionCatalogServiceClient;
use compozy_proto::session::v1::{
    ArchiveSessionRequest, ArchiveSessionResponse, CountSessionsRequest, CountSessionsResponse,
    CreateSessionRequest, CreateSessionResponse, DeleteSessionRequest, DeleteSessionResponse,
    GetSessionRequest, GetSessionResponse, ListSessionsRequest, ListSessionsResponse, RenameSessionRequest,
    RenameSessionResponse, ResumeSessionRequest, ResumeSessionResponse, StopSessionRequest,
    StopSessionResponse, UnarchiveSessionRequest, UnarchiveSessionResponse, UpdateSessionRequest,
    UpdateSessionResponse,
};

use crate::retry::Repeat;
use crate::wire::Wire;
use crate::{Client, Error, request_id};

/// Each method fails as `SessionCatalogService` in the contract says.
impl Client {
    /// One session. Its counts of events are exact.
    pub async fn get_session(&self, request: GetSessionRequest) -> Result<GetSessionResponse, Error> {
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.session_stub();
            async move { stub.get_session(request).await }
        })
        .await
    }

    /// One counted page. [`Client::session_rows`] walks all of them.
    pub async fn list_sessions(&self, request: ListSessionsRequest) -> Result<ListSessionsResponse, Error> {
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.session_stub();
            async move { stub.list_sessions(request).await }
        })
        .await
    }

    /// Exact totals of a filter, without rows.
    pub async fn count_sessions(
        &self,
        request: CountSessionsRequest,
    ) -> Result<CountSessionsResponse, Error> {
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.session_stub();
            async move { stub.count_sessions(request).await }
        })
        .await
    }

    /// Creates a session. With `bind` the answer holds the lease of the runtime: where it was in an answer that got
    /// lost, the same holder binds again.
    pub async fn create_session(
        &self,
        mut request: CreateSessionRequest,
    ) -> Result<CreateSessionResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        let binding = request.bind.clone();
        let mut answer = self
            .call(request, Repeat::Safe, |request| {
                let mut stub = self.session_stub();
                async move { stub.create_session(request).await }
            })
            .await?;
        self.bind_where_lost(binding, &mut answer.session, &mut answer.lease)
            .await?;
        Ok(answer)
    }

    /// Changes labels or permission mode.
    pub async fn update_session(
        &self,
        mut request: UpdateSessionRequest,
    ) -> Result<UpdateSessionResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.session_stub();
            async move { stub.update_session(request).await }
        })
        .await
    }

    /// Gives a session another name.
    pub async fn rename_session(
        &self,
        mut request: RenameSessionRequest,
    ) -> Result<RenameSessionResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.session_stub();
            async move { stub.rename_session(request).await }
        })
        .await
    }

    /// Asks a session to stop. With `wait` the call may take that much longer than the client's deadline.
    pub async fn stop_session(&self, mut request: StopSessionRequest) -> Result<StopSessionResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        let wait = request.wait.and_then(|wait| Duration::try_from(wait).ok());
        // The server answers after the wait; what comes before and after has the usual time.
        let patient = self.with_deadline(self.deadline.saturating_add(wait.unwrap_or_default()));
        patient
            .call(request, Repeat::Safe, |request| {
                let mut stub = patient.session_stub();
                async move { stub.stop_session(request).await }
            })
            .await
    }

    /// Makes a stopped session start again. With `bind` the answer holds the lease, as in
    /// [`Client::create_session`].
    pub async fn resume_session(
        &self,
        mut request: ResumeSessionRequest,
    ) -> Result<ResumeSessionResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        let binding = request.bind.clone();
        let mut answer = self
            .call(request, Repeat::Safe, |request| {
                let mut stub = self.session_stub();
                async move { stub.resume_session(request).await }
            })
            .await?;
        self.bind_where_lost(binding, &mut answer.session, &mut answer.lease)
            .await?;
        Ok(answer)
    }

    /// Takes a stopped session out of the lists.
    pub async fn archive_session(
        &self,
        mut request: ArchiveSessionRequest,
    ) -> Result<ArchiveSessionResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.session_stub();
            async move { stub.archive_session(request).await }
        })
        .await
    }

    /// Brings an archived session back into the lists.
    pub async fn unarchive_session(
        &self,
        mut request: UnarchiveSessionRequest,
    ) -> Result<UnarchiveSessionResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.session_stub();
            async move { stub.unarchive_session(request).await }
        })
        .await
    }

    /// Removes a session with its events and its ledger.
    pub async fn delete_session(
        &self,
        mut request: DeleteSessionRequest,
    ) -> Result<DeleteSessionResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.session_stub();
            async move { stub.delete_session(request).await }
        })
        .await
    }

    pub(crate) fn session_stub(&self) -> SessionCatalogServiceClient<Wire> {
        SessionCatalogServiceClient::new(self.wire.clone())
    }
}
