//! Profiles: their rows, their personal directories, and which one is selected.

pub mod active;
pub(super) mod directory;
mod rename;

use std::sync::Arc;

use compozy_domain::profile::ProfileUpdate;
use compozy_domain::{
    CatalogError, Etag, HostId, PageLimit, Profile, ProfileId, ProfileName, ProfileState, Revision, Scope,
    Visibility,
};
use compozy_store::{
    CreateProfile, DeleteProfile, ListProfiles, SelectProfile, Selected, SetProfileState, UpdateProfile,
    Written,
};

use self::directory::{Directories, Ensured};
use super::{Caller, Reference, Registry, Reply, WriteCall, within};

/// A profile that a caller wants to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateWanted {
    /// Its name.
    pub name: ProfileName,
    /// Its color.
    pub color: String,
    /// Its icon.
    pub icon: String,
}

/// A profile that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Created {
    /// The record.
    pub profile: Written<Profile>,
    /// Whether its directory was there before.
    pub adopted_directory: bool,
}

/// One profile, and in which state it has to be to be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileNamed {
    /// Name or id.
    pub reference: String,
    /// Only in this state.
    pub etag: Option<Etag>,
}

/// A page of profiles to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfilesWanted {
    /// Only these states; empty is all.
    pub states: Vec<ProfileState>,
    /// The last row of the page before.
    pub after: Option<ProfileName>,
    /// How many rows.
    pub limit: PageLimit,
    /// Total and revision of the page before.
    pub counted: Option<(Revision, u64)>,
}

/// A page of profiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfilesPage {
    /// The rows: the permanent one first.
    pub rows: Vec<Profile>,
    /// Exact number of matches over all pages.
    pub total: u64,
    /// Whether rows follow.
    pub has_more: bool,
    /// Head of the change log.
    pub revision: Revision,
}

/// A selection that a caller wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectWanted {
    /// For this workspace; `None` for everything that has no selection of its own.
    pub workspace: Option<Reference>,
    /// Name or id; `None` forgets.
    pub profile: Option<String>,
}

impl Registry {
    /// Makes a profile. Its directory comes first, so that whoever is answered finds it; one that was made for nothing
    /// is taken away again.
    ///
    /// # Errors
    /// [`CatalogError::ProfileNameConflict`], and what may be wrong with the directory.
    pub async fn create_profile(
        self: Arc<Self>,
        call: WriteCall<Created>,
        wanted: CreateWanted,
    ) -> Result<Reply<Created>, CatalogError> {
        require_unlimited(&call.caller)?;
        self.carry_out(call, move |registry, call| async move {
            let CreateWanted { name, color, icon } = wanted;
            let deadline = call.caller.deadline;
            let directories = registry.profile_directories();
            registry.settle_renames_of(&[directories.path(&name)]).await?;
            let _lock = within(
                deadline,
                registry.store.lock_path(&registry.host, &directories.path(&name)),
            )
            .await?;
            registry.require_free_name(&call.caller, &name).await?;
            let (made_in, made) = (directories.clone(), name.clone());
            let ensured = registry.touch(move |_| made_in.ensure(&made)).await??;
            let create = CreateProfile {
                id: ProfileId::generate(registry.now(), registry.random.as_ref())?,
                name: name.clone(),
                color,
                icon,
                host_id: no_host(),
            };
            let outcome = move |written: &Written<Profile>| Created {
                profile: written.clone(),
                adopted_directory: ensured == Ensured::Adopted,
            };
            let reply = registry
                .write(&call, outcome, |call| registry.store.create_profile(create, call))
                .await;
            if ensured == Ensured::Made && registry.is_known_to_be_unwritten(&reply) {
                let removed = registry.touch(move |_| directories.remove_empty(&name)).await;
                if let Err(error) | Ok(Err(error)) = removed {
                    tracing::warn!(%error, "the directory of a profile that was not made stays");
                }
            }
            reply
        })
        .await
    }

    /// One profile, and the head of the change log in its snapshot.
    ///
    /// # Errors
    /// [`CatalogError::ProfileNotFound`].
    pub async fn get_profile(
        &self,
        caller: &Caller,
        reference: &str,
    ) -> Result<(Profile, Revision), CatalogError> {
        let reference = reference.trim();
        if reference == ProfileName::DEFAULT {
            let head = within(caller.deadline, self.store.head()).await?.head;
            return Ok((Profile::permanent(), head));
        }
        let found = if ProfileName::is_well_formed(reference) {
            let name = ProfileName::from_stored(reference.to_owned());
            within(caller.deadline, self.store.find_profile_by_name(&name)).await?
        } else if let Some(id) = ProfileId::parse(reference) {
            within(caller.deadline, self.store.find_profile(&id)).await?
        } else {
            return Err(profile_not_found(reference));
        };
        let (profile, revision) = found;
        Ok((profile.ok_or_else(|| profile_not_found(reference))?, revision))
    }

    /// A counted page. The permanent profile is no row of the store: it comes first, and counts.
    ///
    /// # Errors
    /// What the store answers.
    pub async fn list_profiles(
        &self,
        caller: &Caller,
        wanted: ProfilesWanted,
    ) -> Result<ProfilesPage, CatalogError> {
        let ProfilesWanted {
            states,
            after,
            limit,
            counted,
        } = wanted;
        let with_permanent = states.is_empty() || states.contains(&ProfileState::Active);
        let extra = u64::from(with_permanent);
        // Behind the permanent profile the walk begins at the first row of the store.
        let begins = after.is_none();
        let list = ListProfiles {
            states,
            after: after.filter(|name| !name.is_permanent()),
            limit,
            counted: counted.map(|(revision, total)| (revision, total.saturating_sub(extra))),
        };
        let page = within(caller.deadline, self.store.list_profiles(&list)).await?;
        let mut rows = page.rows;
        let mut has_more = page.has_more;
        if begins && with_permanent {
            rows.insert(0, Profile::permanent());
            let most = usize::try_from(limit.get()).unwrap_or(usize::MAX);
            has_more |= rows.len() > most;
            rows.truncate(most);
        }
        Ok(ProfilesPage {
            rows,
            total: page.total + extra,
            has_more,
            revision: page.revision,
        })
    }

    /// Changes how a profile is shown.
    ///
    /// # Errors
    /// [`CatalogError::ProfileNotFound`], [`CatalogError::ProfilePermanent`], [`CatalogError::EtagMismatch`].
    pub async fn update_profile(
        self: Arc<Self>,
        call: WriteCall<Written<Profile>>,
        (named, update): (ProfileNamed, ProfileUpdate),
    ) -> Result<Reply<Written<Profile>>, CatalogError> {
        require_unlimited(&call.caller)?;
        self.carry_out(call, move |registry, call| async move {
            let update = UpdateProfile {
                id: registry.changeable(&call.caller, &named.reference).await?.id,
                update,
                etag: named.etag,
                host_id: no_host(),
            };
            registry
                .write(&call, Written::clone, |call| {
                    registry.store.update_profile(update, call)
                })
                .await
        })
        .await
    }

    /// Archives or unarchives a profile.
    ///
    /// # Errors
    /// [`CatalogError::ProfileNotFound`], [`CatalogError::ProfilePermanent`], [`CatalogError::EtagMismatch`].
    pub async fn set_profile_state(
        self: Arc<Self>,
        call: WriteCall<Written<Profile>>,
        (named, state): (ProfileNamed, ProfileState),
    ) -> Result<Reply<Written<Profile>>, CatalogError> {
        require_unlimited(&call.caller)?;
        self.carry_out(call, move |registry, call| async move {
            let set = SetProfileState {
                id: registry.changeable(&call.caller, &named.reference).await?.id,
                state,
                etag: named.etag,
                host_id: no_host(),
            };
            registry
                .write(&call, Written::clone, |call| {
                    registry.store.set_profile_state(set, call)
                })
                .await
        })
        .await
    }

    /// Removes a profile. Its directories stay.
    ///
    /// # Errors
    /// [`CatalogError::ProfileNotFound`], [`CatalogError::ProfilePermanent`], [`CatalogError::ProfileInUse`],
    /// [`CatalogError::EtagMismatch`].
    pub async fn delete_profile(
        self: Arc<Self>,
        call: WriteCall<Written<Option<ProfileId>>>,
        (named, allow_missing): (ProfileNamed, bool),
    ) -> Result<Reply<Written<Option<ProfileId>>>, CatalogError> {
        require_unlimited(&call.caller)?;
        self.carry_out(call, move |registry, call| async move {
            let id = match registry.changeable(&call.caller, &named.reference).await {
                Ok(profile) => profile.id,
                // One that nobody has: the store keeps the answer for a repetition.
                Err(CatalogError::ProfileNotFound { .. }) if allow_missing => {
                    ProfileId::generate(registry.now(), registry.random.as_ref())?
                }
                Err(error) => return Err(error),
            };
            let delete = DeleteProfile {
                id,
                allow_missing,
                etag: named.etag,
                host_id: no_host(),
            };
            registry
                .write(&call, Written::clone, |call| {
                    registry.store.delete_profile(delete, call)
                })
                .await
        })
        .await
    }

    /// Remembers or forgets a selection.
    ///
    /// # Errors
    /// [`CatalogError::ProfileNotFound`], [`CatalogError::ProfileArchived`], and what a reference may meet.
    pub async fn select_profile(
        self: Arc<Self>,
        call: WriteCall<Written<Selected>>,
        wanted: SelectWanted,
    ) -> Result<Reply<Written<Selected>>, CatalogError> {
        if wanted.workspace.is_none() {
            require_unlimited(&call.caller)?;
        }
        self.carry_out(call, move |registry, call| async move {
            let SelectWanted { workspace, profile } = wanted;
            let workspace = match workspace {
                Some(reference) => Some(registry.find(&call.caller, &reference).await?),
                None => None,
            };
            let profile_id = match profile {
                Some(reference) => Some(registry.get_profile(&call.caller, &reference).await?.0.id),
                None => None,
            };
            let select = SelectProfile {
                host_id: workspace
                    .as_ref()
                    .map_or_else(no_host, |workspace| workspace.host_id.clone()),
                workspace_id: workspace.map(|workspace| workspace.id),
                profile_id,
            };
            registry
                .write(&call, Written::clone, |call| {
                    registry.store.select_profile(select, call)
                })
                .await
        })
        .await
    }

    pub(super) fn profile_directories(&self) -> Directories {
        Directories::of(&self.settings.catalog_home)
    }

    /// A profile that may be changed.
    async fn changeable(&self, caller: &Caller, reference: &str) -> Result<Profile, CatalogError> {
        let (profile, _) = self.get_profile(caller, reference).await?;
        if profile.name.is_permanent() {
            return Err(CatalogError::ProfilePermanent);
        }
        Ok(profile)
    }

    async fn require_free_name(&self, caller: &Caller, name: &ProfileName) -> Result<(), CatalogError> {
        let (found, _) = within(caller.deadline, self.store.find_profile_by_name(name)).await?;
        match found {
            None => Ok(()),
            Some(holder) => Err(CatalogError::ProfileNameConflict {
                name: name.to_string(),
                is_archived: holder.state == ProfileState::Archived,
            }),
        }
    }

    /// Whether a write certainly wrote no row.
    fn is_known_to_be_unwritten<O>(&self, reply: &Result<Reply<O>, CatalogError>) -> bool {
        match reply {
            Ok(Reply::Fresh(_))
            | Err(
                CatalogError::StoreUnavailable {
                    outcome_unknown: true,
                }
                | CatalogError::Defect { .. },
            ) => false,
            Ok(Reply::Remembered(_)) | Err(_) => true,
        }
    }
}

/// Profiles are everybody's: a caller who is limited to some workspaces may not change them.
fn require_unlimited(caller: &Caller) -> Result<(), CatalogError> {
    match caller.principal.visibility {
        Visibility::All => Ok(()),
        Visibility::Only(_) => Err(CatalogError::ScopeDenied {
            scope: Scope::Write.as_str(),
        }),
    }
}

/// A profile lies on no host in particular.
fn no_host() -> HostId {
    HostId::from_stored(String::new())
}

/// No such profile, in the same words for a name and an id.
fn profile_not_found(reference: &str) -> CatalogError {
    CatalogError::ProfileNotFound {
        reference: reference.chars().take(64).collect(),
    }
}
