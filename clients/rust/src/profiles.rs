//! The methods of `ProfileService`. Writes get a request id when the caller gave none, and keep it over their
//! retries.

use compozy_proto::profile::v1::profile_service_client::ProfileServiceClient;
use compozy_proto::profile::v1::{
    ArchiveProfileRequest, ArchiveProfileResponse, CreateProfileRequest, CreateProfileResponse,
    DeleteProfileRequest, DeleteProfileResponse, GetActiveProfileRequest, GetActiveProfileResponse,
    GetProfileRequest, GetProfileResponse, ListProfilesRequest, ListProfilesResponse, RenameProfileRequest,
    RenameProfileResponse, SelectProfileRequest, SelectProfileResponse, UnarchiveProfileRequest,
    UnarchiveProfileResponse, UpdateProfileRequest, UpdateProfileResponse,
};

use crate::retry::Repeat;
use crate::wire::Wire;
use crate::{Client, Error, request_id};

/// Each method fails as `ProfileService` in the contract says.
impl Client {
    /// One profile.
    pub async fn get_profile(&self, request: GetProfileRequest) -> Result<GetProfileResponse, Error> {
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.profile_stub();
            async move { stub.get_profile(request).await }
        })
        .await
    }

    /// One counted page. [`Client::profile_rows`] walks all of them.
    pub async fn list_profiles(&self, request: ListProfilesRequest) -> Result<ListProfilesResponse, Error> {
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.profile_stub();
            async move { stub.list_profiles(request).await }
        })
        .await
    }

    /// Which profile is active, and who says so.
    pub async fn get_active_profile(
        &self,
        request: GetActiveProfileRequest,
    ) -> Result<GetActiveProfileResponse, Error> {
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.profile_stub();
            async move { stub.get_active_profile(request).await }
        })
        .await
    }

    /// Makes a profile and its personal directory, or adopts the directory that is there.
    pub async fn create_profile(
        &self,
        mut request: CreateProfileRequest,
    ) -> Result<CreateProfileResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.profile_stub();
            async move { stub.create_profile(request).await }
        })
        .await
    }

    /// Changes color or icon.
    pub async fn update_profile(
        &self,
        mut request: UpdateProfileRequest,
    ) -> Result<UpdateProfileResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.profile_stub();
            async move { stub.update_profile(request).await }
        })
        .await
    }

    /// Gives a profile and its personal directory another name.
    pub async fn rename_profile(
        &self,
        mut request: RenameProfileRequest,
    ) -> Result<RenameProfileResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.profile_stub();
            async move { stub.rename_profile(request).await }
        })
        .await
    }

    /// Takes a profile out of use; its files and selections stay.
    pub async fn archive_profile(
        &self,
        mut request: ArchiveProfileRequest,
    ) -> Result<ArchiveProfileResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.profile_stub();
            async move { stub.archive_profile(request).await }
        })
        .await
    }

    /// Takes an archived profile back into use.
    pub async fn unarchive_profile(
        &self,
        mut request: UnarchiveProfileRequest,
    ) -> Result<UnarchiveProfileResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.profile_stub();
            async move { stub.unarchive_profile(request).await }
        })
        .await
    }

    /// Removes a profile and the selections of it; its directories stay.
    pub async fn delete_profile(
        &self,
        mut request: DeleteProfileRequest,
    ) -> Result<DeleteProfileResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.profile_stub();
            async move { stub.delete_profile(request).await }
        })
        .await
    }

    /// Remembers a profile for a workspace or for everything else, or forgets it.
    pub async fn select_profile(
        &self,
        mut request: SelectProfileRequest,
    ) -> Result<SelectProfileResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.profile_stub();
            async move { stub.select_profile(request).await }
        })
        .await
    }

    fn profile_stub(&self) -> ProfileServiceClient<Wire> {
        ProfileServiceClient::new(self.wire.clone())
    }
}
