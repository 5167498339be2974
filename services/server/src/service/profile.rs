//! `compozy.profile.v1.ProfileService`: convert in, ask the registry, convert out.

use std::sync::Arc;

use compozy_domain::Scope;
use compozy_proto::profile::v1 as pb;
use compozy_proto::profile::v1::profile_service_server::ProfileService;
use tonic::{Request, Response, Status};

use super::caller;
use super::calls::Calls;
use crate::convert::profile;
use crate::registry::Registry;
use crate::seal::Seal;
use crate::status::status;

/// The service.
#[derive(Debug, Clone)]
pub struct ProfileApi {
    calls: Calls,
}

impl ProfileApi {
    /// The service over a registry.
    #[must_use]
    pub fn new(registry: Arc<Registry>, seal: Arc<Seal>) -> Self {
        Self {
            calls: Calls { registry, seal },
        }
    }
}

#[tonic::async_trait]
impl ProfileService for ProfileApi {
    async fn create_profile(
        &self,
        request: Request<pb::CreateProfileRequest>,
    ) -> Result<Response<pb::CreateProfileResponse>, Status> {
        self.calls
            .write(
                request,
                profile::create,
                Registry::create_profile,
                profile::created,
            )
            .await
    }

    async fn get_profile(
        &self,
        request: Request<pb::GetProfileRequest>,
    ) -> Result<Response<pb::GetProfileResponse>, Status> {
        self.calls
            .read(
                request,
                profile::get,
                |registry, caller, named| async move { registry.get_profile(&caller, &named).await },
                |found| profile::got(&self.calls.seal, &found),
            )
            .await
    }

    async fn list_profiles(
        &self,
        request: Request<pb::ListProfilesRequest>,
    ) -> Result<Response<pb::ListProfilesResponse>, Status> {
        let caller = caller(&request, Scope::Read).map_err(status)?;
        let seal = &self.calls.seal;
        let (wanted, asked) = profile::list(seal, request.into_inner()).await.map_err(status)?;
        let page = self
            .calls
            .registry
            .list_profiles(&caller, wanted)
            .await
            .map_err(status)?;
        Ok(Response::new(profile::listed(seal, asked, &page)))
    }

    async fn update_profile(
        &self,
        request: Request<pb::UpdateProfileRequest>,
    ) -> Result<Response<pb::UpdateProfileResponse>, Status> {
        self.calls
            .write(
                request,
                profile::update,
                Registry::update_profile,
                profile::updated,
            )
            .await
    }

    async fn rename_profile(
        &self,
        request: Request<pb::RenameProfileRequest>,
    ) -> Result<Response<pb::RenameProfileResponse>, Status> {
        self.calls
            .write(
                request,
                profile::rename,
                Registry::rename_profile,
                profile::renamed,
            )
            .await
    }

    async fn archive_profile(
        &self,
        request: Request<pb::ArchiveProfileRequest>,
    ) -> Result<Response<pb::ArchiveProfileResponse>, Status> {
        self.calls
            .write(
                request,
                profile::archive,
                Registry::set_profile_state,
                profile::archived,
            )
            .await
    }

    async fn unarchive_profile(
        &self,
        request: Request<pb::UnarchiveProfileRequest>,
    ) -> Result<Response<pb::UnarchiveProfileResponse>, Status> {
        self.calls
            .write(
                request,
                profile::unarchive,
                Registry::set_profile_state,
                profile::unarchived,
            )
            .await
    }

    async fn delete_profile(
        &self,
        request: Request<pb::DeleteProfileRequest>,
    ) -> Result<Response<pb::DeleteProfileResponse>, Status> {
        self.calls
            .write(
                request,
                profile::delete,
                Registry::delete_profile,
                profile::deleted,
            )
            .await
    }

    async fn select_profile(
        &self,
        request: Request<pb::SelectProfileRequest>,
    ) -> Result<Response<pb::SelectProfileResponse>, Status> {
        self.calls
            .write(
                request,
                profile::select,
                Registry::select_profile,
                profile::selected,
            )
            .await
    }

    async fn get_active_profile(
        &self,
        request: Request<pb::GetActiveProfileRequest>,
    ) -> Result<Response<pb::GetActiveProfileResponse>, Status> {
        self.calls
            .read(
                request,
                profile::active,
                |registry, caller, (reference, asked)| async move {
                    let workspace = match reference {
                        Some(reference) => Some(registry.find(&caller, &reference).await?.id),
                        None => None,
                    };
                    let active = registry
                        .active_profile(&caller, workspace.as_ref(), &asked)
                        .await?;
                    Ok((workspace, active))
                },
                |(workspace, active)| {
                    let workspace_id = workspace.map(|id| id.to_string()).unwrap_or_default();
                    profile::found_active(&self.calls.seal, workspace_id, &active)
                },
            )
            .await
    }
}
