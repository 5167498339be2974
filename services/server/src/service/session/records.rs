//! Methods about one record.

use compozy_domain::CatalogError;
use compozy_proto::session::v1 as pb;
use tonic::{Request, Response, Status};

use super::SessionApi;
use crate::status::status;

impl SessionApi {
    pub(super) async fn create(
        &self,
        _request: Request<pb::CreateSessionRequest>,
    ) -> Result<Response<pb::CreateSessionResponse>, Status> {
        Err(status(CatalogError::MethodUnknown))
    }

    pub(super) async fn get(
        &self,
        _request: Request<pb::GetSessionRequest>,
    ) -> Result<Response<pb::GetSessionResponse>, Status> {
        Err(status(CatalogError::MethodUnknown))
    }

    pub(super) async fn update(
        &self,
        _request: Request<pb::UpdateSessionRequest>,
    ) -> Result<Response<pb::UpdateSessionResponse>, Status> {
        Err(status(CatalogError::MethodUnknown))
    }

    pub(super) async fn rename(
        &self,
        _request: Request<pb::RenameSessionRequest>,
    ) -> Result<Response<pb::RenameSessionResponse>, Status> {
        Err(status(CatalogError::MethodUnknown))
    }

    pub(super) async fn stop(
        &self,
        _request: Request<pb::StopSessionRequest>,
    ) -> Result<Response<pb::StopSessionResponse>, Status> {
        Err(status(CatalogError::MethodUnknown))
    }

    pub(super) async fn archive(
        &self,
        _request: Request<pb::ArchiveSessionRequest>,
    ) -> Result<Response<pb::ArchiveSessionResponse>, Status> {
        Err(status(CatalogError::MethodUnknown))
    }

    pub(super) async fn unarchive(
        &self,
        _request: Request<pb::UnarchiveSessionRequest>,
    ) -> Result<Response<pb::UnarchiveSessionResponse>, Status> {
        Err(status(CatalogError::MethodUnknown))
    }

    pub(super) async fn delete(
        &self,
        _request: Request<pb::DeleteSessionRequest>,
    ) -> Result<Response<pb::DeleteSessionResponse>, Status> {
        Err(status(CatalogError::MethodUnknown))
    }
}
