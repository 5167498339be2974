//! `compozy.admin.v1`: what the server is, its settings, backups, and its orderly end.

mod settings;

use std::sync::Arc;

use compozy_domain::{
    AbsolutePath, CatalogError, CatalogId, HostId, Principal, Scope, Timestamp, Visibility, limits,
};
use compozy_proto::admin::v1::admin_service_server::AdminService;
use compozy_proto::admin::v1::{
    BackupFile, BackupRequest, BackupResponse, DirectoryPicker, GetConfigRequest, GetConfigResponse,
    GetServerInfoRequest, GetServerInfoResponse, Limits, SetConfigRequest, SetConfigResponse,
    ShutdownRequest, ShutdownResponse, StoreKind,
};
use prost_types::Timestamp as ProtoTimestamp;
use tonic::{Request, Response, Status};

pub use self::settings::Settings;
use crate::backup::{BackupDone, Backups, FileEntry};
use crate::layer::principal;
use crate::shutdown::Shutdown;
use crate::status::status;

/// The service's name, for health.
pub const ADMIN_SERVICE: &str = "compozy.admin.v1.AdminService";

/// What is fixed while the process lives, and the way to end it.
#[derive(Debug)]
pub struct Admin {
    info: GetServerInfoResponse,
    shutdown: Shutdown,
    backups: Backups,
    settings: Settings,
}

/// What the service is made from.
#[derive(Debug)]
pub struct Parts<'p> {
    /// Identity of the catalog.
    pub catalog_id: &'p CatalogId,
    /// Whose disk the server looks at.
    pub host_id: &'p HostId,
    /// The engine.
    pub store_kind: StoreKind,
    /// When the process started.
    pub started_at: Timestamp,
    /// The way to end it.
    pub shutdown: Shutdown,
    /// The maker of backups.
    pub backups: Backups,
    /// The daemon's own settings.
    pub settings: Settings,
    /// `limits.watchers`.
    pub watchers_max: usize,
}

impl Admin {
    /// The service of this process.
    #[must_use]
    pub fn new(parts: Parts<'_>) -> Self {
        let Parts {
            catalog_id,
            host_id,
            store_kind,
            started_at,
            shutdown,
            backups,
            settings,
            watchers_max,
        } = parts;
        let picker = if host_id.is_none() {
            DirectoryPicker::None
        } else {
            DirectoryPicker::Browse
        };
        let (seconds, nanos) = started_at.parts();
        let info = GetServerInfoResponse {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            catalog_id: catalog_id.to_string(),
            host_id: host_id.to_string(),
            store_kind: store_kind.into(),
            limits: Some(applied_limits(watchers_max)),
            directory_picker: picker.into(),
            started_at: Some(ProtoTimestamp {
                seconds,
                nanos: i32::try_from(nanos).unwrap_or_default(),
            }),
            process_id: i64::from(std::process::id()),
        };
        Self {
            info,
            shutdown,
            backups,
            settings,
        }
    }
}

#[tonic::async_trait]
impl AdminService for Admin {
    async fn get_server_info(
        &self,
        request: Request<GetServerInfoRequest>,
    ) -> Result<Response<GetServerInfoResponse>, Status> {
        principal(&request)
            .and_then(|caller| caller.require(Scope::Read))
            .map_err(status)?;
        Ok(Response::new(self.info.clone()))
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

    async fn backup(&self, request: Request<BackupRequest>) -> Result<Response<BackupResponse>, Status> {
        let caller = administrator(&request).map_err(status)?;
        let BackupRequest { directory } = request.into_inner();
        let wanted = AbsolutePath::parse(&directory, "directory").map_err(status)?;
        let done = self.backups.write(&caller, &wanted).await.map_err(status)?;
        Ok(Response::new(backup_answer(done)))
    }

    async fn get_config(
        &self,
        request: Request<GetConfigRequest>,
    ) -> Result<Response<GetConfigResponse>, Status> {
        administrator(&request).map_err(status)?;
        Ok(Response::new(self.settings.get()))
    }

    async fn set_config(
        &self,
        request: Request<SetConfigRequest>,
    ) -> Result<Response<SetConfigResponse>, Status> {
        administrator(&request).map_err(status)?;
        let done = self.settings.set(request.into_inner()).await;
        Ok(Response::new(done.map_err(status)?))
    }
}

/// The caller, if it may have what is about the whole catalog: a copy of it, or the daemon's own settings. Somebody who
/// sees a few workspaces only may not.
fn administrator<T>(request: &Request<T>) -> Result<Arc<Principal>, CatalogError> {
    let caller = principal(request)?;
    caller.require(Scope::Admin)?;
    match caller.visibility {
        Visibility::All => Ok(caller),
        Visibility::Only(_) => Err(CatalogError::ScopeDenied {
            scope: Scope::Admin.as_str(),
        }),
    }
}

fn backup_answer(done: BackupDone) -> BackupResponse {
    match done {
        BackupDone::Written { directory, files } => BackupResponse {
            directory,
            files: files.into_iter().map(backup_file).collect(),
            dump_command: String::new(),
        },
        BackupDone::Dump { command } => BackupResponse {
            directory: String::new(),
            files: Vec::new(),
            dump_command: command,
        },
    }
}

fn backup_file(FileEntry { path, size, sha256 }: FileEntry) -> BackupFile {
    BackupFile {
        path,
        size_bytes: i64::try_from(size).unwrap_or(i64::MAX),
        sha256,
    }
}

/// The bounds fit their fields by far.
fn applied_limits(watchers_max: usize) -> Limits {
    let size = |bound: usize| i32::try_from(bound).unwrap_or(i32::MAX);
    let bytes = |bound: usize| i64::try_from(bound).unwrap_or(i64::MAX);
    Limits {
        page_limit_default: i32::try_from(limits::PAGE_LIMIT_DEFAULT).unwrap_or(i32::MAX),
        page_limit_max: i32::try_from(limits::PAGE_LIMIT_MAX).unwrap_or(i32::MAX),
        additional_dirs_max: size(limits::ADDITIONAL_DIRS_MAX),
        filter_values_max: size(limits::FILTER_VALUES_MAX),
        batch_items_max: size(limits::BATCH_ITEMS_MAX),
        request_bytes_max: bytes(limits::REQUEST_BYTES_MAX),
        response_bytes_max: bytes(limits::RESPONSE_BYTES_MAX),
        path_bytes_max: size(limits::PATH_BYTES_MAX),
        watchers_max: size(watchers_max),
    }
}
