//! The session catalog of the fake.

use compozy_client::proto::page::v1::PageInfo;
use compozy_client::proto::session::v1::session_catalog_service_server::SessionCatalogService;
use compozy_client::proto::session::v1::*;
use compozy_client::proto::workspace::v1::{RegisterWorkspaceRequest, Workspace};
use prost_types::Timestamp;
use tonic::{Code, Request, Response, Status};

use super::{State, catalog, failed};

type Answer<M> = Result<Response<M>, Status>;

const REVISION: &str = "r7";

/// An active session with agent `general`, bound to nobody.
pub fn session(number: usize, workspace: Option<&Workspace>) -> Session {
    let at = Some(Timestamp {
        seconds: 1_777_905_000,
        nanos: 0,
    });
    let id = format!("sess-{number:016x}");
    let (workspace_id, workspace_name, cwd) = match workspace {
        Some(workspace) => (
            workspace.id.clone(),
            workspace.name().to_owned(),
            workspace.root_dir.clone(),
        ),
        None => (String::new(), String::new(), "/elsewhere".to_owned()),
    };
    Session {
        lineage: Some(Lineage {
            root_session_id: id.clone(),
            ..Lineage::default()
        }),
        id,
        workspace_id,
        workspace_name,
        canonical_cwd: cwd.clone(),
        cwd,
        agent: "general".to_owned(),
        r#type: SessionType::User.into(),
        state: SessionState::Active.into(),
        runtime: Some(Runtime {
            state: RuntimeState::None.into(),
            ..Runtime::default()
        }),
        permission_mode: PermissionMode::ApproveReads.into(),
        profile_id: "default".to_owned(),
        attachable: true,
        start: Some(Start::default()),
        origin: Some(Origin {
            tool: "native".to_owned(),
            id: String::new(),
        }),
        badge: SessionBadge::Unknown.into(),
        etag: "e1".to_owned(),
        version: 1,
        created_at: at,
        updated_at: at,
        ..Session::default()
    }
}

/// Makes a session a stopped one.
pub fn stopped(session: &mut Session) {
    session.set_state(SessionState::Stopped);
    session.set_badge(SessionBadge::Stopped);
    (session.attachable, session.resumable) = (false, true);
    session.stop = Some(Stop {
        cause: StopCause::User.into(),
        reason: StopReason::UserCanceled.into(),
        failure: Some(Failure {
            kind: FailureKind::Cancellation.into(),
            summary: String::new(),
        }),
        stopped_at: session.updated_at,
        ..Stop::default()
    });
}

pub fn unknown(id: &str) -> Status {
    let message = format!("no session has the id '{id}'");
    failed(Code::NotFound, "SESSION_NOT_FOUND", &message, &[("id", id)])
}

impl State {
    fn session(&self, id: &str) -> Result<Session, Status> {
        let sessions = self.sessions.lock().unwrap();
        let found = sessions.iter().find(|session| session.id == id);
        found.cloned().ok_or_else(|| unknown(id))
    }

    /// Changes a session as long as a change is allowed.
    pub fn change_session(
        &self,
        id: &str,
        change: impl FnOnce(&mut Session) -> Result<(), Status>,
    ) -> Result<Session, Status> {
        let mut sessions = self.sessions.lock().unwrap();
        let found = sessions.iter_mut().find(|session| session.id == id);
        let session = found.ok_or_else(|| unknown(id))?;
        change(session)?;
        session.version += 1;
        Ok(session.clone())
    }

    fn selected(&self, filter: Option<SessionFilter>) -> Result<Vec<Session>, Status> {
        let filter = filter.unwrap_or_default();
        let workspaces = self.workspaces.lock().unwrap();
        let workspace = match &filter.workspace {
            Some(reference) => Some(
                workspaces[catalog::find(&workspaces, Some(reference))?]
                    .id
                    .clone(),
            ),
            None => None,
        };
        let mut rows = self.sessions.lock().unwrap().clone();
        rows.retain(|row| workspace.as_ref().is_none_or(|id| *id == row.workspace_id));
        rows.retain(|row| !filter.ungrouped || row.workspace_id.is_empty());
        rows.retain(|row| filter.agents.is_empty() || filter.agents.contains(&row.agent));
        rows.retain(|row| filter.states.is_empty() || filter.states.contains(&row.state));
        rows.retain(|row| match filter.archive() {
            ArchiveFilter::Unspecified | ArchiveFilter::Exclude => row.archived_at.is_none(),
            ArchiveFilter::Only => row.archived_at.is_some(),
            ArchiveFilter::Include => true,
        });
        Ok(rows)
    }

    /// The workspace that a new session is for, and whether it was registered for it.
    fn home_of(&self, request: &CreateSessionRequest) -> Result<(Option<Workspace>, bool), Status> {
        let mut workspaces = self.workspaces.lock().unwrap();
        if request.workspace.is_some() {
            let place = catalog::find(&workspaces, request.workspace.as_ref())?;
            return Ok((Some(workspaces[place].clone()), false));
        }
        if request.workspace_path.is_empty() {
            return Ok((None, false));
        }
        catalog::directory(&request.workspace_path)?;
        if let Ok(place) = catalog::owner(&workspaces, &request.workspace_path) {
            return Ok((Some(workspaces[place].clone()), false));
        }
        let registration = RegisterWorkspaceRequest {
            path: request.workspace_path.clone(),
            ..Default::default()
        };
        let made = catalog::register(&mut workspaces, registration)?;
        Ok((made.workspace, true))
    }
}

fn conflict(session: &Session, remedy: &str) -> Status {
    let state = session.state().as_str_name().trim_start_matches("SESSION_STATE_");
    let state = state.to_lowercase();
    let message = format!("the session '{}' is {state}: {remedy}", session.id);
    let metadata = [("state", state.as_str()), ("id", session.id.as_str())];
    failed(
        Code::FailedPrecondition,
        "SESSION_STATE_CONFLICT",
        &message,
        &metadata,
    )
}

fn health() -> Option<SessionHealth> {
    Some(SessionHealth {
        state: HealthState::Detached.into(),
        health: Health::Unknown.into(),
        attachable: true,
        eligible_for_wake: false,
        ineligibility_reason: IneligibilityReason::SessionHealthUnknown.into(),
        badge: SessionBadge::Unknown.into(),
    })
}

fn lease(session: &Session, binding: &RuntimeBinding) -> RuntimeLease {
    RuntimeLease {
        token: "lease_1".to_owned(),
        session_id: session.id.clone(),
        holder: binding.holder.clone(),
        generation: 1,
        expires_at: session.updated_at,
    }
}

#[tonic::async_trait]
impl SessionCatalogService for State {
    async fn create_session(&self, request: Request<CreateSessionRequest>) -> Answer<CreateSessionResponse> {
        let request = self.enter("CreateSession", request).await?;
        let (workspace, workspace_registered) = self.home_of(&request)?;
        let mut sessions = self.sessions.lock().unwrap();
        if sessions.iter().any(|session| session.id == request.id) {
            let message = format!("the id '{}' is or was in use", request.id);
            let metadata = [("id", request.id.as_str())];
            return Err(failed(
                Code::AlreadyExists,
                "SESSION_ID_CONFLICT",
                &message,
                &metadata,
            ));
        }
        let mut made = session(sessions.len(), workspace.as_ref());
        if !request.id.is_empty() {
            made.id.clone_from(&request.id);
        }
        made.agent = request.agent.unwrap_or_else(|| "general".to_owned());
        made.cwd = request.cwd.unwrap_or(made.cwd);
        made.name = request.name;
        made.labels = request.labels;
        sessions.push(made.clone());
        Ok(Response::new(CreateSessionResponse {
            lease: request.bind.map(|binding| lease(&made, &binding)),
            session: Some(made),
            workspace_registered,
            revision: REVISION.to_owned(),
        }))
    }

    async fn get_session(&self, request: Request<GetSessionRequest>) -> Answer<GetSessionResponse> {
        let request = self.enter("GetSession", request).await?;
        if !request.session_id.starts_with("sess-") {
            let message = "session_id is no id of a session";
            return Err(failed(Code::InvalidArgument, "INVALID_FIELD", message, &[]));
        }
        let mut session = self.session(&request.session_id)?;
        session.health = health().filter(|_| request.include_health);
        Ok(Response::new(GetSessionResponse {
            session: Some(session),
            revision: REVISION.to_owned(),
        }))
    }

    async fn list_sessions(&self, request: Request<ListSessionsRequest>) -> Answer<ListSessionsResponse> {
        let request = self.enter("ListSessions", request).await?;
        let rows = self.selected(request.filter)?;
        let limit = if request.limit == 0 { 50 } else { request.limit };
        let start: usize = request.cursor.parse().unwrap_or(0);
        let end = (start + usize::try_from(limit).unwrap()).min(rows.len());
        let has_more = end < rows.len();
        Ok(Response::new(ListSessionsResponse {
            page: Some(PageInfo {
                total: i64::try_from(rows.len()).unwrap(),
                limit,
                has_more,
                next_cursor: has_more.then(|| end.to_string()),
                revision: REVISION.to_owned(),
            }),
            sessions: rows[start..end].to_vec(),
        }))
    }

    async fn count_sessions(&self, request: Request<CountSessionsRequest>) -> Answer<CountSessionsResponse> {
        let request = self.enter("CountSessions", request).await?;
        let rows = self.selected(request.filter)?;
        Ok(Response::new(CountSessionsResponse {
            total: i64::try_from(rows.len()).unwrap(),
            revision: REVISION.to_owned(),
            ..Default::default()
        }))
    }

    async fn update_session(&self, request: Request<UpdateSessionRequest>) -> Answer<UpdateSessionResponse> {
        let request = self.enter("UpdateSession", request).await?;
        Ok(Response::new(UpdateSessionResponse {
            session: Some(self.session(&request.session_id)?),
            revision: REVISION.to_owned(),
        }))
    }

    async fn rename_session(&self, request: Request<RenameSessionRequest>) -> Answer<RenameSessionResponse> {
        let RenameSessionRequest { session_id, name, .. } = self.enter("RenameSession", request).await?;
        let session = self.change_session(&session_id, |session| {
            session.name = name;
            Ok(())
        })?;
        Ok(Response::new(RenameSessionResponse {
            session: Some(session),
            revision: REVISION.to_owned(),
        }))
    }

    /// A session with a runtime is stopping for ever.
    async fn stop_session(&self, request: Request<StopSessionRequest>) -> Answer<StopSessionResponse> {
        let request = self.enter("StopSession", request).await?;
        let session = self.change_session(&request.session_id, |session| {
            match session.runtime.as_ref().map(Runtime::state) {
                Some(RuntimeState::Bound) => session.set_state(SessionState::Stopping),
                _ => stopped(session),
            }
            Ok(())
        })?;
        Ok(Response::new(StopSessionResponse {
            session: Some(session),
            revision: REVISION.to_owned(),
        }))
    }

    async fn resume_session(&self, request: Request<ResumeSessionRequest>) -> Answer<ResumeSessionResponse> {
        let request = self.enter("ResumeSession", request).await?;
        let session = self.change_session(&request.session_id, |session| {
            if session.archived_at.is_some() {
                let message = format!("the session '{}' is archived: unarchive it first", session.id);
                let metadata = [("state", "archived"), ("id", session.id.as_str())];
                return Err(failed(
                    Code::FailedPrecondition,
                    "SESSION_ARCHIVED",
                    &message,
                    &metadata,
                ));
            }
            if session.state() != SessionState::Stopped {
                return Err(conflict(session, "only a stopped one can be resumed"));
            }
            session.set_state(SessionState::Starting);
            session.stop = None;
            Ok(())
        })?;
        Ok(Response::new(ResumeSessionResponse {
            lease: request.bind.map(|binding| lease(&session, &binding)),
            session: Some(session),
            revision: REVISION.to_owned(),
        }))
    }

    async fn archive_session(
        &self,
        request: Request<ArchiveSessionRequest>,
    ) -> Answer<ArchiveSessionResponse> {
        let request = self.enter("ArchiveSession", request).await?;
        let session = self.change_session(&request.session_id, |session| {
            if session.state() != SessionState::Stopped {
                return Err(conflict(session, "stop it first"));
            }
            session.archived_at = session.updated_at;
            Ok(())
        })?;
        Ok(Response::new(ArchiveSessionResponse {
            session: Some(session),
            revision: REVISION.to_owned(),
        }))
    }

    async fn unarchive_session(
        &self,
        request: Request<UnarchiveSessionRequest>,
    ) -> Answer<UnarchiveSessionResponse> {
        let request = self.enter("UnarchiveSession", request).await?;
        let session = self.change_session(&request.session_id, |session| {
            session.archived_at = None;
            Ok(())
        })?;
        Ok(Response::new(UnarchiveSessionResponse {
            session: Some(session),
            revision: REVISION.to_owned(),
        }))
    }

    async fn delete_session(&self, request: Request<DeleteSessionRequest>) -> Answer<DeleteSessionResponse> {
        let request = self.enter("DeleteSession", request).await?;
        let session = self.session(&request.session_id)?;
        let is_over = matches!(session.state(), SessionState::Stopped | SessionState::Orphaned);
        if !is_over && !request.force {
            return Err(conflict(&session, "stop it first, or delete it by force"));
        }
        self.sessions.lock().unwrap().retain(|one| one.id != session.id);
        Ok(Response::new(DeleteSessionResponse {
            id: session.id,
            revision: REVISION.to_owned(),
        }))
    }

    async fn bind_runtime(&self, request: Request<BindRuntimeRequest>) -> Answer<BindRuntimeResponse> {
        let request = self.enter("BindRuntime", request).await?;
        let session = self.session(&request.session_id)?;
        Ok(Response::new(BindRuntimeResponse {
            lease: Some(lease(&session, &request.binding.unwrap_or_default())),
            session: Some(session),
            revision: REVISION.to_owned(),
        }))
    }

    async fn heartbeat(&self, request: Request<HeartbeatRequest>) -> Answer<HeartbeatResponse> {
        self.enter("Heartbeat", request).await?;
        Ok(Response::new(HeartbeatResponse::default()))
    }

    async fn batch_heartbeat(
        &self,
        request: Request<BatchHeartbeatRequest>,
    ) -> Answer<BatchHeartbeatResponse> {
        self.enter("BatchHeartbeat", request).await?;
        Ok(Response::new(BatchHeartbeatResponse::default()))
    }

    async fn finish_session(&self, request: Request<FinishSessionRequest>) -> Answer<FinishSessionResponse> {
        self.enter("FinishSession", request).await?;
        Ok(Response::new(FinishSessionResponse::default()))
    }

    async fn acquire_attach_lease(
        &self,
        request: Request<AcquireAttachLeaseRequest>,
    ) -> Answer<AcquireAttachLeaseResponse> {
        let request = self.enter("AcquireAttachLease", request).await?;
        let holder = request.holder;
        let session = self.change_session(&request.session_id, |session| {
            let other = session.attach.as_ref().map(|attach| attach.holder.clone());
            if let Some(other) = other.filter(|other| *other != holder) {
                let message =
                    format!("the lease is held by '{other}': wait until it ends, or ask its holder");
                return Err(failed(
                    Code::Aborted,
                    "LEASE_HELD",
                    &message,
                    &[("holder", &other)],
                ));
            }
            session.attach = Some(AttachLease {
                holder,
                expires_at: session.updated_at,
            });
            session.attachable = false;
            Ok(())
        })?;
        Ok(Response::new(AcquireAttachLeaseResponse {
            session: Some(session),
            revision: REVISION.to_owned(),
        }))
    }

    async fn release_attach_lease(
        &self,
        request: Request<ReleaseAttachLeaseRequest>,
    ) -> Answer<ReleaseAttachLeaseResponse> {
        let request = self.enter("ReleaseAttachLease", request).await?;
        let session = self.change_session(&request.session_id, |session| {
            session.attach.take_if(|attach| attach.holder == request.holder);
            Ok(())
        })?;
        Ok(Response::new(ReleaseAttachLeaseResponse {
            session: Some(session),
            revision: REVISION.to_owned(),
        }))
    }

    async fn mark_session_seen(
        &self,
        request: Request<MarkSessionSeenRequest>,
    ) -> Answer<MarkSessionSeenResponse> {
        let request = self.enter("MarkSessionSeen", request).await?;
        Ok(Response::new(MarkSessionSeenResponse {
            session: Some(self.session(&request.session_id)?),
            revision: REVISION.to_owned(),
        }))
    }

    async fn get_session_health(
        &self,
        request: Request<GetSessionHealthRequest>,
    ) -> Answer<GetSessionHealthResponse> {
        let request = self.enter("GetSessionHealth", request).await?;
        self.session(&request.session_id)?;
        Ok(Response::new(GetSessionHealthResponse { health: health() }))
    }

    async fn inspect_session(
        &self,
        request: Request<InspectSessionRequest>,
    ) -> Answer<InspectSessionResponse> {
        let request = self.enter("InspectSession", request).await?;
        let mut session = self.session(&request.session_id)?;
        session.health = health();
        let transition = |state: SessionState, cause: &str| Transition {
            state: state.into(),
            at: session.created_at,
            cause: cause.to_owned(),
            by: "socket".to_owned(),
        };
        Ok(Response::new(InspectSessionResponse {
            transitions: vec![
                transition(SessionState::Active, "create"),
                transition(SessionState::Stopped, "user"),
            ],
            pending_permissions: vec![PermissionRequest {
                sequence: 3,
                event_id: "ev-0000000000000003".to_owned(),
                tool: "shell".to_owned(),
                rule: "deny-all".to_owned(),
                requested_at: session.created_at,
            }],
            vault: vec![VaultRecord {
                r#ref: format!("vault:sessions/{}/key", session.id),
                kind: "token".to_owned(),
                present: true,
                created_at: session.created_at,
                updated_at: session.created_at,
            }],
            session: Some(session),
            revision: REVISION.to_owned(),
        }))
    }

    async fn get_launch(&self, request: Request<GetLaunchRequest>) -> Answer<GetLaunchResponse> {
        self.enter("GetLaunch", request).await?;
        Ok(Response::new(GetLaunchResponse::default()))
    }
}
