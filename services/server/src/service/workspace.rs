//! `compozy.workspace.v1.WorkspaceService`: convert in, ask the registry, convert out.

use std::sync::Arc;

use compozy_domain::Scope;
use compozy_proto::workspace::v1 as pb;
use compozy_proto::workspace::v1::workspace_service_server::WorkspaceService;
use tonic::{Request, Response, Status};

use super::caller;
use super::calls::Calls;
use crate::convert::session::account;
use crate::convert::{
    definition, directory, identity, list, order, prune, reference, register, relink, remove, resolve,
    update, workspace,
};
use crate::registry::Registry;
use crate::resume_token;
use crate::seal::Seal;
use crate::status::status;

/// The service.
#[derive(Debug, Clone)]
pub struct WorkspaceApi {
    calls: Calls,
}

impl WorkspaceApi {
    /// The service over a registry.
    #[must_use]
    pub fn new(registry: Arc<Registry>, seal: Arc<Seal>) -> Self {
        Self {
            calls: Calls { registry, seal },
        }
    }
}

#[tonic::async_trait]
impl WorkspaceService for WorkspaceApi {
    async fn attach_session(
        &self,
        request: Request<pb::AttachSessionRequest>,
    ) -> Result<Response<pb::AttachSessionResponse>, Status> {
        self.calls
            .write(
                request,
                account::attach,
                Registry::attach_session,
                account::attached,
            )
            .await
    }

    async fn detach_session(
        &self,
        request: Request<pb::DetachSessionRequest>,
    ) -> Result<Response<pb::DetachSessionResponse>, Status> {
        self.calls
            .write(
                request,
                account::detach,
                Registry::detach_session,
                account::detached,
            )
            .await
    }

    async fn move_session(
        &self,
        request: Request<pb::MoveSessionRequest>,
    ) -> Result<Response<pb::MoveSessionResponse>, Status> {
        self.calls
            .write(
                request,
                account::move_wanted,
                Registry::move_session,
                account::moved,
            )
            .await
    }

    async fn register_workspace(
        &self,
        request: Request<pb::RegisterWorkspaceRequest>,
    ) -> Result<Response<pb::RegisterWorkspaceResponse>, Status> {
        self.calls
            .write(request, register::wanted, Registry::register, register::answer)
            .await
    }

    async fn get_workspace(
        &self,
        request: Request<pb::GetWorkspaceRequest>,
    ) -> Result<Response<pb::GetWorkspaceResponse>, Status> {
        let wanted = |request| {
            let pb::GetWorkspaceRequest {
                r#ref,
                include_status,
            } = request;
            Ok((reference::reference(r#ref, "ref")?, include_status))
        };
        self.calls
            .read(
                request,
                wanted,
                |registry, caller, (reference, include_status)| async move {
                    registry.get(&caller, &reference, include_status).await
                },
                |(seen, revision)| pb::GetWorkspaceResponse {
                    workspace: Some(workspace::record(&seen.workspace, seen.status)),
                    revision: resume_token::encode(&self.calls.seal, &revision),
                },
            )
            .await
    }

    async fn list_workspaces(
        &self,
        request: Request<pb::ListWorkspacesRequest>,
    ) -> Result<Response<pb::ListWorkspacesResponse>, Status> {
        let caller = caller(&request, Scope::Read).map_err(status)?;
        let visibility = &caller.principal.visibility;
        let (query, asked) = list::query(&self.calls.seal, visibility, request.into_inner())
            .await
            .map_err(status)?;
        let page = self.calls.registry.list(&caller, query).await.map_err(status)?;
        Ok(Response::new(list::answer(
            &self.calls.seal,
            visibility,
            asked,
            page,
        )))
    }

    async fn update_workspace(
        &self,
        request: Request<pb::UpdateWorkspaceRequest>,
    ) -> Result<Response<pb::UpdateWorkspaceResponse>, Status> {
        self.calls
            .write(request, update::wanted, Registry::update, update::answer)
            .await
    }

    async fn relink_workspace(
        &self,
        request: Request<pb::RelinkWorkspaceRequest>,
    ) -> Result<Response<pb::RelinkWorkspaceResponse>, Status> {
        self.calls
            .write(request, relink::wanted, Registry::relink, relink::answer)
            .await
    }

    async fn move_workspace(
        &self,
        request: Request<pb::MoveWorkspaceRequest>,
    ) -> Result<Response<pb::MoveWorkspaceResponse>, Status> {
        self.calls
            .write(request, order::wanted, Registry::move_workspace, order::answer)
            .await
    }

    async fn remove_workspace(
        &self,
        request: Request<pb::RemoveWorkspaceRequest>,
    ) -> Result<Response<pb::RemoveWorkspaceResponse>, Status> {
        self.calls
            .write(request, remove::wanted, Registry::remove, remove::answer)
            .await
    }

    async fn get_identity(
        &self,
        request: Request<pb::GetIdentityRequest>,
    ) -> Result<Response<pb::GetIdentityResponse>, Status> {
        self.calls
            .read(
                request,
                identity::target,
                |registry, caller, target| async move { registry.get_identity(&caller, &target).await },
                identity::seen,
            )
            .await
    }

    async fn update_identity(
        &self,
        request: Request<pb::UpdateIdentityRequest>,
    ) -> Result<Response<pb::UpdateIdentityResponse>, Status> {
        self.calls
            .write(
                request,
                identity::wanted,
                Registry::update_identity,
                identity::answer,
            )
            .await
    }

    async fn discover_workspace(
        &self,
        request: Request<pb::DiscoverWorkspaceRequest>,
    ) -> Result<Response<pb::DiscoverWorkspaceResponse>, Status> {
        self.calls
            .read(
                request,
                directory::discover,
                |registry, caller, path| async move { registry.discover(&caller, &path).await },
                directory::discovered,
            )
            .await
    }

    async fn prune_workspaces(
        &self,
        request: Request<pb::PruneWorkspacesRequest>,
    ) -> Result<Response<pb::PruneWorkspacesResponse>, Status> {
        self.calls
            .write(request, prune::wanted, Registry::prune, prune::answer)
            .await
    }

    async fn list_directory(
        &self,
        request: Request<pb::ListDirectoryRequest>,
    ) -> Result<Response<pb::ListDirectoryResponse>, Status> {
        self.calls
            .read(
                request,
                directory::list,
                |registry, caller, path| async move { registry.list_directory(&caller, path).await },
                directory::listed,
            )
            .await
    }

    async fn create_directory(
        &self,
        request: Request<pb::CreateDirectoryRequest>,
    ) -> Result<Response<pb::CreateDirectoryResponse>, Status> {
        self.calls
            .write(
                request,
                directory::create,
                Registry::create_directory,
                directory::created,
            )
            .await
    }

    async fn resolve_workspace(
        &self,
        request: Request<pb::ResolveWorkspaceRequest>,
    ) -> Result<Response<pb::ResolveWorkspaceResponse>, Status> {
        let caller = caller(&request, Scope::Read).map_err(status)?;
        let (wanted, view) = resolve::wanted(request.into_inner()).map_err(status)?;
        let outcome = self
            .calls
            .registry
            .resolve(&caller, wanted)
            .await
            .map_err(status)?;
        resolve::answer(&outcome, view).map(Response::new).map_err(status)
    }

    async fn get_definition(
        &self,
        request: Request<pb::GetDefinitionRequest>,
    ) -> Result<Response<pb::GetDefinitionResponse>, Status> {
        self.calls
            .read(
                request,
                definition::wanted,
                |registry, caller, wanted| async move { registry.get_definition(&caller, wanted).await },
                definition::answer,
            )
            .await
    }
}
