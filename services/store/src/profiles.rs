//! Rows of profiles, and which one is selected. The permanent profile `default` is no row; a selection of it is one.

use async_trait::async_trait;
use compozy_domain::profile::{ProfileUpdate, Selection};
use compozy_domain::{
    Etag, HostId, Page, PageLimit, Profile, ProfileId, ProfileName, ProfileState, Revision, WorkspaceId,
};

use crate::call::{Answer, Call};
use crate::error::Result;
use crate::intents::IntentId;

/// Rows of profiles and selections. Reads write nothing. Every write appends its change entries in its own
/// transaction; one that changes nothing writes nothing. Everybody may see every profile: visibility concerns only the
/// workspaces of selections. The selection of a workspace goes with it, in the transaction of its removal, and the
/// entry of that stands for it.
///
/// A row that this release does not understand is listed as an archived one, can't be changed
/// ([`compozy_domain::CatalogError::RecordNotUnderstood`]) and can be deleted.
#[async_trait]
pub trait ProfileStore: Send + Sync {
    /// One profile by id, and the head of the change log in the same snapshot.
    async fn find_profile(&self, id: &ProfileId) -> Result<(Option<Profile>, Revision)>;

    /// One profile by name, and the head of the change log in the same snapshot.
    async fn find_profile_by_name(&self, name: &ProfileName) -> Result<(Option<Profile>, Revision)>;

    /// The profiles with these ids, in no order.
    async fn find_profiles(&self, ids: &[ProfileId]) -> Result<Vec<Profile>>;

    /// The names of all profiles, archived ones included, by bytes: whose directories are not orphaned. What is no
    /// name of a profile is left out.
    async fn profile_names(&self) -> Result<Vec<ProfileName>>;

    /// One counted page by name: rows, total and revision from one snapshot.
    async fn list_profiles(&self, list: &ListProfiles) -> Result<Page<Profile>>;

    /// Up to `limit` profiles with an id above `after`, by id, for a snapshot of a watch.
    async fn profiles_above(&self, after: Option<&ProfileId>, limit: u32) -> Result<Vec<Profile>>;

    /// Inserts a profile. [`compozy_domain::CatalogError::ProfileNameConflict`] for a name that is taken, also by an
    /// archived one. Appends `profile upserted created`.
    async fn create_profile(&self, create: CreateProfile, call: Call<Profile>) -> Result<Answer<Profile>>;

    /// Changes how a profile is shown. Appends `profile upserted updated`.
    async fn update_profile(&self, update: UpdateProfile, call: Call<Profile>) -> Result<Answer<Profile>>;

    /// Gives a profile another name and ends the intent under which its directory was moved.
    /// [`compozy_domain::CatalogError::ProfileNameConflict`]. Appends `profile upserted renamed`.
    async fn rename_profile(&self, rename: RenameProfile, call: Call<Profile>) -> Result<Answer<Profile>>;

    /// Archives or unarchives a profile. Appends `profile upserted archived` or `unarchived`.
    async fn set_profile_state(&self, set: SetProfileState, call: Call<Profile>) -> Result<Answer<Profile>>;

    /// Removes a profile and forgets every selection of it. Appends one `profile deleted removed`, which stands for
    /// the selections, too. Absent ones: [`compozy_domain::CatalogError::ProfileNotFound`], or nothing with
    /// `allow_missing`.
    async fn delete_profile(
        &self,
        delete: DeleteProfile,
        call: Call<Option<ProfileId>>,
    ) -> Result<Answer<Option<ProfileId>>>;

    /// Remembers or forgets a selection. [`compozy_domain::CatalogError::ProfileNotFound`],
    /// [`compozy_domain::CatalogError::ProfileArchived`], and
    /// [`compozy_domain::CatalogError::WorkspaceNotFound`] for a workspace that is not visible. Locks the workspace's
    /// and the profile's row before it looks. Appends `selection upserted updated`, or `selection deleted removed`;
    /// its version counts up from 1 for each workspace and for everything else.
    async fn select_profile(&self, select: SelectProfile, call: Call<Selected>) -> Result<Answer<Selected>>;

    /// What is remembered for a workspace and for everything else, with the profiles and the head of the change log in
    /// the same snapshot. The permanent profile is answered as [`Profile::permanent`]. Profiles that are archived by
    /// now are answered, too: their selections stay.
    async fn selections(&self, workspace: Option<&WorkspaceId>) -> Result<Selections>;

    /// The current selections of these workspaces, and with `global` the one for everything else, in no order.
    async fn find_selections(&self, workspaces: &[WorkspaceId], global: bool) -> Result<Vec<Selection>>;
}

/// A page to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListProfiles {
    /// Only these states; empty is all.
    pub states: Vec<ProfileState>,
    /// Name of the last row of the page before.
    pub after: Option<ProfileName>,
    /// How many rows.
    pub limit: PageLimit,
    /// Total and revision of the page before: still true while the log has not moved.
    pub counted: Option<(Revision, u64)>,
}

/// A profile to insert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateProfile {
    /// Its id.
    pub id: ProfileId,
    /// Its name.
    pub name: ProfileName,
    /// Its color.
    pub color: String,
    /// Its icon.
    pub icon: String,
    /// Host of the daemon, for the change entry.
    pub host_id: HostId,
}

/// New values of a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateProfile {
    /// Which one.
    pub id: ProfileId,
    /// The values.
    pub update: ProfileUpdate,
    /// Only if the record still has this etag.
    pub etag: Option<Etag>,
    /// Host of the daemon, for the change entry.
    pub host_id: HostId,
}

/// A new name of a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenameProfile {
    /// Which one.
    pub id: ProfileId,
    /// The new name.
    pub name: ProfileName,
    /// Only if the record still has this etag.
    pub etag: Option<Etag>,
    /// The intent under which the directory was moved.
    pub intent: Option<IntentId>,
    /// Host of the daemon, for the change entry.
    pub host_id: HostId,
}

/// A new state of a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetProfileState {
    /// Which one.
    pub id: ProfileId,
    /// The state.
    pub state: ProfileState,
    /// Only if the record still has this etag.
    pub etag: Option<Etag>,
    /// Host of the daemon, for the change entry.
    pub host_id: HostId,
}

/// A profile to remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeleteProfile {
    /// Which one.
    pub id: ProfileId,
    /// A missing one is a success.
    pub allow_missing: bool,
    /// Only if the record still has this etag.
    pub etag: Option<Etag>,
    /// Host of the daemon, for the change entry.
    pub host_id: HostId,
}

/// A selection to remember or to forget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectProfile {
    /// The workspace; `None` for everything that has no selection of its own.
    pub workspace_id: Option<WorkspaceId>,
    /// The profile, `default` by its own id; `None` forgets.
    pub profile_id: Option<ProfileId>,
    /// Host of the daemon, for the change entry without a workspace; the others have the workspace's.
    pub host_id: HostId,
}

/// What a selection is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selected {
    /// The workspace.
    pub workspace_id: Option<WorkspaceId>,
    /// The profile; `None` if it was forgotten.
    pub profile: Option<Profile>,
}

/// What is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selections {
    /// For the workspace.
    pub workspace: Option<Profile>,
    /// For everything else.
    pub global: Option<Profile>,
    /// The head of the change log in the same snapshot.
    pub revision: Revision,
}
