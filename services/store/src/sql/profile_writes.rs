//! Writing profiles: every write locks the row before it looks at it, and appends its change last.

use std::sync::Arc;

use async_trait::async_trait;

use compozy_domain::profile::Selection;
use compozy_domain::{
    CatalogError, ChangeKind, ChangeOp, ChangeReason, HostId, NewChange, Page, Profile, ProfileId,
    ProfileName, ProfileState, Revision, WorkspaceId,
};

use crate::call::{Answer, Call};
use crate::error::Result;
use crate::open::SqlStore;
use crate::profiles::{
    CreateProfile, DeleteProfile, ListProfiles, ProfileStore, RenameProfile, SelectProfile, Selected,
    Selections, SetProfileState, UpdateProfile,
};
use crate::sql::append::append;
use crate::sql::db::Tx;
use crate::sql::intents::end_own;
use crate::sql::profile_list::List;
use crate::sql::profile_rows::{COLUMNS, insert, lock_existing, lock_profile, replace, stored_profile};
use crate::sql::profile_selections::forget_selections_of;
use crate::sql::remember::{Mutation, Scope};
use crate::sql::session_reads::count_of_profile;

#[async_trait]
impl ProfileStore for SqlStore {
    async fn find_profile(&self, id: &ProfileId) -> Result<(Option<Profile>, Revision)> {
        self.profile_with("id", id.as_str()).await
    }

    async fn find_profile_by_name(&self, name: &ProfileName) -> Result<(Option<Profile>, Revision)> {
        self.profile_with("name", name.as_str()).await
    }

    async fn find_profiles(&self, ids: &[ProfileId]) -> Result<Vec<Profile>> {
        self.profiles_with_ids(ids).await
    }

    async fn profile_names(&self) -> Result<Vec<ProfileName>> {
        self.names_of_profiles().await
    }

    async fn list_profiles(&self, list: &ListProfiles) -> Result<Page<Profile>> {
        self.db().read(Arc::new(List(list.clone()))).await
    }

    async fn profiles_above(&self, after: Option<&ProfileId>, limit: u32) -> Result<Vec<Profile>> {
        self.profiles_by_id(after, limit).await
    }

    async fn create_profile(&self, create: CreateProfile, call: Call<Profile>) -> Result<Answer<Profile>> {
        self.write(create, call).await
    }

    async fn update_profile(&self, update: UpdateProfile, call: Call<Profile>) -> Result<Answer<Profile>> {
        self.write(update, call).await
    }

    async fn rename_profile(&self, rename: RenameProfile, call: Call<Profile>) -> Result<Answer<Profile>> {
        self.write(rename, call).await
    }

    async fn set_profile_state(&self, set: SetProfileState, call: Call<Profile>) -> Result<Answer<Profile>> {
        self.write(set, call).await
    }

    async fn delete_profile(
        &self,
        delete: DeleteProfile,
        call: Call<Option<ProfileId>>,
    ) -> Result<Answer<Option<ProfileId>>> {
        self.write(delete, call).await
    }

    async fn select_profile(&self, select: SelectProfile, call: Call<Selected>) -> Result<Answer<Selected>> {
        self.write(select, call).await
    }

    async fn selections(&self, workspace: Option<&WorkspaceId>) -> Result<Selections> {
        self.selections_for(workspace).await
    }

    async fn find_selections(&self, workspaces: &[WorkspaceId], global: bool) -> Result<Vec<Selection>> {
        self.selections_of(workspaces, global).await
    }
}

#[async_trait]
impl Mutation for CreateProfile {
    type Output = Profile;

    async fn apply(&self, tx: &mut Tx, scope: &Scope<'_>) -> Result<Profile> {
        check_name_free(tx, &self.name).await?;
        let profile = Profile {
            id: self.id.clone(),
            name: self.name.clone(),
            color: self.color.clone(),
            icon: self.icon.clone(),
            state: ProfileState::Active,
            version: 1,
            created_at: scope.now,
            updated_at: scope.now,
        };
        insert(tx, &profile).await?;
        append_record(tx, &profile, ChangeReason::Created, &self.host_id, scope).await?;
        Ok(profile)
    }
}

#[async_trait]
impl Mutation for UpdateProfile {
    type Output = Profile;

    async fn apply(&self, tx: &mut Tx, scope: &Scope<'_>) -> Result<Profile> {
        let stored = lock_existing(tx, &self.id).await?;
        stored.check_changeable(self.etag.as_ref())?;
        let current = stored.profile;
        let mut next = current.clone();
        if let Some(color) = &self.update.color {
            next.color.clone_from(color);
        }
        if let Some(icon) = &self.update.icon {
            next.icon.clone_from(icon);
        }
        if next == current {
            return Ok(current);
        }
        write_next(tx, next, ChangeReason::Updated, &self.host_id, scope).await
    }
}

#[async_trait]
impl Mutation for RenameProfile {
    type Output = Profile;

    async fn apply(&self, tx: &mut Tx, scope: &Scope<'_>) -> Result<Profile> {
        let stored = lock_existing(tx, &self.id).await?;
        stored.check_changeable(self.etag.as_ref())?;
        let mut next = stored.profile;
        if next.name == self.name {
            end_own(tx, self.intent.as_ref()).await?;
            return Ok(next);
        }
        check_name_free(tx, &self.name).await?;
        next.name = self.name.clone();
        end_own(tx, self.intent.as_ref()).await?;
        write_next(tx, next, ChangeReason::Renamed, &self.host_id, scope).await
    }
}

#[async_trait]
impl Mutation for SetProfileState {
    type Output = Profile;

    async fn apply(&self, tx: &mut Tx, scope: &Scope<'_>) -> Result<Profile> {
        let stored = lock_existing(tx, &self.id).await?;
        stored.check_changeable(self.etag.as_ref())?;
        let mut next = stored.profile;
        if next.state == self.state {
            return Ok(next);
        }
        next.state = self.state;
        let reason = match self.state {
            ProfileState::Active => ChangeReason::Unarchived,
            ProfileState::Archived => ChangeReason::Archived,
        };
        write_next(tx, next, reason, &self.host_id, scope).await
    }
}

#[async_trait]
impl Mutation for DeleteProfile {
    type Output = Option<ProfileId>;

    async fn apply(&self, tx: &mut Tx, scope: &Scope<'_>) -> Result<Option<ProfileId>> {
        let Some(stored) = lock_profile(tx, &self.id).await? else {
            if self.allow_missing {
                return Ok(None);
            }
            return Err(CatalogError::ProfileNotFound {
                reference: self.id.to_string(),
            }
            .into());
        };
        // One that this release does not understand can go: somebody named it.
        stored.check_etag(self.etag.as_ref())?;
        let Profile {
            id, name, version, ..
        } = stored.profile;
        // Who makes a session holds its profile, so none comes after this look.
        let session_count = count_of_profile(tx, &id).await?;
        if session_count > 0 {
            return Err(CatalogError::ProfileInUse {
                name: name.as_str().to_owned(),
                session_count,
            }
            .into());
        }
        forget_selections_of(tx, &id).await?;
        tx.execute("DELETE FROM profile WHERE id = $1", &[id.as_str().into()])
            .await?;
        let what = (ChangeOp::Deleted, ChangeReason::Removed);
        append(tx, &change(what, &id, version + 1, &self.host_id, scope)).await?;
        Ok(Some(id))
    }
}

/// Refuses a name that another profile has.
async fn check_name_free(tx: &mut Tx, name: &ProfileName) -> Result<()> {
    let sql = format!("SELECT {COLUMNS} FROM profile p WHERE p.name = $1");
    let Some(row) = tx.row(&sql, &[name.as_str().into()]).await? else {
        return Ok(());
    };
    let holder = stored_profile(row)?.profile;
    Err(CatalogError::ProfileNameConflict {
        name: name.as_str().to_owned(),
        is_archived: holder.state == ProfileState::Archived,
    }
    .into())
}

/// Writes a changed record as its next state.
async fn write_next(
    tx: &mut Tx,
    mut next: Profile,
    reason: ChangeReason,
    host: &HostId,
    scope: &Scope<'_>,
) -> Result<Profile> {
    next.version += 1;
    next.updated_at = scope.now;
    replace(tx, &next).await?;
    append_record(tx, &next, reason, host, scope).await?;
    Ok(next)
}

async fn append_record(
    tx: &mut Tx,
    profile: &Profile,
    reason: ChangeReason,
    host: &HostId,
    scope: &Scope<'_>,
) -> Result<()> {
    let what = (ChangeOp::Upserted, reason);
    append(tx, &change(what, &profile.id, profile.version, host, scope)).await
}

fn change(
    (op, reason): (ChangeOp, ChangeReason),
    profile_id: &ProfileId,
    version: i64,
    host: &HostId,
    scope: &Scope<'_>,
) -> NewChange {
    NewChange {
        kind: ChangeKind::Profile,
        op,
        reason,
        host_id: host.clone(),
        workspace_id: None,
        from_workspace_id: None,
        session_id: None,
        profile_id: Some(profile_id.clone()),
        internal: false,
        version,
        session_count: 0,
        at: scope.now,
    }
}
