//! A client that looks hard at every failure: whatever else a case is about, each failed call of each case carries
//! exactly one ErrorInfo of ours, a message that tells a person what to do, and the one status of its reason (W292).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use compozy_proto::error::v1::ErrorReason;
use compozy_proto::profile::v1 as profile_pb;
use compozy_proto::profile::v1::profile_service_client::ProfileServiceClient;
use compozy_proto::session::v1 as session_pb;
use compozy_proto::session::v1::session_catalog_service_client::SessionCatalogServiceClient;
use compozy_proto::workspace::v1 as pb;
use compozy_proto::workspace::v1::workspace_service_client::WorkspaceServiceClient;
use tonic::metadata::MetadataValue;
use tonic::transport::Channel;
use tonic::{Code, Request, Response, Status};
use tonic_types::{ErrorDetail, StatusExt as _};

/// Names the principal of a call to the server of the tests.
pub(crate) const PRINCIPAL: &str = "test-principal";
/// Milliseconds until the deadline of a call to the server of the tests.
pub(crate) const DEADLINE: &str = "test-deadline";

/// Statuses by reason, over all cases of this process.
static STATUSES: Mutex<Option<HashMap<String, Code>>> = Mutex::new(None);

/// A failed call.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    pub(crate) reason: String,
    pub(crate) message: String,
    pub(crate) metadata: HashMap<String, String>,
    /// Fields that BadRequest names.
    pub(crate) fields: Vec<String>,
    /// Whether ResourceInfo came along.
    pub(crate) names_resource: bool,
    /// What PreconditionFailure says: types and subjects.
    pub(crate) preconditions: Vec<(String, String)>,
}

pub(crate) type Outcome<T> = Result<T, Failure>;

/// The service as one principal sees it.
#[derive(Debug, Clone)]
pub(crate) struct Api {
    client: WorkspaceServiceClient<Channel>,
    profiles: ProfileServiceClient<Channel>,
    sessions: SessionCatalogServiceClient<Channel>,
    principal: &'static str,
    deadline_millis: Option<u64>,
}

macro_rules! methods {
    ($client:ident, $package:ident; $($name:ident => $method:ident($request:ident) -> $response:ident;)+) => {
        impl Api {
            $(pub(crate) async fn $name(&self, request: $package::$request) -> Outcome<$package::$response> {
                let request = self.addressed(request);
                checked(self.$client.clone().$method(request).await)
            })+
        }
    };
}

methods! {
    client, pb;
    register => register_workspace(RegisterWorkspaceRequest) -> RegisterWorkspaceResponse;
    get => get_workspace(GetWorkspaceRequest) -> GetWorkspaceResponse;
    list => list_workspaces(ListWorkspacesRequest) -> ListWorkspacesResponse;
    update => update_workspace(UpdateWorkspaceRequest) -> UpdateWorkspaceResponse;
    relink => relink_workspace(RelinkWorkspaceRequest) -> RelinkWorkspaceResponse;
    move_workspace => move_workspace(MoveWorkspaceRequest) -> MoveWorkspaceResponse;
    remove => remove_workspace(RemoveWorkspaceRequest) -> RemoveWorkspaceResponse;
    get_identity => get_identity(GetIdentityRequest) -> GetIdentityResponse;
    update_identity => update_identity(UpdateIdentityRequest) -> UpdateIdentityResponse;
    resolve => resolve_workspace(ResolveWorkspaceRequest) -> ResolveWorkspaceResponse;
    get_definition => get_definition(GetDefinitionRequest) -> GetDefinitionResponse;
    discover => discover_workspace(DiscoverWorkspaceRequest) -> DiscoverWorkspaceResponse;
    prune => prune_workspaces(PruneWorkspacesRequest) -> PruneWorkspacesResponse;
    list_directory => list_directory(ListDirectoryRequest) -> ListDirectoryResponse;
    create_directory => create_directory(CreateDirectoryRequest) -> CreateDirectoryResponse;
    attach_session => attach_session(AttachSessionRequest) -> AttachSessionResponse;
    detach_session => detach_session(DetachSessionRequest) -> DetachSessionResponse;
    move_session => move_session(MoveSessionRequest) -> MoveSessionResponse;
}

methods! {
    profiles, profile_pb;
    create_profile => create_profile(CreateProfileRequest) -> CreateProfileResponse;
    get_profile => get_profile(GetProfileRequest) -> GetProfileResponse;
    list_profiles => list_profiles(ListProfilesRequest) -> ListProfilesResponse;
    update_profile => update_profile(UpdateProfileRequest) -> UpdateProfileResponse;
    rename_profile => rename_profile(RenameProfileRequest) -> RenameProfileResponse;
    archive_profile => archive_profile(ArchiveProfileRequest) -> ArchiveProfileResponse;
    unarchive_profile => unarchive_profile(UnarchiveProfileRequest) -> UnarchiveProfileResponse;
    delete_profile => delete_profile(DeleteProfileRequest) -> DeleteProfileResponse;
    select_profile => select_profile(SelectProfileRequest) -> SelectProfileResponse;
    active_profile => get_active_profile(GetActiveProfileRequest) -> GetActiveProfileResponse;
}

methods! {
    sessions, session_pb;
    create_session => create_session(CreateSessionRequest) -> CreateSessionResponse;
    get_session => get_session(GetSessionRequest) -> GetSessionResponse;
    list_sessions => list_sessions(ListSessionsRequest) -> ListSessionsResponse;
    count_sessions => count_sessions(CountSessionsRequest) -> CountSessionsResponse;
    update_session => update_session(UpdateSessionRequest) -> UpdateSessionResponse;
    rename_session => rename_session(RenameSessionRequest) -> RenameSessionResponse;
    stop_session => stop_session(StopSessionRequest) -> StopSessionResponse;
    resume_session => resume_session(ResumeSessionRequest) -> ResumeSessionResponse;
    archive_session => archive_session(ArchiveSessionRequest) -> ArchiveSessionResponse;
    unarchive_session => unarchive_session(UnarchiveSessionRequest) -> UnarchiveSessionResponse;
    delete_session => delete_session(DeleteSessionRequest) -> DeleteSessionResponse;
    bind_runtime => bind_runtime(BindRuntimeRequest) -> BindRuntimeResponse;
    heartbeat => heartbeat(HeartbeatRequest) -> HeartbeatResponse;
    batch_heartbeat => batch_heartbeat(BatchHeartbeatRequest) -> BatchHeartbeatResponse;
    finish_session => finish_session(FinishSessionRequest) -> FinishSessionResponse;
    acquire_attach_lease => acquire_attach_lease(AcquireAttachLeaseRequest) -> AcquireAttachLeaseResponse;
    release_attach_lease => release_attach_lease(ReleaseAttachLeaseRequest) -> ReleaseAttachLeaseResponse;
    mark_session_seen => mark_session_seen(MarkSessionSeenRequest) -> MarkSessionSeenResponse;
    get_session_health => get_session_health(GetSessionHealthRequest) -> GetSessionHealthResponse;
    inspect_session => inspect_session(InspectSessionRequest) -> InspectSessionResponse;
    get_launch => get_launch(GetLaunchRequest) -> GetLaunchResponse;
}

impl Api {
    pub(crate) fn new(channel: Channel) -> Self {
        Self {
            client: WorkspaceServiceClient::new(channel.clone()),
            profiles: ProfileServiceClient::new(channel.clone()),
            sessions: SessionCatalogServiceClient::new(channel),
            principal: "local",
            deadline_millis: None,
        }
    }

    /// The service as another principal sees it.
    pub(crate) fn seen_by(&self, principal: &'static str) -> Self {
        Self {
            principal,
            ..self.clone()
        }
    }

    /// The service for calls with a deadline.
    pub(crate) fn within(&self, millis: u64) -> Self {
        Self {
            deadline_millis: Some(millis),
            ..self.clone()
        }
    }

    fn addressed<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        request
            .metadata_mut()
            .insert(PRINCIPAL, MetadataValue::from_static(self.principal));
        if let Some(millis) = self.deadline_millis {
            request
                .metadata_mut()
                .insert(DEADLINE, MetadataValue::from(millis));
        }
        request
    }
}

fn checked<T>(outcome: Result<Response<T>, Status>) -> Outcome<T> {
    outcome
        .map(Response::into_inner)
        .map_err(|status| examine(&status))
}

fn examine(status: &Status) -> Failure {
    let details = status.get_error_details_vec();
    let infos: Vec<_> = details
        .iter()
        .filter_map(|detail| {
            if let ErrorDetail::ErrorInfo(info) = detail {
                Some(info)
            } else {
                None
            }
        })
        .collect();
    assert_eq!(infos.len(), 1, "one ErrorInfo: {status:?}");
    let info = infos[0];
    assert_eq!(info.domain, "compozy.dev");
    let reason = format!("ERROR_REASON_{}", info.reason);
    assert!(
        ErrorReason::from_str_name(&reason).is_some(),
        "a reason of the contract: {}",
        info.reason
    );
    let mut known = STATUSES.lock().unwrap_or_else(PoisonError::into_inner);
    let code = *known
        .get_or_insert_default()
        .entry(info.reason.clone())
        .or_insert(status.code());
    assert_eq!(code, status.code(), "{} has one status", info.reason);
    check_message(status.message());
    let names_resource = details
        .iter()
        .any(|detail| matches!(detail, ErrorDetail::ResourceInfo(_)));
    let preconditions = preconditions(&details);
    // What is missing is named, and so is the state that stands in the way (S340).
    match status.code() {
        Code::NotFound => assert!(names_resource, "{status:?}"),
        Code::FailedPrecondition => {
            let named = preconditions.iter();
            assert!(named.clone().count() > 0, "{status:?}");
            for (what, subject) in named {
                assert!(*what == info.reason && !subject.is_empty(), "{status:?}");
            }
        }
        _ => {}
    }
    let fields = details.iter().filter_map(|detail| {
        let ErrorDetail::BadRequest(bad) = detail else {
            return None;
        };
        Some(
            bad.field_violations
                .iter()
                .map(|violation| violation.field.clone()),
        )
    });
    Failure {
        code,
        reason: info.reason.clone(),
        message: status.message().to_owned(),
        metadata: info.metadata.clone(),
        fields: fields.flatten().collect(),
        names_resource,
        preconditions,
    }
}

fn preconditions(details: &[ErrorDetail]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for detail in details {
        if let ErrorDetail::PreconditionFailure(failure) = detail {
            let violations = failure.violations.iter();
            found.extend(violations.map(|violation| (violation.r#type.clone(), violation.subject.clone())));
        }
    }
    found
}

/// One sentence for a person, without SQL and without a stack.
fn check_message(message: &str) {
    assert!(!message.trim().is_empty() && message.len() <= 1_024, "{message}");
    assert!(!message.chars().any(char::is_control), "one line: {message:?}");
    for foreign in [
        "SELECT ",
        "INSERT ",
        "UPDATE ",
        "DELETE ",
        "sqlite",
        "postgres",
        "panicked",
        "RUST_BACKTRACE",
        ".rs:",
    ] {
        assert!(!message.contains(foreign), "{message}");
    }
}
