//! The methods of `SessionCatalogService` about how sessions do, and about the operators who enter them.

use compozy_proto::session::v1::{
    AcquireAttachLeaseRequest, AcquireAttachLeaseResponse, GetSessionHealthRequest, GetSessionHealthResponse,
    InspectSessionRequest, InspectSessionResponse, MarkSessionSeenRequest, MarkSessionSeenResponse,
    ReleaseAttachLeaseRequest, ReleaseAttachLeaseResponse,
};

use crate::retry::Repeat;
use crate::{Client, Error, request_id};

/// Each method fails as `SessionCatalogService` in the contract says.
impl Client {
    /// How the runtime of a session does.
    pub async fn get_session_health(
        &self,
        request: GetSessionHealthRequest,
    ) -> Result<GetSessionHealthResponse, Error> {
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.session_stub();
            async move { stub.get_session_health(request).await }
        })
        .await
    }

    /// A session with its health, transitions, open questions and the metadata of its secrets.
    pub async fn inspect_session(
        &self,
        request: InspectSessionRequest,
    ) -> Result<InspectSessionResponse, Error> {
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.session_stub();
            async move { stub.inspect_session(request).await }
        })
        .await
    }

    /// Takes or renews the lease of an operator who enters a live session.
    pub async fn acquire_attach_lease(
        &self,
        mut request: AcquireAttachLeaseRequest,
    ) -> Result<AcquireAttachLeaseResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.session_stub();
            async move { stub.acquire_attach_lease(request).await }
        })
        .await
    }

    /// Gives that lease back.
    pub async fn release_attach_lease(
        &self,
        mut request: ReleaseAttachLeaseRequest,
    ) -> Result<ReleaseAttachLeaseResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.session_stub();
            async move { stub.release_attach_lease(request).await }
        })
        .await
    }

    /// Says that a person has seen what the last turn did.
    pub async fn mark_session_seen(
        &self,
        mut request: MarkSessionSeenRequest,
    ) -> Result<MarkSessionSeenResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.session_stub();
            async move { stub.mark_session_seen(request).await }
        })
        .await
    }
}
