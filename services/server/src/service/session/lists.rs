//! Methods that only look.

use compozy_domain::CatalogError;
use compozy_proto::session::v1 as pb;
use tonic::{Request, Response, Status};

use super::SessionApi;
use crate::status::status;

impl SessionApi {
    pub(super) async fn list(
        &self,
        _request: Request<pb::ListSessionsRequest>,
    ) -> Result<Response<pb::ListSessionsResponse>, Status> {
        Err(status(CatalogError::MethodUnknown))
    }

    pub(super) async fn count(
        &self,
        _request: Request<pb::CountSessionsRequest>,
    ) -> Result<Response<pb::CountSessionsResponse>, Status> {
        Err(status(CatalogError::MethodUnknown))
    }

    pub(super) async fn inspect(
        &self,
        _request: Request<pb::InspectSessionRequest>,
    ) -> Result<Response<pb::InspectSessionResponse>, Status> {
        Err(status(CatalogError::MethodUnknown))
    }

    pub(super) async fn get_health(
        &self,
        _request: Request<pb::GetSessionHealthRequest>,
    ) -> Result<Response<pb::GetSessionHealthResponse>, Status> {
        Err(status(CatalogError::MethodUnknown))
    }
}
