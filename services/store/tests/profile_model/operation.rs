//! One random operation, and how a store carries it out.

use std::time::{Duration, Instant};

use compozy_domain::profile::ProfileUpdate;
use compozy_domain::{
    HostId, Profile, ProfileId, ProfileName, ProfileState, Reason, Timestamp, Visibility, WorkspaceId,
};
use compozy_store::conformance::{Catalog, Engine, Seeded, fresh};
use compozy_store::{
    Call, CreateProfile, DeleteProfile, Error, ProfileStore as _, RenameProfile, Result, SelectProfile,
    SetProfileState, UpdateProfile,
};

use crate::plain::Plain;

const NAMES: [&str; 6] = ["a", "a-", "b", "b2", "work", "z"];
const COLORS: [&str; 2] = ["", "#2f6fed"];
const ICONS: [&str; 3] = ["", "x", "🦊"];

/// What is done, and when.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub(crate) now: Timestamp,
    pub(crate) work: Work,
}

#[derive(Debug, Clone)]
pub(crate) enum Work {
    Create(ProfileId, ProfileName),
    Update(ProfileId, ProfileUpdate),
    Rename(ProfileId, ProfileName),
    Set(ProfileId, ProfileState),
    Delete(ProfileId, bool),
    Select(Option<WorkspaceId>, Option<ProfileId>),
    /// Another workspace takes the place of this one.
    Replace(WorkspaceId),
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Refused(Reason),
    Record(Profile),
    Deleted(Option<ProfileId>),
    Selected(Option<Profile>),
    Replaced,
}

impl Operation {
    /// Draws an operation that often meets what is there.
    pub(crate) fn draw(numbers: &mut Seeded, step: usize, plain: &Plain) -> Self {
        let now = Timestamp::from_nanos(1_800_000_000_000_000_000).plus(Duration::from_secs(step as u64));
        let work = match numbers.below(20) {
            0..=3 => Work::Create(ProfileId::from_stored(format!("{step:026}")), name(numbers)),
            4..=5 => Work::Update(some_profile(numbers, plain), new_values(numbers)),
            6..=7 => Work::Rename(some_profile(numbers, plain), name(numbers)),
            8..=9 => {
                let states = [ProfileState::Active, ProfileState::Archived];
                Work::Set(some_profile(numbers, plain), states[numbers.below(2)])
            }
            10..=11 => Work::Delete(some_profile(numbers, plain), numbers.below(2) == 0),
            12 => Work::Replace(pick(numbers, plain.workspaces())),
            _ => {
                let workspace = (numbers.below(4) > 0).then(|| some_workspace(numbers, plain));
                let profile = (numbers.below(5) > 0).then(|| some_profile(numbers, plain));
                Work::Select(workspace, profile)
            }
        };
        Self { now, work }
    }

    /// Carries it out on a store.
    pub(crate) async fn carry_out<E: Engine>(&self, catalog: &Catalog<E>, plain: &mut Plain) -> Outcome {
        match self.outcome(catalog, plain).await {
            Ok(outcome) => outcome,
            Err(Error::Rejected(error)) => Outcome::Refused(error.reason()),
            Err(error) => panic!("{self:?} failed: {error:?}"),
        }
    }

    async fn outcome<E: Engine>(&self, catalog: &Catalog<E>, plain: &mut Plain) -> Result<Outcome> {
        let store = &catalog.store;
        let (host_id, etag) = (host(), None);
        let answer = match self.work.clone() {
            Work::Create(id, name) => {
                let [color, icon] = [String::new(), String::new()];
                let create = CreateProfile {
                    id,
                    name,
                    color,
                    icon,
                    host_id,
                };
                store.create_profile(create, self.call()).await
            }
            Work::Update(id, update) => {
                let update = UpdateProfile {
                    id,
                    update,
                    etag,
                    host_id,
                };
                store.update_profile(update, self.call()).await
            }
            Work::Rename(id, name) => {
                let intent = None;
                let rename = RenameProfile {
                    id,
                    name,
                    etag,
                    intent,
                    host_id,
                };
                store.rename_profile(rename, self.call()).await
            }
            Work::Set(id, state) => {
                let set = SetProfileState {
                    id,
                    state,
                    etag,
                    host_id,
                };
                store.set_profile_state(set, self.call()).await
            }
            Work::Delete(id, allow_missing) => {
                let delete = DeleteProfile {
                    id,
                    allow_missing,
                    etag,
                    host_id,
                };
                let deleted = store.delete_profile(delete, self.call()).await?;
                return Ok(Outcome::Deleted(fresh(deleted).value));
            }
            Work::Select(workspace_id, profile_id) => {
                let select = SelectProfile {
                    workspace_id,
                    profile_id,
                    host_id,
                };
                let selected = store.select_profile(select, self.call()).await?;
                return Ok(Outcome::Selected(fresh(selected).value.profile));
            }
            Work::Replace(id) => {
                catalog.remove(&id).await?;
                plain.register(catalog.register(&format!("/w/{id}")).await.id);
                return Ok(Outcome::Replaced);
            }
        };
        Ok(Outcome::Record(fresh(answer?).value))
    }

    fn call<T>(&self) -> Call<T> {
        Call {
            visibility: Visibility::All,
            now: self.now,
            deadline: Instant::now() + Duration::from_secs(30),
            remember: None,
        }
    }
}

pub(crate) fn host() -> HostId {
    HostId::parse("h1").unwrap()
}

fn name(numbers: &mut Seeded) -> ProfileName {
    ProfileName::parse(NAMES[numbers.below(NAMES.len())]).unwrap()
}

fn new_values(numbers: &mut Seeded) -> ProfileUpdate {
    let color = COLORS.get(numbers.below(3)).map(|color| (*color).to_owned());
    let icon = ICONS.get(numbers.below(4)).map(|icon| (*icon).to_owned());
    ProfileUpdate { color, icon }
}

fn pick<T: Clone>(numbers: &mut Seeded, from: &[T]) -> T {
    from[numbers.below(from.len())].clone()
}

/// Mostly one that is there, sometimes the permanent one or one that was never there.
fn some_profile(numbers: &mut Seeded, plain: &Plain) -> ProfileId {
    let ids = plain.profile_ids();
    match numbers.below(8) {
        0 => Profile::permanent().id,
        1 => ProfileId::from_stored("0".repeat(26)),
        _ if ids.is_empty() => Profile::permanent().id,
        _ => pick(numbers, &ids),
    }
}

fn some_workspace(numbers: &mut Seeded, plain: &Plain) -> WorkspaceId {
    if numbers.below(8) == 0 {
        return WorkspaceId::parse("ws_0000000000000000").unwrap();
    }
    pick(numbers, plain.workspaces())
}
