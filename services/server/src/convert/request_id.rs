//! Request ids: how a repetition of a mutating request is told from a different one.

use compozy_domain::{CatalogError, RequestId};
use compozy_proto::profile::v1 as profile;
use compozy_proto::session::v1 as session;
use compozy_proto::workspace::v1 as workspace;
use sha2::{Digest, Sha256};

/// A request that changes something and is carried out once.
pub trait Mutating: prost::Message + Clone + Default {
    /// Full name of its method.
    const METHOD: &'static str;

    /// Takes the id out of the request.
    fn take_request_id(&mut self) -> String;

    /// Whether it only asks what would be. Nothing of it is remembered.
    fn is_only_a_try(&self) -> bool {
        false
    }
}

/// The id of a request and the hash of the rest; `None` for a request that is not to be remembered.
///
/// # Errors
/// [`CatalogError::InvalidField`] for an id that is neither a UUID nor a ULID.
pub fn request_id<Q: Mutating>(request: &Q) -> Result<Option<(RequestId, [u8; 32])>, CatalogError> {
    let mut rest = request.clone();
    let id = rest.take_request_id();
    if id.is_empty() {
        return Ok(None);
    }
    let id = RequestId::parse(&id)
        .ok_or_else(|| CatalogError::invalid_field("request_id", "must be a UUID or a ULID"))?;
    if request.is_only_a_try() {
        return Ok(None);
    }
    // Fields are encoded in the order of their numbers, maps in that of their keys: equal requests have equal bytes.
    Ok(Some((id, Sha256::digest(rest.encode_to_vec()).into())))
}

macro_rules! mutating {
    ($package:ident, $service:literal; $($request:ident = $method:literal $(, only_a_try: $flag:ident)?;)+) => {
        $(impl Mutating for $package::$request {
            const METHOD: &'static str = concat!("compozy.", stringify!($package), ".v1.", $service, "/", $method);

            fn take_request_id(&mut self) -> String {
                std::mem::take(&mut self.request_id)
            }

            $(fn is_only_a_try(&self) -> bool {
                self.$flag
            })?
        })+
    };
}

mutating! {
    workspace, "WorkspaceService";
    RegisterWorkspaceRequest = "RegisterWorkspace", only_a_try: validate_only;
    UpdateWorkspaceRequest = "UpdateWorkspace", only_a_try: validate_only;
    RelinkWorkspaceRequest = "RelinkWorkspace", only_a_try: validate_only;
    PruneWorkspacesRequest = "PruneWorkspaces", only_a_try: validate_only;
    MoveWorkspaceRequest = "MoveWorkspace";
    RemoveWorkspaceRequest = "RemoveWorkspace";
    UpdateIdentityRequest = "UpdateIdentity";
    CreateDirectoryRequest = "CreateDirectory";
    AttachSessionRequest = "AttachSession";
    DetachSessionRequest = "DetachSession";
    MoveSessionRequest = "MoveSession";
}

mutating! {
    session, "SessionCatalogService";
    CreateSessionRequest = "CreateSession";
    UpdateSessionRequest = "UpdateSession";
    RenameSessionRequest = "RenameSession";
    StopSessionRequest = "StopSession";
    ResumeSessionRequest = "ResumeSession";
    ArchiveSessionRequest = "ArchiveSession";
    UnarchiveSessionRequest = "UnarchiveSession";
    DeleteSessionRequest = "DeleteSession";
    BindRuntimeRequest = "BindRuntime";
    FinishSessionRequest = "FinishSession";
    AcquireAttachLeaseRequest = "AcquireAttachLease";
    ReleaseAttachLeaseRequest = "ReleaseAttachLease";
    MarkSessionSeenRequest = "MarkSessionSeen";
}

mutating! {
    profile, "ProfileService";
    CreateProfileRequest = "CreateProfile";
    UpdateProfileRequest = "UpdateProfile";
    RenameProfileRequest = "RenameProfile";
    ArchiveProfileRequest = "ArchiveProfile";
    UnarchiveProfileRequest = "UnarchiveProfile";
    DeleteProfileRequest = "DeleteProfile";
    SelectProfileRequest = "SelectProfile";
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const ULID: &str = "01J0ZK3M5N7P9Q1R3S5T7V9WXY";

    fn request(path: &str, id: &str) -> workspace::RegisterWorkspaceRequest {
        workspace::RegisterWorkspaceRequest {
            path: path.into(),
            request_id: id.into(),
            ..Default::default()
        }
    }

    #[test]
    fn w106_the_hash_is_of_everything_but_the_id() {
        let hash = |path: &str, id: &str| request_id(&request(path, id)).unwrap().unwrap().1;
        let uuid = "0190f3a2-7b1c-7d4e-8f00-112233445566";
        assert_eq!(hash("/a", ULID), hash("/a", uuid));
        assert_ne!(hash("/a", ULID), hash("/b", ULID));
    }

    #[test]
    fn w108_w318_what_is_not_remembered() {
        assert!(request_id(&request("/a", "abc")).is_err());
        assert_eq!(request_id(&request("/a", "")).unwrap(), None);
        let only_try = workspace::RegisterWorkspaceRequest {
            validate_only: true,
            ..request("/a", ULID)
        };
        assert_eq!(request_id(&only_try).unwrap(), None);
    }
}
