//! `compozy.session.v1.SessionCatalogService`: convert in, ask the registry, convert out. The methods stand in the files
//! beside, by what they are about.

mod leases;
mod lists;
mod records;

use std::sync::Arc;

use compozy_proto::session::v1 as pb;
use compozy_proto::session::v1::session_catalog_service_server::SessionCatalogService;
use tonic::{Request, Response, Status};

use super::calls::Calls;
use crate::registry::Registry;
use crate::seal::Seal;

/// The service.
#[derive(Debug, Clone)]
pub struct SessionApi {
    calls: Calls,
}

impl SessionApi {
    /// The service over a registry.
    #[must_use]
    pub fn new(registry: Arc<Registry>, seal: Arc<Seal>) -> Self {
        Self {
            calls: Calls { registry, seal },
        }
    }
}

#[tonic::async_trait]
impl SessionCatalogService for SessionApi {
    async fn create_session(
        &self,
        request: Request<pb::CreateSessionRequest>,
    ) -> Result<Response<pb::CreateSessionResponse>, Status> {
        self.create(request).await
    }

    async fn get_session(
        &self,
        request: Request<pb::GetSessionRequest>,
    ) -> Result<Response<pb::GetSessionResponse>, Status> {
        self.get(request).await
    }

    async fn update_session(
        &self,
        request: Request<pb::UpdateSessionRequest>,
    ) -> Result<Response<pb::UpdateSessionResponse>, Status> {
        self.update(request).await
    }

    async fn rename_session(
        &self,
        request: Request<pb::RenameSessionRequest>,
    ) -> Result<Response<pb::RenameSessionResponse>, Status> {
        self.rename(request).await
    }

    async fn stop_session(
        &self,
        request: Request<pb::StopSessionRequest>,
    ) -> Result<Response<pb::StopSessionResponse>, Status> {
        self.stop(request).await
    }

    async fn archive_session(
        &self,
        request: Request<pb::ArchiveSessionRequest>,
    ) -> Result<Response<pb::ArchiveSessionResponse>, Status> {
        self.archive(request).await
    }

    async fn unarchive_session(
        &self,
        request: Request<pb::UnarchiveSessionRequest>,
    ) -> Result<Response<pb::UnarchiveSessionResponse>, Status> {
        self.unarchive(request).await
    }

    async fn delete_session(
        &self,
        request: Request<pb::DeleteSessionRequest>,
    ) -> Result<Response<pb::DeleteSessionResponse>, Status> {
        self.delete(request).await
    }

    async fn list_sessions(
        &self,
        request: Request<pb::ListSessionsRequest>,
    ) -> Result<Response<pb::ListSessionsResponse>, Status> {
        self.list(request).await
    }

    async fn count_sessions(
        &self,
        request: Request<pb::CountSessionsRequest>,
    ) -> Result<Response<pb::CountSessionsResponse>, Status> {
        self.count(request).await
    }

    async fn inspect_session(
        &self,
        request: Request<pb::InspectSessionRequest>,
    ) -> Result<Response<pb::InspectSessionResponse>, Status> {
        self.inspect(request).await
    }

    async fn get_session_health(
        &self,
        request: Request<pb::GetSessionHealthRequest>,
    ) -> Result<Response<pb::GetSessionHealthResponse>, Status> {
        self.get_health(request).await
    }

    async fn resume_session(
        &self,
        request: Request<pb::ResumeSessionRequest>,
    ) -> Result<Response<pb::ResumeSessionResponse>, Status> {
        self.resume(request).await
    }

    async fn bind_runtime(
        &self,
        request: Request<pb::BindRuntimeRequest>,
    ) -> Result<Response<pb::BindRuntimeResponse>, Status> {
        self.bind(request).await
    }

    async fn heartbeat(
        &self,
        request: Request<pb::HeartbeatRequest>,
    ) -> Result<Response<pb::HeartbeatResponse>, Status> {
        self.beat(request).await
    }

    async fn batch_heartbeat(
        &self,
        request: Request<pb::BatchHeartbeatRequest>,
    ) -> Result<Response<pb::BatchHeartbeatResponse>, Status> {
        self.beat_many(request).await
    }

    async fn finish_session(
        &self,
        request: Request<pb::FinishSessionRequest>,
    ) -> Result<Response<pb::FinishSessionResponse>, Status> {
        self.finish(request).await
    }

    async fn acquire_attach_lease(
        &self,
        request: Request<pb::AcquireAttachLeaseRequest>,
    ) -> Result<Response<pb::AcquireAttachLeaseResponse>, Status> {
        self.acquire_attach(request).await
    }

    async fn release_attach_lease(
        &self,
        request: Request<pb::ReleaseAttachLeaseRequest>,
    ) -> Result<Response<pb::ReleaseAttachLeaseResponse>, Status> {
        self.release_attach(request).await
    }

    async fn mark_session_seen(
        &self,
        request: Request<pb::MarkSessionSeenRequest>,
    ) -> Result<Response<pb::MarkSessionSeenResponse>, Status> {
        self.mark_seen(request).await
    }

    async fn get_launch(
        &self,
        request: Request<pb::GetLaunchRequest>,
    ) -> Result<Response<pb::GetLaunchResponse>, Status> {
        self.launch(request).await
    }
}
