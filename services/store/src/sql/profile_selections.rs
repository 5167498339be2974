//! Which profile is selected: one row for each workspace, and one with an empty workspace for everything else.

use std::sync::Arc;

use async_trait::async_trait;

use compozy_domain::profile::Selection;
use compozy_domain::{
    CatalogError, ChangeKind, ChangeOp, ChangeReason, HostId, NewChange, Profile, ProfileId, ProfileName,
    ProfileState, Revision, Visibility, WorkspaceId,
};

use crate::error::Result;
use crate::open::SqlStore;
use crate::profiles::{SelectProfile, Selected, Selections};
use crate::sql::append::append;
use crate::sql::db::{Row, Transaction, Tx};
use crate::sql::profile_rows::{COLUMNS, hold_existing, stored_profile};
use crate::sql::remember::{Mutation, Scope};
use crate::sql::select::Conditions;

/// Stands for everything that has no selection of its own.
const EVERYTHING_ELSE: &str = "";
/// Stands for a selection that was forgotten.
const NOTHING: &str = "";

#[async_trait]
impl Mutation for SelectProfile {
    type Output = Selected;

    async fn apply(&self, tx: &mut Tx, scope: &Scope<'_>) -> Result<Selected> {
        let host_id = match &self.workspace_id {
            Some(id) => hold_workspace(tx, id, scope.visibility).await?,
            None => self.host_id.clone(),
        };
        let profile = match &self.profile_id {
            Some(id) => Some(selectable(tx, id).await?),
            None => None,
        };
        let version = match &self.profile_id {
            Some(id) => remember(tx, self.workspace_id.as_ref(), id).await?,
            None => forget(tx, self.workspace_id.as_ref()).await?,
        };
        if let Some(version) = version {
            append(tx, &self.change(host_id, version, scope)).await?;
        }
        Ok(Selected {
            workspace_id: self.workspace_id.clone(),
            profile,
        })
    }
}

impl SelectProfile {
    fn change(&self, host_id: HostId, version: i64, scope: &Scope<'_>) -> NewChange {
        let (op, reason) = match &self.profile_id {
            Some(_) => (ChangeOp::Upserted, ChangeReason::Updated),
            None => (ChangeOp::Deleted, ChangeReason::Removed),
        };
        NewChange {
            kind: ChangeKind::Selection,
            op,
            reason,
            host_id,
            workspace_id: self.workspace_id.clone(),
            from_workspace_id: None,
            session_id: None,
            profile_id: self.profile_id.clone(),
            internal: false,
            version,
            session_count: 0,
            at: scope.now,
        }
    }
}

/// The host of a workspace that nobody removes until the transaction ends.
async fn hold_workspace(tx: &mut Tx, id: &WorkspaceId, visibility: &Visibility) -> Result<HostId> {
    let lock = tx.dialect().for_key_share();
    let sql = format!("SELECT host_id FROM workspace WHERE id = $1{lock}");
    let row = if visibility.includes(id) {
        tx.row(&sql, &[id.as_str().into()]).await?
    } else {
        None
    };
    let Some(mut row) = row else {
        return Err(CatalogError::WorkspaceNotFound {
            reference: id.to_string(),
        }
        .into());
    };
    Ok(HostId::from_stored(row.take()?))
}

/// A profile that can be selected, and stays so until the transaction ends.
async fn selectable(tx: &mut Tx, id: &ProfileId) -> Result<Profile> {
    let permanent = Profile::permanent();
    if *id == permanent.id {
        return Ok(permanent);
    }
    let profile = hold_existing(tx, id).await?.profile;
    match profile.state {
        ProfileState::Active => Ok(profile),
        ProfileState::Archived => Err(CatalogError::ProfileArchived {
            name: profile.name.as_str().to_owned(),
        }
        .into()),
    }
}

/// Answers the selection's new version, or `None` if it was this profile's already.
async fn remember(tx: &mut Tx, workspace: Option<&WorkspaceId>, profile: &ProfileId) -> Result<Option<i64>> {
    let sql = "INSERT INTO profile_selection (workspace_id, profile_id, version) VALUES ($1, $2, 1) \
               ON CONFLICT (workspace_id) DO UPDATE \
               SET profile_id = excluded.profile_id, version = profile_selection.version + 1 \
               WHERE profile_selection.profile_id <> excluded.profile_id RETURNING version";
    let binds = [key(workspace).into(), profile.as_str().into()];
    tx.row(sql, &binds).await?.map(|mut row| row.take()).transpose()
}

/// Answers the selection's last version, or `None` if nothing was remembered.
async fn forget(tx: &mut Tx, workspace: Option<&WorkspaceId>) -> Result<Option<i64>> {
    let sql = "UPDATE profile_selection SET profile_id = $2, version = version + 1 \
               WHERE workspace_id = $1 AND profile_id <> $2 RETURNING version";
    let binds = [key(workspace).into(), NOTHING.into()];
    tx.row(sql, &binds).await?.map(|mut row| row.take()).transpose()
}

/// Forgets every selection of a profile whose row the transaction has locked. No entry tells: that of the profile
/// stands for it.
pub(super) async fn forget_selections_of(tx: &mut Tx, profile: &ProfileId) -> Result<()> {
    let lock = tx.dialect().for_update();
    let binds = [profile.as_str().into(), NOTHING.into()];
    if !lock.is_empty() {
        // In the order in which a prune meets them.
        let sql = format!(
            "SELECT workspace_id FROM profile_selection WHERE profile_id = $1 ORDER BY workspace_id{lock}"
        );
        tx.rows(&sql, &binds[..1]).await?;
    }
    let sql = "UPDATE profile_selection SET profile_id = $2 WHERE profile_id = $1";
    tx.execute(sql, &binds).await?;
    Ok(())
}

/// Removes the selection of a workspace together with it: its id never comes back.
pub(super) async fn forget_selection(tx: &mut Tx, workspace: &WorkspaceId) -> Result<()> {
    let sql = "DELETE FROM profile_selection WHERE workspace_id = $1";
    tx.execute(sql, &[workspace.as_str().into()]).await?;
    Ok(())
}

fn key(workspace: Option<&WorkspaceId>) -> &str {
    workspace.map_or(EVERYTHING_ELSE, WorkspaceId::as_str)
}

/// What is remembered for a workspace and for everything else, and the head of the log, in one statement.
struct Remembered {
    workspace: Option<WorkspaceId>,
}

#[async_trait]
impl Transaction for Remembered {
    type Output = Selections;

    async fn run(&self, tx: &mut Tx) -> Result<Selections> {
        let sql = format!(
            "SELECT h.epoch, h.head, COALESCE(s.workspace_id, ''), COALESCE(s.profile_id, ''), p.id IS NOT NULL, \
             {COLUMNS} FROM change_head h LEFT JOIN profile_selection s ON s.workspace_id IN ($1, $2) \
             LEFT JOIN profile p ON p.id = s.profile_id WHERE h.one = 1"
        );
        let binds = [EVERYTHING_ELSE.into(), key(self.workspace.as_ref()).into()];
        let (mut workspace, mut global, mut revision) = (None, None, None);
        for mut row in tx.rows(&sql, &binds).await? {
            revision = Some(Revision {
                epoch: row.take()?,
                position: row.take()?,
            });
            let of: String = row.take()?;
            let profile = selected(row)?;
            if of == EVERYTHING_ELSE {
                global = profile;
            } else {
                workspace = profile;
            }
        }
        let missing = || crate::error::Error::Corrupt("the change log has no head".into());
        Ok(Selections {
            workspace,
            global,
            revision: revision.ok_or_else(missing)?,
        })
    }
}

/// Reads the profile of a selection; `None` for one that was forgotten, or whose profile is not there.
fn selected(mut row: Row) -> Result<Option<Profile>> {
    let id: String = row.take()?;
    let exists: bool = row.take()?;
    if id == ProfileName::DEFAULT {
        return Ok(Some(Profile::permanent()));
    }
    if !exists {
        return Ok(None);
    }
    Ok(Some(stored_profile(row)?.profile))
}

struct Current(Conditions);

#[async_trait]
impl Transaction for Current {
    type Output = Vec<Selection>;

    async fn run(&self, tx: &mut Tx) -> Result<Vec<Selection>> {
        let Current(conditions) = self;
        let sql = format!(
            "SELECT workspace_id, profile_id FROM profile_selection{}",
            conditions.clause()
        );
        let mut found = Vec::new();
        for mut row in tx.rows(&sql, conditions.binds()).await? {
            let workspace_id: String = row.take()?;
            found.push(Selection {
                workspace_id: Some(workspace_id)
                    .filter(|id| id != EVERYTHING_ELSE)
                    .map(WorkspaceId::from_stored),
                profile_id: ProfileId::from_stored(row.take()?),
            });
        }
        Ok(found)
    }
}

impl SqlStore {
    pub(super) async fn selections_for(&self, workspace: Option<&WorkspaceId>) -> Result<Selections> {
        let workspace = workspace.cloned();
        self.db().read_one(Arc::new(Remembered { workspace })).await
    }

    pub(super) async fn selections_of(
        &self,
        workspaces: &[WorkspaceId],
        global: bool,
    ) -> Result<Vec<Selection>> {
        let global = global.then_some(EVERYTHING_ELSE);
        let mut conditions = Conditions::default();
        conditions.and_one_of(
            "workspace_id",
            workspaces.iter().map(WorkspaceId::as_str).chain(global),
        );
        let nothing = conditions.bind(NOTHING);
        conditions.and(format!("profile_id <> {nothing}"));
        self.db().read_one(Arc::new(Current(conditions))).await
    }
}
