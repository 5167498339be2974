//! Records.

use compozy_domain::workspace::SessionCounts;
use compozy_domain::{Workspace, WorkspaceId, WorkspaceStatus};
use compozy_proto::workspace::v1 as pb;

use super::timestamp;

/// A record on the wire. `status` is what a look at its root showed, if there was one.
#[must_use]
pub fn record(workspace: &Workspace, status: Option<WorkspaceStatus>) -> pb::Workspace {
    let etag = workspace.etag();
    let Workspace {
        id,
        durable_id,
        host_id,
        root_dir,
        root_file: _,
        additional_dirs,
        name,
        title,
        default_agent,
        is_default,
        rank: _,
        version,
        state_number: _,
        created_at,
        updated_at,
        shares_identity_with,
        session_counts,
        defect,
    } = workspace;
    pb::Workspace {
        id: id.to_string(),
        durable_id: durable_id.to_string(),
        host_id: host_id.to_string(),
        root_dir: root_dir.clone(),
        additional_dirs: additional_dirs.clone(),
        name: Some(name.as_str().to_owned()),
        title: Some(title.clone()),
        default_agent: Some(default_agent.clone()),
        etag: etag.to_string(),
        version: *version,
        created_at: Some(timestamp(*created_at)),
        updated_at: Some(timestamp(*updated_at)),
        status: status.map_or(pb::WorkspaceStatus::Unspecified, to_wire).into(),
        is_default: *is_default,
        shares_identity_with: shares_identity_with.iter().map(WorkspaceId::to_string).collect(),
        session_counts: Some(counts(*session_counts)),
        defect: defect.clone(),
    }
}

fn counts(counts: SessionCounts) -> pb::SessionCounts {
    let SessionCounts {
        starting,
        active,
        stopping,
        stopped,
        orphaned,
        archived,
    } = counts;
    pb::SessionCounts {
        starting_count: starting,
        active_count: active,
        stopping_count: stopping,
        stopped_count: stopped,
        orphaned_count: orphaned,
        archived_count: archived,
    }
}

/// A record that was only tried: what it would be, without what only a real one has.
#[must_use]
pub fn provisional_record(workspace: &Workspace) -> pb::Workspace {
    pb::Workspace {
        id: String::new(),
        durable_id: String::new(),
        etag: String::new(),
        version: 0,
        created_at: None,
        updated_at: None,
        ..record(workspace, None)
    }
}

/// The status of a filter; `None` for `UNSPECIFIED` and for values of a newer contract.
#[must_use]
pub fn status_from_wire(value: i32) -> Option<WorkspaceStatus> {
    match pb::WorkspaceStatus::try_from(value).ok()? {
        pb::WorkspaceStatus::Unspecified => None,
        pb::WorkspaceStatus::Ok => Some(WorkspaceStatus::Ok),
        pb::WorkspaceStatus::RootMissing => Some(WorkspaceStatus::RootMissing),
        pb::WorkspaceStatus::RootNotDirectory => Some(WorkspaceStatus::RootNotDirectory),
        pb::WorkspaceStatus::RootUnreadable => Some(WorkspaceStatus::RootUnreadable),
        pb::WorkspaceStatus::IdentityMissing => Some(WorkspaceStatus::IdentityMissing),
        pb::WorkspaceStatus::IdentityInvalid => Some(WorkspaceStatus::IdentityInvalid),
        pb::WorkspaceStatus::IdentityUnreadable => Some(WorkspaceStatus::IdentityUnreadable),
        pb::WorkspaceStatus::IdentityChanged => Some(WorkspaceStatus::IdentityChanged),
        pb::WorkspaceStatus::OtherHost => Some(WorkspaceStatus::OtherHost),
    }
}

const fn to_wire(status: WorkspaceStatus) -> pb::WorkspaceStatus {
    match status {
        WorkspaceStatus::Ok => pb::WorkspaceStatus::Ok,
        WorkspaceStatus::RootMissing => pb::WorkspaceStatus::RootMissing,
        WorkspaceStatus::RootNotDirectory => pb::WorkspaceStatus::RootNotDirectory,
        WorkspaceStatus::RootUnreadable => pb::WorkspaceStatus::RootUnreadable,
        WorkspaceStatus::IdentityMissing => pb::WorkspaceStatus::IdentityMissing,
        WorkspaceStatus::IdentityInvalid => pb::WorkspaceStatus::IdentityInvalid,
        WorkspaceStatus::IdentityUnreadable => pb::WorkspaceStatus::IdentityUnreadable,
        WorkspaceStatus::IdentityChanged => pb::WorkspaceStatus::IdentityChanged,
        WorkspaceStatus::OtherHost => pb::WorkspaceStatus::OtherHost,
    }
}
