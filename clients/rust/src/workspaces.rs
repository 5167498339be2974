//! The methods of `WorkspaceService`. Writes get a request id when the caller gave none, and keep it
//! over their retries.

use compozy_proto::workspace::v1::workspace_service_client::WorkspaceServiceClient;
use compozy_proto::workspace::v1::{
    CreateDirectoryRequest, CreateDirectoryResponse, DiscoverWorkspaceRequest, DiscoverWorkspaceResponse,
    GetIdentityRequest, GetIdentityResponse, GetWorkspaceRequest, GetWorkspaceResponse, ListDirectoryRequest,
    ListDirectoryResponse, ListWorkspacesRequest, ListWorkspacesResponse, MoveWorkspaceRequest,
    MoveWorkspaceResponse, PruneWorkspacesRequest, PruneWorkspacesResponse, RegisterWorkspaceRequest,
    RegisterWorkspaceResponse, RelinkWorkspaceRequest, RelinkWorkspaceResponse, RemoveWorkspaceRequest,
    RemoveWorkspaceResponse, UpdateIdentityRequest, UpdateIdentityResponse, UpdateWorkspaceRequest,
    UpdateWorkspaceResponse,
};

use crate::retry::Repeat;
use crate::wire::Wire;
use crate::{Client, Error, request_id};

/// Each method fails as `WorkspaceService` in the contract says.
impl Client {
    /// One workspace.
    pub async fn get_workspace(&self, request: GetWorkspaceRequest) -> Result<GetWorkspaceResponse, Error> {
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.workspace_stub();
            async move { stub.get_workspace(request).await }
        })
        .await
    }

    /// One counted page. [`Client::workspace_rows`] walks all of them.
    pub async fn list_workspaces(
        &self,
        request: ListWorkspacesRequest,
    ) -> Result<ListWorkspacesResponse, Error> {
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.workspace_stub();
            async move { stub.list_workspaces(request).await }
        })
        .await
    }

    /// The identity file of a registration or of any directory.
    pub async fn get_identity(&self, request: GetIdentityRequest) -> Result<GetIdentityResponse, Error> {
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.workspace_stub();
            async move { stub.get_identity(request).await }
        })
        .await
    }

    /// The registration that owns a path, without registering anything.
    pub async fn discover_workspace(
        &self,
        request: DiscoverWorkspaceRequest,
    ) -> Result<DiscoverWorkspaceResponse, Error> {
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.workspace_stub();
            async move { stub.discover_workspace(request).await }
        })
        .await
    }

    /// The child directories of a directory, for a picker.
    pub async fn list_directory(
        &self,
        request: ListDirectoryRequest,
    ) -> Result<ListDirectoryResponse, Error> {
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.workspace_stub();
            async move { stub.list_directory(request).await }
        })
        .await
    }

    /// Registers a directory, or finds that it is registered.
    pub async fn register_workspace(
        &self,
        mut request: RegisterWorkspaceRequest,
    ) -> Result<RegisterWorkspaceResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.workspace_stub();
            async move { stub.register_workspace(request).await }
        })
        .await
    }

    /// Changes name, title, additional directories or default agent.
    pub async fn update_workspace(
        &self,
        mut request: UpdateWorkspaceRequest,
    ) -> Result<UpdateWorkspaceResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.workspace_stub();
            async move { stub.update_workspace(request).await }
        })
        .await
    }

    /// Points a registration at another directory of the same identity.
    pub async fn relink_workspace(
        &self,
        mut request: RelinkWorkspaceRequest,
    ) -> Result<RelinkWorkspaceResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.workspace_stub();
            async move { stub.relink_workspace(request).await }
        })
        .await
    }

    /// Moves a workspace in the manual order.
    pub async fn move_workspace(
        &self,
        mut request: MoveWorkspaceRequest,
    ) -> Result<MoveWorkspaceResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.workspace_stub();
            async move { stub.move_workspace(request).await }
        })
        .await
    }

    /// Removes a registration; the directory is never touched.
    pub async fn remove_workspace(
        &self,
        mut request: RemoveWorkspaceRequest,
    ) -> Result<RemoveWorkspaceResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.workspace_stub();
            async move { stub.remove_workspace(request).await }
        })
        .await
    }

    /// Settles a difference between an identity file and its registration, or makes the file.
    pub async fn update_identity(
        &self,
        mut request: UpdateIdentityRequest,
    ) -> Result<UpdateIdentityResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.workspace_stub();
            async move { stub.update_identity(request).await }
        })
        .await
    }

    /// Removes registrations whose roots have been missing for a while.
    pub async fn prune_workspaces(
        &self,
        mut request: PruneWorkspacesRequest,
    ) -> Result<PruneWorkspacesResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.workspace_stub();
            async move { stub.prune_workspaces(request).await }
        })
        .await
    }

    /// Makes one directory, for a picker.
    pub async fn create_directory(
        &self,
        mut request: CreateDirectoryRequest,
    ) -> Result<CreateDirectoryResponse, Error> {
        request_id::fill(&mut request.request_id)?;
        self.call(request, Repeat::Safe, |request| {
            let mut stub = self.workspace_stub();
            async move { stub.create_directory(request).await }
        })
        .await
    }

    pub(crate) fn workspace_stub(&self) -> WorkspaceServiceClient<Wire> {
        WorkspaceServiceClient::new(self.wire.clone())
    }
}
