//! Methods of runtimes and of operators who enter a session.

use compozy_domain::CatalogError;
use compozy_proto::session::v1 as pb;
use tonic::{Request, Response, Status};

use super::SessionApi;
use crate::status::status;

impl SessionApi {
    pub(super) async fn resume(
        &self,
        _request: Request<pb::ResumeSessionRequest>,
    ) -> Result<Response<pb::ResumeSessionResponse>, Status> {
        Err(status(CatalogError::MethodUnknown))
    }

    pub(super) async fn bind(
        &self,
        _request: Request<pb::BindRuntimeRequest>,
    ) -> Result<Response<pb::BindRuntimeResponse>, Status> {
        Err(status(CatalogError::MethodUnknown))
    }

    pub(super) async fn beat(
        &self,
        _request: Request<pb::HeartbeatRequest>,
    ) -> Result<Response<pb::HeartbeatResponse>, Status> {
        Err(status(CatalogError::MethodUnknown))
    }

    pub(super) async fn beat_many(
        &self,
        _request: Request<pb::BatchHeartbeatRequest>,
    ) -> Result<Response<pb::BatchHeartbeatResponse>, Status> {
        Err(status(CatalogError::MethodUnknown))
    }

    pub(super) async fn finish(
        &self,
        _request: Request<pb::FinishSessionRequest>,
    ) -> Result<Response<pb::FinishSessionResponse>, Status> {
        Err(status(CatalogError::MethodUnknown))
    }

    pub(super) async fn acquire_attach(
        &self,
        _request: Request<pb::AcquireAttachLeaseRequest>,
    ) -> Result<Response<pb::AcquireAttachLeaseResponse>, Status> {
        Err(status(CatalogError::MethodUnknown))
    }

    pub(super) async fn release_attach(
        &self,
        _request: Request<pb::ReleaseAttachLeaseRequest>,
    ) -> Result<Response<pb::ReleaseAttachLeaseResponse>, Status> {
        Err(status(CatalogError::MethodUnknown))
    }

    pub(super) async fn mark_seen(
        &self,
        _request: Request<pb::MarkSessionSeenRequest>,
    ) -> Result<Response<pb::MarkSessionSeenResponse>, Status> {
        Err(status(CatalogError::MethodUnknown))
    }

    pub(super) async fn launch(
        &self,
        _request: Request<pb::GetLaunchRequest>,
    ) -> Result<Response<pb::GetLaunchResponse>, Status> {
        Err(status(CatalogError::MethodUnknown))
    }
}
