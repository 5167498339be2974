//! What can be asked of a server whose catalog is not open yet: its health, and its end. A start that waits for a
//! database has to be stopped like any other server.

use compozy_domain::{CatalogError, Scope};
use compozy_proto::admin::v1::admin_service_server::{AdminService, AdminServiceServer};
use compozy_proto::admin::v1::{
    BackupRequest, BackupResponse, GetConfigRequest, GetConfigResponse, GetServerInfoRequest,
    GetServerInfoResponse, SetConfigRequest, SetConfigResponse, ShutdownRequest, ShutdownResponse,
};
use tonic::service::{Routes, RoutesBuilder};
use tonic::{Request, Response, Status};

use crate::health::HealthBoard;
use crate::layer::principal;
use crate::shutdown::Shutdown;
use crate::status::status;

/// The services of a server that is still starting.
pub(super) fn services(board: &HealthBoard, shutdown: Shutdown) -> Routes {
    let mut routes = RoutesBuilder::default();
    routes.add_service(board.service());
    routes.add_service(AdminServiceServer::new(EarlyAdmin { shutdown }));
    routes.routes().prepare()
}

/// The answer to everything that needs the catalog.
pub(super) fn not_open() -> Status {
    status(CatalogError::StoreUnavailable {
        outcome_unknown: false,
    })
}

#[derive(Debug)]
struct EarlyAdmin {
    shutdown: Shutdown,
}

#[tonic::async_trait]
impl AdminService for EarlyAdmin {
    async fn get_server_info(
        &self,
        _request: Request<GetServerInfoRequest>,
    ) -> Result<Response<GetServerInfoResponse>, Status> {
        Err(not_open())
    }

    async fn shutdown(
        &self,
        request: Request<ShutdownRequest>,
    ) -> Result<Response<ShutdownResponse>, Status> {
        principal(&request)
            .and_then(|caller| caller.require(Scope::Admin))
            .map_err(status)?;
        self.shutdown.begin("the Shutdown method");
        Ok(Response::new(ShutdownResponse {}))
    }

    async fn backup(&self, _request: Request<BackupRequest>) -> Result<Response<BackupResponse>, Status> {
        Err(not_open())
    }

    async fn get_config(
        &self,
        _request: Request<GetConfigRequest>,
    ) -> Result<Response<GetConfigResponse>, Status> {
        Err(not_open())
    }

    async fn set_config(
        &self,
        _request: Request<SetConfigRequest>,
    ) -> Result<Response<SetConfigResponse>, Status> {
        Err(not_open())
    }
}
