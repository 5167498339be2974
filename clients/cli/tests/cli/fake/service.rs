//! The registry and the administration of the fake.

use compozy_client::proto::admin::v1::admin_service_server::AdminService;
use compozy_client::proto::admin::v1::{
    BackupFile, BackupRequest, BackupResponse, GetConfigRequest, GetConfigResponse, GetServerInfoRequest,
    GetServerInfoResponse, SetConfigRequest, SetConfigResponse, ShutdownRequest, ShutdownResponse, StoreKind,
};
use compozy_client::proto::workspace::v1::workspace_service_server::WorkspaceService;
use compozy_client::proto::workspace::v1::*;
use tonic::{Code, Request, Response, Status};

use super::{State, accounts, catalog, failed, resolution};

type Answer<M> = Result<Response<M>, Status>;

#[tonic::async_trait]
impl WorkspaceService for State {
    async fn register_workspace(
        &self,
        request: Request<RegisterWorkspaceRequest>,
    ) -> Answer<RegisterWorkspaceResponse> {
        let request = self.enter("RegisterWorkspace", request).await?;
        let mut answer = catalog::register(&mut self.workspaces.lock().unwrap(), request)?;
        answer.diagnostics.clone_from(&self.findings.lock().unwrap());
        Ok(Response::new(answer))
    }

    async fn get_workspace(&self, request: Request<GetWorkspaceRequest>) -> Answer<GetWorkspaceResponse> {
        let request = self.enter("GetWorkspace", request).await?;
        let workspaces = self.workspaces.lock().unwrap();
        let mut workspace = workspaces[catalog::find(&workspaces, request.r#ref.as_ref())?].clone();
        if request.include_status && workspace.status() == WorkspaceStatus::Unspecified {
            let there = std::path::Path::new(&workspace.root_dir).is_dir();
            let status = if there {
                WorkspaceStatus::Ok
            } else {
                WorkspaceStatus::RootMissing
            };
            workspace.set_status(status);
        }
        Ok(Response::new(GetWorkspaceResponse {
            workspace: Some(workspace),
            revision: "r7".to_owned(),
        }))
    }

    async fn list_workspaces(
        &self,
        request: Request<ListWorkspacesRequest>,
    ) -> Answer<ListWorkspacesResponse> {
        let request = self.enter("ListWorkspaces", request).await?;
        catalog::list(&self.workspaces.lock().unwrap(), &request).map(Response::new)
    }

    async fn update_workspace(
        &self,
        request: Request<UpdateWorkspaceRequest>,
    ) -> Answer<UpdateWorkspaceResponse> {
        let request = self.enter("UpdateWorkspace", request).await?;
        let mut workspaces = self.workspaces.lock().unwrap();
        let place = catalog::find(&workspaces, request.r#ref.as_ref())?;
        let mut changed = workspaces[place].clone();
        let new = request.workspace.unwrap_or_default();
        for path in request.update_mask.unwrap_or_default().paths {
            match path.as_str() {
                "name" => changed.name.clone_from(&new.name),
                "title" => changed.title.clone_from(&new.title),
                "default_agent" => changed.default_agent.clone_from(&new.default_agent),
                _ => {
                    return Err(failed(
                        Code::InvalidArgument,
                        "INVALID_FIELD",
                        "The mask is wrong.",
                        &[],
                    ));
                }
            }
        }
        for directory in &request.remove_dirs {
            if !changed.additional_dirs.contains(directory) {
                let message = format!("remove_dirs: {directory} is no additional directory.");
                return Err(failed(
                    Code::InvalidArgument,
                    "INVALID_FIELD",
                    &message,
                    &[("field", "remove_dirs")],
                ));
            }
        }
        changed
            .additional_dirs
            .retain(|directory| !request.remove_dirs.contains(directory));
        changed.additional_dirs.extend(request.add_dirs);
        workspaces[place] = changed.clone();
        Ok(Response::new(UpdateWorkspaceResponse {
            workspace: Some(changed),
            revision: "r7".to_owned(),
        }))
    }

    async fn relink_workspace(
        &self,
        request: Request<RelinkWorkspaceRequest>,
    ) -> Answer<RelinkWorkspaceResponse> {
        let request = self.enter("RelinkWorkspace", request).await?;
        let mut workspaces = self.workspaces.lock().unwrap();
        let place = catalog::find(&workspaces, request.r#ref.as_ref())?;
        let root = catalog::directory(&request.path)?.to_str().unwrap().to_owned();
        let before = std::mem::replace(&mut workspaces[place].root_dir, root);
        let workspace = Some(workspaces[place].clone());
        let answer = RelinkWorkspaceResponse {
            workspace,
            relinked_from: Some(before),
            revision: "r7".to_owned(),
        };
        Ok(Response::new(answer))
    }

    async fn move_workspace(&self, request: Request<MoveWorkspaceRequest>) -> Answer<MoveWorkspaceResponse> {
        let request = self.enter("MoveWorkspace", request).await?;
        let mut workspaces = self.workspaces.lock().unwrap();
        let place = catalog::find(&workspaces, request.r#ref.as_ref())?;
        let anchor = match &request.before {
            Some(before) => Some(workspaces[catalog::find(&workspaces, Some(before))?].id.clone()),
            None => None,
        };
        let before: Vec<String> = workspaces.iter().map(|workspace| workspace.id.clone()).collect();
        if anchor.as_ref() != Some(&before[place]) {
            let moved = workspaces.remove(place);
            let to = workspaces
                .iter()
                .position(|one| Some(&one.id) == anchor.as_ref())
                .unwrap_or(workspaces.len());
            workspaces.insert(to, moved);
        }
        let after: Vec<String> = workspaces.iter().map(|workspace| workspace.id.clone()).collect();
        let now = after.iter().position(|id| *id == before[place]).unwrap();
        let neighbour = |at: Option<usize>| at.and_then(|at| after.get(at)).cloned().unwrap_or_default();
        Ok(Response::new(MoveWorkspaceResponse {
            previous_id: neighbour(now.checked_sub(1)),
            next_id: neighbour(Some(now + 1)),
            moved: before != after,
            revision: "r7".to_owned(),
        }))
    }

    async fn remove_workspace(
        &self,
        request: Request<RemoveWorkspaceRequest>,
    ) -> Answer<RemoveWorkspaceResponse> {
        let request = self.enter("RemoveWorkspace", request).await?;
        let mut workspaces = self.workspaces.lock().unwrap();
        let place = catalog::find(&workspaces, request.r#ref.as_ref())?;
        let (kept, deleted) = accounts::remove(self, &workspaces[place].id, &request)?;
        Ok(Response::new(RemoveWorkspaceResponse {
            id: workspaces.remove(place).id,
            kept_session_count: kept,
            deleted_session_count: deleted,
            revision: "r7".to_owned(),
        }))
    }

    async fn attach_session(&self, request: Request<AttachSessionRequest>) -> Answer<AttachSessionResponse> {
        let request = self.enter("AttachSession", request).await?;
        accounts::attach(self, &request).map(Response::new)
    }

    async fn detach_session(&self, request: Request<DetachSessionRequest>) -> Answer<DetachSessionResponse> {
        let request = self.enter("DetachSession", request).await?;
        accounts::detach(self, &request).map(Response::new)
    }

    async fn move_session(&self, request: Request<MoveSessionRequest>) -> Answer<MoveSessionResponse> {
        let request = self.enter("MoveSession", request).await?;
        accounts::r#move(self, &request).map(Response::new)
    }

    async fn get_identity(&self, request: Request<GetIdentityRequest>) -> Answer<GetIdentityResponse> {
        let request = self.enter("GetIdentity", request).await?;
        let Some(get_identity_request::Target::Ref(reference)) = request.target else {
            return Err(failed(
                Code::InvalidArgument,
                "INVALID_FIELD",
                "ref is not set.",
                &[],
            ));
        };
        let workspaces = self.workspaces.lock().unwrap();
        let workspace = workspaces[catalog::find(&workspaces, Some(&reference))?].clone();
        let identity = Some(identity(&workspace, ""));
        Ok(Response::new(GetIdentityResponse {
            identity,
            workspace: Some(workspace),
        }))
    }

    async fn update_identity(
        &self,
        request: Request<UpdateIdentityRequest>,
    ) -> Answer<UpdateIdentityResponse> {
        let request = self.enter("UpdateIdentity", request).await?;
        let forks = request.action() == IdentityAction::Fork;
        let reference = match request.target {
            Some(update_identity_request::Target::Ref(reference)) => reference,
            Some(update_identity_request::Target::Path(path)) => WorkspaceRef {
                form: Some(workspace_ref::Form::Path(path)),
            },
            None => {
                return Err(failed(
                    Code::InvalidArgument,
                    "INVALID_FIELD",
                    "target is not set.",
                    &[],
                ));
            }
        };
        let mut workspaces = self.workspaces.lock().unwrap();
        let place = catalog::find(&workspaces, Some(&reference))?;
        let mut forked_from = String::new();
        if forks {
            let new = "01HXJ9YR4QZ0V7M3T5B8NEWNEW".to_owned();
            forked_from = std::mem::replace(&mut workspaces[place].durable_id, new);
            workspaces
                .iter_mut()
                .for_each(|workspace| workspace.shares_identity_with.clear());
        }
        let workspace = workspaces[place].clone();
        let identity = Some(identity(&workspace, &forked_from));
        let (file_written, revision) = (forks, "r7".to_owned());
        Ok(Response::new(UpdateIdentityResponse {
            identity,
            workspace: Some(workspace),
            file_written,
            revision,
        }))
    }

    async fn resolve_workspace(
        &self,
        request: Request<ResolveWorkspaceRequest>,
    ) -> Answer<ResolveWorkspaceResponse> {
        let request = self.enter("ResolveWorkspace", request).await?;
        resolution::resolve(self, &request).map(Response::new)
    }

    async fn get_definition(&self, request: Request<GetDefinitionRequest>) -> Answer<GetDefinitionResponse> {
        let request = self.enter("GetDefinition", request).await?;
        let resolve = ResolveWorkspaceRequest {
            r#ref: request.r#ref.clone(),
            ..Default::default()
        };
        let snapshot = resolution::resolve(self, &resolve)?.snapshot.unwrap();
        if snapshot.fingerprint != request.fingerprint {
            let message = "The files are no longer those of the snapshot.";
            return Err(failed(
                Code::FailedPrecondition,
                "FINGERPRINT_STALE",
                message,
                &[],
            ));
        }
        Ok(Response::new(GetDefinitionResponse {
            text: self.text.lock().unwrap().clone(),
            digest: "d1".to_owned(),
            size: 29,
            path: format!("{}/{}", snapshot.root, request.name),
            layer: Layer::Workspace.into(),
        }))
    }

    async fn discover_workspace(
        &self,
        request: Request<DiscoverWorkspaceRequest>,
    ) -> Answer<DiscoverWorkspaceResponse> {
        let request = self.enter("DiscoverWorkspace", request).await?;
        let workspaces = self.workspaces.lock().unwrap();
        let workspace = Some(workspaces[catalog::owner(&workspaces, &request.path)?].clone());
        Ok(Response::new(DiscoverWorkspaceResponse {
            workspace,
            ..Default::default()
        }))
    }

    async fn prune_workspaces(
        &self,
        request: Request<PruneWorkspacesRequest>,
    ) -> Answer<PruneWorkspacesResponse> {
        let request = self.enter("PruneWorkspaces", request).await?;
        let mut workspaces = self.workspaces.lock().unwrap();
        let missing = |workspace: &Workspace| workspace.status() == WorkspaceStatus::RootMissing;
        let due: Vec<Workspace> = workspaces
            .iter()
            .filter(|workspace| missing(workspace))
            .cloned()
            .collect();
        // One at a time, so that whoever prunes has to come again.
        let now: Vec<Workspace> = due.iter().take(1).cloned().collect();
        if !request.validate_only {
            workspaces.retain(|workspace| !now.iter().any(|removed| removed.id == workspace.id));
        }
        let has_more = due.len() > now.len();
        Ok(Response::new(PruneWorkspacesResponse {
            workspaces: now,
            has_more,
            revision: "r7".to_owned(),
        }))
    }

    async fn list_directory(&self, request: Request<ListDirectoryRequest>) -> Answer<ListDirectoryResponse> {
        let request = self.enter("ListDirectory", request).await?;
        let path = if request.path.is_empty() {
            "/home/operator".to_owned()
        } else {
            request.path
        };
        let child = DirectoryEntry {
            name: "child".to_owned(),
            path: format!("{path}/child"),
            hidden: false,
        };
        let crumbs = vec![DirectoryCrumb {
            name: "/".to_owned(),
            path: "/".to_owned(),
        }];
        Ok(Response::new(ListDirectoryResponse {
            path,
            entries: vec![child],
            truncated: false,
            crumbs,
        }))
    }

    async fn create_directory(
        &self,
        request: Request<CreateDirectoryRequest>,
    ) -> Answer<CreateDirectoryResponse> {
        self.enter("CreateDirectory", request).await?;
        Ok(Response::new(CreateDirectoryResponse::default()))
    }
}

#[tonic::async_trait]
impl AdminService for State {
    async fn get_server_info(&self, request: Request<GetServerInfoRequest>) -> Answer<GetServerInfoResponse> {
        self.enter("GetServerInfo", request).await?;
        Ok(Response::new(GetServerInfoResponse {
            version: "9.9.9".to_owned(),
            catalog_id: "01CATALOG".to_owned(),
            host_id: self.host_id.lock().unwrap().clone(),
            store_kind: StoreKind::Sqlite.into(),
            started_at: Some(prost_types::Timestamp {
                seconds: 1_777_905_000,
                nanos: 0,
            }),
            process_id: i64::from(std::process::id()),
            ..Default::default()
        }))
    }

    async fn get_config(&self, request: Request<GetConfigRequest>) -> Answer<GetConfigResponse> {
        self.enter("GetConfig", request).await?;
        Ok(Response::new(GetConfigResponse::default()))
    }

    async fn set_config(&self, request: Request<SetConfigRequest>) -> Answer<SetConfigResponse> {
        let request = self.enter("SetConfig", request).await?;
        Ok(Response::new(SetConfigResponse {
            path: format!("{}/config.toml", self.home.lock().unwrap()),
            line: if request.unset { 0 } else { 7 },
            changed: request.value != "same",
            needs_restart: request.key.starts_with("grpc."),
        }))
    }

    async fn shutdown(&self, request: Request<ShutdownRequest>) -> Answer<ShutdownResponse> {
        self.enter("Shutdown", request).await?;
        self.shutdown.notify_one();
        Ok(Response::new(ShutdownResponse {}))
    }

    async fn backup(&self, request: Request<BackupRequest>) -> Answer<BackupResponse> {
        let request = self.enter("Backup", request).await?;
        let dump_command = self.dump_command.lock().unwrap().clone();
        if !dump_command.is_empty() {
            return Ok(Response::new(BackupResponse {
                dump_command,
                ..Default::default()
            }));
        }
        let file = BackupFile {
            path: "compozy.db".to_owned(),
            size_bytes: 4_096,
            sha256: "0".repeat(64),
        };
        Ok(Response::new(BackupResponse {
            directory: request.directory,
            files: vec![file],
            dump_command,
        }))
    }
}

fn identity(workspace: &Workspace, forked_from: &str) -> WorkspaceIdentity {
    WorkspaceIdentity {
        path: format!("{}/.compozy/workspace.toml", workspace.root_dir),
        durable_id: workspace.durable_id.clone(),
        created_at: workspace.created_at,
        realpath_at_creation: workspace.root_dir.clone(),
        forked_from: forked_from.to_owned(),
    }
}
