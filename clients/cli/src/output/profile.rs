//! Profiles, which one is active, and who says so.

mod answers;

use compozy_client::proto::profile::v1::{Profile, ProfileState};
use compozy_client::proto::workspace::v1::{ProfileSource, SnapshotProfile};
use serde::Serialize;

use super::table::{Cell, Table};
use super::time::Time;
use super::{Answer, Human, PageView};

pub(crate) use answers::{ActiveProfileView, ProfileAnswer, ProfileDeletionView, SelectionView};

/// `compozy.profile.v1.Profile`. Enum values stand without the prefix of their type.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ProfileView {
    pub(crate) id: String,
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    color: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    icon: Option<String>,
    state: &'static str,
    is_permanent: bool,
    version: i64,
    etag: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) updated_at: Option<Time>,
}

/// `compozy.profile.v1.ListProfilesResponse`, or all of its pages.
#[derive(Debug, Serialize)]
pub(crate) struct ProfileListView {
    pub(crate) profiles: Vec<ProfileView>,
    pub(crate) page: PageView,
}

/// `compozy.workspace.v1.SnapshotProfile`.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct SnapshotProfileView {
    id: String,
    pub(crate) name: String,
    color: String,
    icon: String,
    is_permanent: bool,
}

/// The name of a source without the prefix of its type.
pub(crate) fn source_name(source: ProfileSource) -> &'static str {
    let name = source.as_str_name();
    name.strip_prefix("PROFILE_SOURCE_").unwrap_or(name)
}

/// A profile's name with who chose it.
pub(super) fn sourced(name: &str, source: &str) -> String {
    let who = match source {
        "SESSION" => "the session's own",
        "REQUEST" => "chosen by --profile",
        "ENVIRONMENT" => "chosen by COMPOZY_PROFILE",
        "WORKSPACE" => "selected for this workspace",
        "GLOBAL" => "selected for everything",
        "DEFAULT" => "nobody has chosen one",
        _ => return name.to_owned(),
    };
    format!("{name} ({who})")
}

impl From<SnapshotProfile> for SnapshotProfileView {
    fn from(profile: SnapshotProfile) -> Self {
        let SnapshotProfile {
            id,
            name,
            color,
            icon,
            is_permanent,
        } = profile;
        Self {
            id,
            name,
            color,
            icon,
            is_permanent,
        }
    }
}

impl From<Profile> for ProfileView {
    fn from(profile: Profile) -> Self {
        let state = short_state(profile.state());
        let Profile {
            id,
            name,
            color,
            icon,
            state: _,
            is_permanent,
            version,
            etag,
            created_at,
            updated_at,
        } = profile;
        Self {
            id,
            name,
            color,
            icon,
            state,
            is_permanent,
            version,
            etag,
            created_at: created_at.and_then(|time| Time::new(time.seconds, time.nanos)),
            updated_at: updated_at.and_then(|time| Time::new(time.seconds, time.nanos)),
        }
    }
}

impl ProfileView {
    fn human(&self, human: &mut Human) {
        let text = |value: &Option<String>| Cell::plain(value.as_deref().unwrap_or_default());
        human.fields(&[
            ("name", Cell::plain(&self.name)),
            ("state", self.state_cell()),
            ("color", text(&self.color)),
            ("icon", text(&self.icon)),
            ("id", Cell::plain(&self.id)),
            ("created", human.time(self.created_at)),
            ("updated", human.time(self.updated_at)),
        ]);
    }

    fn state_cell(&self) -> Cell {
        match self.state {
            "ACTIVE" => Cell::good("active"),
            "ARCHIVED" => Cell::doubtful("archived"),
            _ => Cell::plain(""),
        }
    }
}

impl Answer for ProfileListView {
    const ROWS: Option<&'static str> = Some("profiles");

    fn human(&self, human: &mut Human) {
        if self.profiles.is_empty() {
            return;
        }
        let mut table = Table::new(&["NAME", "STATE", "COLOR", "ICON", "UPDATED", "ID"]);
        for profile in &self.profiles {
            table.row(vec![
                Cell::plain(&profile.name),
                profile.state_cell(),
                Cell::plain(profile.color.as_deref().unwrap_or_default()),
                Cell::plain(profile.icon.as_deref().unwrap_or_default()),
                human.time(profile.updated_at),
                Cell::plain(&profile.id),
            ]);
        }
        human.table(&table);
    }

    fn notes(&self) -> Vec<String> {
        match &self.page.next_cursor {
            Some(cursor) => vec![format!(
                "{} of {} shown; go on with --cursor {cursor}",
                self.profiles.len(),
                self.page.total
            )],
            None if self.profiles.is_empty() => vec!["nothing matches".to_owned()],
            None => Vec::new(),
        }
    }
}

fn short_state(state: ProfileState) -> &'static str {
    state.as_str_name().trim_start_matches("PROFILE_STATE_")
}
