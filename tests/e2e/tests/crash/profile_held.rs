//! What the catalog holds of a worker's profiles, as the worker knows it.

use compozy_proto::profile::v1::{Profile, ProfileState};

use crate::profile_operation::{ProfileOperation, What};

/// A profile as the worker knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProfileRow {
    pub(crate) id: String,
    pub(crate) name: String,
    icon: String,
    pub(crate) is_archived: bool,
}

/// What the catalog holds of a worker.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Held {
    /// By name.
    pub(crate) rows: Vec<ProfileRow>,
    /// Id of what is selected for the workspace.
    pub(crate) selected: Option<String>,
}

impl ProfileRow {
    pub(crate) fn of(profile: &Profile) -> Self {
        Self {
            id: profile.id.clone(),
            name: profile.name.clone(),
            icon: profile.icon().to_owned(),
            is_archived: profile.state() == ProfileState::Archived,
        }
    }
}

impl Held {
    /// As everybody is told: the selection of an archived profile is remembered and passed over.
    pub(crate) fn told(&self) -> Self {
        let mut told = self.clone();
        told.rows.sort_by(|one, other| one.name.cmp(&other.name));
        let counts = |id: &String| told.rows.iter().any(|row| row.id == *id && !row.is_archived);
        told.selected = told.selected.clone().filter(counts);
        told
    }

    /// What is held once the operation is done. `new` is the row that a creation made.
    pub(crate) fn after(&self, operation: &ProfileOperation, new: Option<ProfileRow>) -> Self {
        let mut held = self.clone();
        let mut change = |id: &String, change: &dyn Fn(&mut ProfileRow)| {
            change(held.rows.iter_mut().find(|row| row.id == *id).unwrap());
        };
        match &operation.what {
            What::Create { .. } => held.rows.extend(new),
            What::Update { id, icon, .. } => change(id, &|row| row.icon.clone_from(icon)),
            What::Rename { id, to, .. } => change(id, &|row| row.name.clone_from(to)),
            What::Archive { id, .. } => change(id, &|row| row.is_archived = true),
            What::Unarchive { id, .. } => change(id, &|row| row.is_archived = false),
            What::Delete { id, .. } => {
                held.rows.retain(|row| row.id != *id);
                held.selected = held.selected.filter(|selected| selected != id);
            }
            What::Select { id, .. } => held.selected.clone_from(id),
        }
        held
    }
}
