//! `compozy.workspace.v1.WorkspaceService`: convert in, ask the registry, convert out.

use std::future::Future;
use std::sync::Arc;

use compozy_domain::{CatalogError, Scope};
use compozy_proto::workspace::v1 as pb;
use compozy_proto::workspace::v1::workspace_service_server::WorkspaceService;
use tonic::{Request, Response, Status};

use super::caller;
use crate::convert::request_id::{Mutating, request_id};
use crate::convert::{
    directory, identity, list, order, prune, reference, register, relink, remove, update, workspace,
};
use crate::registry::{Caller, Registry, Repeat, Reply, WriteCall};
use crate::resume_token;
use crate::seal::Seal;
use crate::status::status;

/// The service.
#[derive(Debug, Clone)]
pub struct WorkspaceApi {
    registry: Arc<Registry>,
    seal: Arc<Seal>,
}

impl WorkspaceApi {
    /// The service over a registry.
    #[must_use]
    pub fn new(registry: Arc<Registry>, seal: Arc<Seal>) -> Self {
        Self { registry, seal }
    }

    /// A read: authorise, read the request, ask, answer.
    async fn read<'a, Q, W, O, F, R>(
        &'a self,
        request: Request<Q>,
        wanted: fn(Q) -> Result<W, CatalogError>,
        ask: impl FnOnce(&'a Registry, Caller, W) -> F,
        answer: impl FnOnce(O) -> R,
    ) -> Result<Response<R>, Status>
    where
        F: Future<Output = Result<O, CatalogError>>,
    {
        let caller = caller(&request, Scope::Read).map_err(status)?;
        let wanted = wanted(request.into_inner()).map_err(status)?;
        let outcome = ask(&self.registry, caller, wanted).await.map_err(status)?;
        Ok(Response::new(answer(outcome)))
    }

    /// A write: as a read, and a repetition gets the first answer.
    async fn write<Q, W, O, F, R>(
        &self,
        request: Request<Q>,
        wanted: fn(Q) -> Result<W, CatalogError>,
        ask: impl FnOnce(Arc<Registry>, WriteCall<O>, W) -> F,
        answer: fn(&Seal, &O) -> R,
    ) -> Result<Response<R>, Status>
    where
        Q: Mutating,
        O: Send + 'static,
        R: prost::Message + Default + 'static,
        F: Future<Output = Result<Reply<O>, CatalogError>>,
    {
        let caller = caller(&request, Scope::Write).map_err(status)?;
        let message = request.into_inner();
        let repeat = self.repeat(&message, answer).map_err(status)?;
        let wanted = wanted(message).map_err(status)?;
        let call = WriteCall { caller, repeat };
        match ask(Arc::clone(&self.registry), call, wanted)
            .await
            .map_err(status)?
        {
            Reply::Fresh(outcome) => Ok(Response::new(answer(&self.seal, &outcome))),
            Reply::Remembered(bytes) => remembered(&bytes).map(Response::new).map_err(status),
        }
    }

    fn repeat<Q, O, R>(
        &self,
        message: &Q,
        answer: fn(&Seal, &O) -> R,
    ) -> Result<Option<Repeat<O>>, CatalogError>
    where
        Q: Mutating,
        O: 'static,
        R: prost::Message + 'static,
    {
        let Some((request_id, hash)) = request_id(message)? else {
            return Ok(None);
        };
        let seal = Arc::clone(&self.seal);
        let encode = Arc::new(move |outcome: &O| answer(&seal, outcome).encode_to_vec());
        Ok(Some(Repeat {
            method: Q::METHOD,
            request_id,
            hash,
            encode,
        }))
    }
}

fn remembered<R: prost::Message + Default>(bytes: &[u8]) -> Result<R, CatalogError> {
    R::decode(bytes).map_err(|error| CatalogError::Defect {
        detail: format!("a remembered answer does not parse: {error}"),
    })
}

#[tonic::async_trait]
impl WorkspaceService for WorkspaceApi {
    async fn register_workspace(
        &self,
        request: Request<pb::RegisterWorkspaceRequest>,
    ) -> Result<Response<pb::RegisterWorkspaceResponse>, Status> {
        self.write(request, register::wanted, Registry::register, register::answer)
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
        self.read(
            request,
            wanted,
            |registry, caller, (reference, include_status)| async move {
                registry.get(&caller, &reference, include_status).await
            },
            |(seen, revision)| pb::GetWorkspaceResponse {
                workspace: Some(workspace::record(&seen.workspace, seen.status)),
                revision: resume_token::encode(&self.seal, &revision),
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
        let (query, asked) = list::query(&self.seal, visibility, request.into_inner())
            .await
            .map_err(status)?;
        let page = self.registry.list(&caller, query).await.map_err(status)?;
        Ok(Response::new(list::answer(&self.seal, visibility, asked, page)))
    }

    async fn update_workspace(
        &self,
        request: Request<pb::UpdateWorkspaceRequest>,
    ) -> Result<Response<pb::UpdateWorkspaceResponse>, Status> {
        self.write(request, update::wanted, Registry::update, update::answer)
            .await
    }

    async fn relink_workspace(
        &self,
        request: Request<pb::RelinkWorkspaceRequest>,
    ) -> Result<Response<pb::RelinkWorkspaceResponse>, Status> {
        self.write(request, relink::wanted, Registry::relink, relink::answer)
            .await
    }

    async fn move_workspace(
        &self,
        request: Request<pb::MoveWorkspaceRequest>,
    ) -> Result<Response<pb::MoveWorkspaceResponse>, Status> {
        self.write(request, order::wanted, Registry::move_workspace, order::answer)
            .await
    }

    async fn remove_workspace(
        &self,
        request: Request<pb::RemoveWorkspaceRequest>,
    ) -> Result<Response<pb::RemoveWorkspaceResponse>, Status> {
        self.write(request, remove::wanted, Registry::remove, remove::answer)
            .await
    }

    async fn get_identity(
        &self,
        request: Request<pb::GetIdentityRequest>,
    ) -> Result<Response<pb::GetIdentityResponse>, Status> {
        self.read(
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
        self.write(
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
        self.read(
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
        self.write(request, prune::wanted, Registry::prune, prune::answer)
            .await
    }

    async fn list_directory(
        &self,
        request: Request<pb::ListDirectoryRequest>,
    ) -> Result<Response<pb::ListDirectoryResponse>, Status> {
        self.read(
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
        self.write(
            request,
            directory::create,
            Registry::create_directory,
            directory::created,
        )
        .await
    }
}
