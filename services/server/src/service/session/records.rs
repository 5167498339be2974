//! Methods about one record.

use compozy_proto::session::v1 as pb;
use tonic::{Request, Response, Status};

use super::SessionApi;
use crate::convert::session::{change, create};
use crate::registry::Registry;

impl SessionApi {
    pub(super) async fn create(
        &self,
        request: Request<pb::CreateSessionRequest>,
    ) -> Result<Response<pb::CreateSessionResponse>, Status> {
        self.calls
            .write(request, create::wanted, Registry::create_session, create::answer)
            .await
    }

    pub(super) async fn get(
        &self,
        request: Request<pb::GetSessionRequest>,
    ) -> Result<Response<pb::GetSessionResponse>, Status> {
        self.calls
            .read(
                request,
                change::get,
                |registry, caller, (id, include_health)| async move {
                    let found = registry.get_session(&caller, &id).await?;
                    Ok((found, registry.stale_after(), include_health))
                },
                |(found, stale_after, include_health)| {
                    change::got(&self.calls.seal, &found, stale_after, include_health)
                },
            )
            .await
    }

    pub(super) async fn update(
        &self,
        request: Request<pb::UpdateSessionRequest>,
    ) -> Result<Response<pb::UpdateSessionResponse>, Status> {
        self.calls
            .write(request, change::update, Registry::change_session, change::updated)
            .await
    }

    pub(super) async fn rename(
        &self,
        request: Request<pb::RenameSessionRequest>,
    ) -> Result<Response<pb::RenameSessionResponse>, Status> {
        self.calls
            .write(request, change::rename, Registry::change_session, change::renamed)
            .await
    }

    pub(super) async fn stop(
        &self,
        request: Request<pb::StopSessionRequest>,
    ) -> Result<Response<pb::StopSessionResponse>, Status> {
        self.calls
            .write(request, change::stop, Registry::stop_session, change::stopped)
            .await
    }

    pub(super) async fn archive(
        &self,
        request: Request<pb::ArchiveSessionRequest>,
    ) -> Result<Response<pb::ArchiveSessionResponse>, Status> {
        self.calls
            .write(
                request,
                change::archive,
                Registry::change_session,
                change::archived,
            )
            .await
    }

    pub(super) async fn unarchive(
        &self,
        request: Request<pb::UnarchiveSessionRequest>,
    ) -> Result<Response<pb::UnarchiveSessionResponse>, Status> {
        self.calls
            .write(
                request,
                change::unarchive,
                Registry::change_session,
                change::unarchived,
            )
            .await
    }

    pub(super) async fn delete(
        &self,
        request: Request<pb::DeleteSessionRequest>,
    ) -> Result<Response<pb::DeleteSessionResponse>, Status> {
        self.calls
            .write(request, change::delete, Registry::delete_session, change::deleted)
            .await
    }
}
