//! Real sessions for the cases of watches: short ways to what is done with them, and to the catalog's clock.

use std::time::Duration;

use compozy_domain::Clock as _;
use compozy_proto::session::v1 as pb;
use compozy_proto::workspace::v1 as workspace_pb;
use compozy_proto::workspace::v1::workspace_ref::Form;
use compozy_store::conformance::set_catalog_clock;
use compozy_store::{SessionStore as _, Sweep};

use crate::client::by;
use crate::server::Server;
use crate::world::World;

/// Calls about one session that need nothing but its id, each with the answer's session.
macro_rules! calls {
    ($($name:ident($request:ident);)+) => {
        impl Server {
            $(pub(crate) async fn $name(&self, id: &str) -> pb::Session {
                let request = pb::$request {
                    session_id: id.to_owned(),
                    ..Default::default()
                };
                self.sessions().$name(request).await.unwrap().into_inner().session.unwrap()
            })+
        }
    };
}

calls! {
    archive_session(ArchiveSessionRequest);
    unarchive_session(UnarchiveSessionRequest);
}

/// A session in the workspace with this id.
pub(crate) fn new(workspace_id: &str) -> pb::CreateSessionRequest {
    pb::CreateSessionRequest {
        workspace: Some(by(Form::Id(workspace_id.to_owned()))),
        agent: Some("general".to_owned()),
        ..Default::default()
    }
}

/// A session of no workspace, in this directory.
pub(crate) fn homeless(cwd: &str) -> pb::CreateSessionRequest {
    pb::CreateSessionRequest {
        cwd: Some(cwd.to_owned()),
        agent: Some("general".to_owned()),
        ..Default::default()
    }
}

/// A heartbeat that only renews.
pub(crate) fn beat(lease: &str) -> pb::HeartbeatRequest {
    pb::HeartbeatRequest {
        lease: lease.to_owned(),
        ..Default::default()
    }
}

/// A heartbeat of a runtime that waits for an answer.
pub(crate) fn waiting(lease: &str) -> pb::HeartbeatRequest {
    pb::HeartbeatRequest {
        waiting_for: Some(pb::WaitingFor {
            reasons: vec![pb::WaitingReason::Input.into()],
        }),
        ..beat(lease)
    }
}

impl Server {
    pub(crate) async fn create(&self, request: pb::CreateSessionRequest) -> pb::Session {
        let answer = self.sessions().create_session(request).await.unwrap();
        answer.into_inner().session.unwrap()
    }

    /// Creates a session in the workspace with this id; answers its id.
    pub(crate) async fn session_in(&self, workspace_id: &str) -> String {
        self.create(new(workspace_id)).await.id
    }

    pub(crate) async fn rename_session(&self, id: &str, name: &str) -> pb::RenameSessionResponse {
        let request = pb::RenameSessionRequest {
            session_id: id.to_owned(),
            name: name.to_owned(),
            ..Default::default()
        };
        self.sessions()
            .rename_session(request)
            .await
            .unwrap()
            .into_inner()
    }

    pub(crate) async fn stop_session(&self, id: &str) -> pb::Session {
        let request = pb::StopSessionRequest {
            session_id: id.to_owned(),
            cause: pb::StopCause::Completed.into(),
            ..Default::default()
        };
        let answer = self.sessions().stop_session(request).await.unwrap();
        answer.into_inner().session.unwrap()
    }

    /// Deletes a session, a live one too.
    pub(crate) async fn delete_session(&self, id: &str) {
        let request = pb::DeleteSessionRequest {
            session_id: id.to_owned(),
            force: true,
            ..Default::default()
        };
        self.sessions().delete_session(request).await.unwrap();
    }

    /// Binds a runtime for so many seconds; answers its lease.
    pub(crate) async fn bind(&self, id: &str, seconds: i64) -> String {
        let request = pb::BindRuntimeRequest {
            session_id: id.to_owned(),
            binding: Some(pb::RuntimeBinding {
                holder: "runtime".to_owned(),
                ttl: Some(prost_types::Duration { seconds, nanos: 0 }),
            }),
            request_id: String::new(),
        };
        let answer = self.sessions().bind_runtime(request).await.unwrap();
        answer.into_inner().lease.unwrap().token
    }

    pub(crate) async fn beat(&self, request: pb::HeartbeatRequest) {
        self.sessions().heartbeat(request).await.unwrap();
    }

    pub(crate) async fn finish(&self, lease: &str) -> pb::Session {
        let request = pb::FinishSessionRequest {
            lease: lease.to_owned(),
            cause: pb::StopCause::Completed.into(),
            ..Default::default()
        };
        let answer = self.sessions().finish_session(request).await.unwrap();
        answer.into_inner().session.unwrap()
    }

    /// Lets an operator in for so many seconds.
    pub(crate) async fn enter(&self, id: &str, seconds: i64) {
        let request = pb::AcquireAttachLeaseRequest {
            session_id: id.to_owned(),
            holder: "operator".to_owned(),
            ttl: Some(prost_types::Duration { seconds, nanos: 0 }),
            ..Default::default()
        };
        self.sessions().acquire_attach_lease(request).await.unwrap();
    }

    pub(crate) async fn detach(&self, id: &str) {
        let request = workspace_pb::DetachSessionRequest {
            session_id: id.to_owned(),
            ..Default::default()
        };
        self.workspaces().detach_session(request).await.unwrap();
    }

    pub(crate) async fn attach(&self, workspace_id: &str, id: &str) {
        let request = workspace_pb::AttachSessionRequest {
            workspace: Some(by(Form::Id(workspace_id.to_owned()))),
            session_id: id.to_owned(),
            ..Default::default()
        };
        self.workspaces().attach_session(request).await.unwrap();
    }

    /// Moves a session to the end of its account.
    pub(crate) async fn move_session_to_end(&self, id: &str) {
        let request = workspace_pb::MoveSessionRequest {
            session_id: id.to_owned(),
            ..Default::default()
        };
        self.workspaces().move_session(request).await.unwrap();
    }

    /// Removes a workspace, and its sessions or their place in it. None of them may be live.
    pub(crate) async fn remove_with(&self, id: &str, sessions: workspace_pb::RemovedSessions) {
        let request = workspace_pb::RemoveWorkspaceRequest {
            r#ref: Some(by(Form::Id(id.to_owned()))),
            sessions: sessions.into(),
            ..Default::default()
        };
        self.workspaces().remove_workspace(request).await.unwrap();
    }

    /// All sessions of a filter by id, from a list, archived ones too.
    pub(crate) async fn listed_sessions(&self, filter: pb::SessionFilter) -> Vec<pb::Session> {
        let (mut rows, mut cursor) = (Vec::new(), String::new());
        loop {
            let request = pb::ListSessionsRequest {
                filter: Some(pb::SessionFilter {
                    archive: pb::ArchiveFilter::Include.into(),
                    ..filter.clone()
                }),
                limit: 100,
                cursor,
                ..Default::default()
            };
            let page = self.sessions().list_sessions(request).await.unwrap().into_inner();
            rows.extend(page.sessions);
            match page.page.unwrap().next_cursor {
                Some(next) => cursor = next,
                None => break,
            }
        }
        rows.sort_by(|one, other| one.id.cmp(&other.id));
        rows
    }

    /// Moves the catalog's clock on, whoever keeps it, and lets the sweep run.
    pub(crate) async fn later(&self, world: &World, seconds: u64) {
        world.clock.ahead(Duration::from_secs(seconds));
        set_catalog_clock(&self.store, world.clock.now()).await.unwrap();
        self.sweep(world).await;
    }

    /// One run of the sweep.
    pub(crate) async fn sweep(&self, world: &World) {
        let sweep = Sweep {
            start_timeout: Duration::from_secs(60),
            stale_after: Duration::from_secs(120),
            now: world.clock.now(),
            deadline: std::time::Instant::now() + crate::world::PATIENCE,
        };
        self.store.sweep(sweep).await.unwrap();
    }
}
