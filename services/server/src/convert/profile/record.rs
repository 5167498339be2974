//! Profiles, selections and choices as they stand on the wire.

use compozy_domain::profile::Selection;
use compozy_domain::{Profile, ProfileSource, ProfileState};
use compozy_proto::change::v1 as change_pb;
use compozy_proto::profile::v1 as pb;
use compozy_proto::workspace::v1 as workspace_pb;

use crate::convert::timestamp;

/// A record on the wire.
#[must_use]
pub fn record(profile: &Profile) -> pb::Profile {
    let is_permanent = profile.name.is_permanent();
    let at = |time| (!is_permanent).then(|| timestamp(time));
    let etag = profile.etag();
    let Profile {
        id,
        name,
        color,
        icon,
        state,
        version,
        created_at,
        updated_at,
    } = profile;
    pb::Profile {
        id: id.to_string(),
        name: name.to_string(),
        color: Some(color.clone()),
        icon: Some(icon.clone()),
        state: state_to_wire(*state).into(),
        is_permanent,
        version: *version,
        etag: etag.to_string(),
        created_at: at(*created_at),
        updated_at: at(*updated_at),
    }
}

/// The active profile of a snapshot, on the wire.
#[must_use]
pub fn active_record(profile: &Profile) -> workspace_pb::SnapshotProfile {
    let Profile {
        id,
        name,
        color,
        icon,
        state: _,
        version: _,
        created_at: _,
        updated_at: _,
    } = profile;
    workspace_pb::SnapshotProfile {
        id: id.to_string(),
        name: name.to_string(),
        color: color.clone(),
        icon: icon.clone(),
        is_permanent: name.is_permanent(),
    }
}

/// A selection on the wire.
#[must_use]
pub fn selection(selection: &Selection) -> change_pb::ProfileSelection {
    let Selection {
        workspace_id,
        profile_id,
    } = selection;
    change_pb::ProfileSelection {
        workspace_id: workspace_id.as_ref().map(ToString::to_string).unwrap_or_default(),
        profile_id: profile_id.to_string(),
    }
}

/// Who chose a profile, on the wire.
#[must_use]
pub const fn source(source: ProfileSource) -> workspace_pb::ProfileSource {
    match source {
        ProfileSource::Session => workspace_pb::ProfileSource::Session,
        ProfileSource::Request => workspace_pb::ProfileSource::Request,
        ProfileSource::Environment => workspace_pb::ProfileSource::Environment,
        ProfileSource::Workspace => workspace_pb::ProfileSource::Workspace,
        ProfileSource::Global => workspace_pb::ProfileSource::Global,
        ProfileSource::Default => workspace_pb::ProfileSource::Default,
    }
}

const fn state_to_wire(state: ProfileState) -> pb::ProfileState {
    match state {
        ProfileState::Active => pb::ProfileState::Active,
        ProfileState::Archived => pb::ProfileState::Archived,
    }
}
