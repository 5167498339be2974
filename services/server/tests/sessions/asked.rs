//! Requests about sessions, with as few words as a case needs.

use compozy_proto::session::v1 as pb;
use compozy_proto::workspace::v1::workspace_ref::Form;

use crate::requests::{by, by_id};

/// A ULID to repeat requests with.
pub(crate) const R: &str = "01J0ZK3M5N7P9Q1R3S5T7V9WXY";
/// A UUID to repeat requests with.
pub(crate) const R2: &str = "0190f3a2-7b1c-7d4e-8f00-112233445566";
/// A well-formed id that no session has.
pub(crate) const NOBODY: &str = "sess-00000000000000ff";

/// `new(...)` of the cases: a session in the workspace with this id, with agent `general`.
pub(crate) fn new(workspace_id: &str) -> pb::CreateSessionRequest {
    pb::CreateSessionRequest {
        workspace: by_id(workspace_id),
        agent: Some("general".to_owned()),
        ..Default::default()
    }
}

/// As [`new`], the workspace named in another way.
pub(crate) fn new_in(form: Form) -> pb::CreateSessionRequest {
    pb::CreateSessionRequest {
        workspace: by(form),
        agent: Some("general".to_owned()),
        ..Default::default()
    }
}

/// As [`new`], in the workspace of a path.
pub(crate) fn new_at(path: impl Into<String>) -> pb::CreateSessionRequest {
    pb::CreateSessionRequest {
        workspace_path: path.into(),
        agent: Some("general".to_owned()),
        ..Default::default()
    }
}

/// A session of no workspace.
pub(crate) fn ungrouped(cwd: impl Into<String>) -> pb::CreateSessionRequest {
    pb::CreateSessionRequest {
        cwd: Some(cwd.into()),
        agent: Some("general".to_owned()),
        ..Default::default()
    }
}

pub(crate) fn binding(holder: &str, ttl_seconds: i64) -> pb::RuntimeBinding {
    pb::RuntimeBinding {
        holder: holder.to_owned(),
        ttl: Some(seconds(ttl_seconds)),
    }
}

pub(crate) fn seconds(seconds: i64) -> prost_types::Duration {
    prost_types::Duration { seconds, nanos: 0 }
}

pub(crate) fn get(id: &str) -> pb::GetSessionRequest {
    pb::GetSessionRequest {
        session_id: id.to_owned(),
        include_health: false,
    }
}

pub(crate) fn stop(id: &str, cause: pb::StopCause) -> pb::StopSessionRequest {
    pb::StopSessionRequest {
        session_id: id.to_owned(),
        cause: cause.into(),
        ..Default::default()
    }
}

pub(crate) fn rename(id: &str, name: &str) -> pb::RenameSessionRequest {
    pb::RenameSessionRequest {
        session_id: id.to_owned(),
        name: name.to_owned(),
        ..Default::default()
    }
}

pub(crate) fn archive(id: &str) -> pb::ArchiveSessionRequest {
    pb::ArchiveSessionRequest {
        session_id: id.to_owned(),
        ..Default::default()
    }
}

pub(crate) fn unarchive(id: &str) -> pb::UnarchiveSessionRequest {
    pb::UnarchiveSessionRequest {
        session_id: id.to_owned(),
        ..Default::default()
    }
}

pub(crate) fn delete(id: &str) -> pb::DeleteSessionRequest {
    pb::DeleteSessionRequest {
        session_id: id.to_owned(),
        ..Default::default()
    }
}

/// An update of labels or permission mode, by a mask.
pub(crate) fn update(id: &str, mask: &[&str], session: pb::Session) -> pb::UpdateSessionRequest {
    pb::UpdateSessionRequest {
        session_id: id.to_owned(),
        session: Some(session),
        update_mask: Some(prost_types::FieldMask {
            paths: mask.iter().map(|path| (*path).to_owned()).collect(),
        }),
        ..Default::default()
    }
}

pub(crate) fn bind(id: &str, holder: &str, ttl_seconds: i64) -> pb::BindRuntimeRequest {
    pb::BindRuntimeRequest {
        session_id: id.to_owned(),
        binding: Some(binding(holder, ttl_seconds)),
        request_id: String::new(),
    }
}

pub(crate) fn resume(id: &str) -> pb::ResumeSessionRequest {
    pb::ResumeSessionRequest {
        session_id: id.to_owned(),
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

pub(crate) fn finish(lease: &str, cause: pb::StopCause) -> pb::FinishSessionRequest {
    pb::FinishSessionRequest {
        lease: lease.to_owned(),
        cause: cause.into(),
        ..Default::default()
    }
}

pub(crate) fn list(filter: pb::SessionFilter) -> pb::ListSessionsRequest {
    pb::ListSessionsRequest {
        filter: Some(filter),
        ..Default::default()
    }
}
