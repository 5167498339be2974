//! Rows of profiles: reading and writing one.

use std::sync::Arc;

use async_trait::async_trait;

use compozy_domain::id::is_ulid;
use compozy_domain::{
    CatalogError, Etag, Profile, ProfileId, ProfileName, ProfileState, Revision, Timestamp,
};

use crate::error::Result;
use crate::open::SqlStore;
use crate::sql::db::{Row, Transaction, Tx, Value};
use crate::sql::select::Conditions;

/// The columns that [`stored_profile`] reads, of `profile p`.
pub(crate) const COLUMNS: &str =
    "p.id, p.name, p.color, p.icon, p.state, p.version, p.created_at, p.updated_at";

/// A row, and why this release does not understand it.
#[derive(Debug, Clone)]
pub(crate) struct StoredProfile {
    pub(crate) profile: Profile,
    pub(crate) defect: Option<String>,
}

impl StoredProfile {
    /// Refuses to change the row if another state than this was to be changed, or if it is not understood.
    pub(crate) fn check_changeable(&self, etag: Option<&Etag>) -> Result<()> {
        self.check_etag(etag)?;
        match &self.defect {
            None => Ok(()),
            Some(defect) => Err(CatalogError::RecordNotUnderstood {
                id: self.profile.id.to_string(),
                defect: defect.clone(),
            }
            .into()),
        }
    }

    pub(crate) fn check_etag(&self, etag: Option<&Etag>) -> Result<()> {
        match etag {
            Some(given) if *given != self.profile.etag() => Err(CatalogError::EtagMismatch {
                id: self.profile.id.to_string(),
            }
            .into()),
            _ => Ok(()),
        }
    }
}

/// Reads a row. One that this release does not understand passes for an archived one: it is listed, and nobody can
/// select it.
pub(crate) fn stored_profile(mut row: Row) -> Result<StoredProfile> {
    let (id, name): (String, String) = (row.take()?, row.take()?);
    let (color, icon, state): (String, String, String) = (row.take()?, row.take()?, row.take()?);
    let defect = defect_of(&id, &name, &state);
    let understood = ProfileState::parse(&state).filter(|_| defect.is_none());
    let profile = Profile {
        id: ProfileId::from_stored(id),
        name: ProfileName::from_stored(name),
        color,
        icon,
        state: understood.unwrap_or(ProfileState::Archived),
        version: row.take()?,
        created_at: Timestamp::from_nanos(row.take()?),
        updated_at: Timestamp::from_nanos(row.take()?),
    };
    Ok(StoredProfile { profile, defect })
}

/// What keeps this release from understanding a row.
pub(crate) fn defect_of(id: &str, name: &str, state: &str) -> Option<String> {
    if !is_ulid(id) {
        return Some("its id is no ULID".to_owned());
    }
    if ProfileName::parse(name).is_err() {
        return Some("its name is not one of a profile".to_owned());
    }
    if ProfileState::parse(state).is_none() {
        return Some("its state is unknown".to_owned());
    }
    None
}

/// The row with this id, locked until the transaction ends.
pub(crate) async fn lock_profile(tx: &mut Tx, id: &ProfileId) -> Result<Option<StoredProfile>> {
    let lock = tx.dialect().for_update();
    locked(tx, id, lock).await
}

/// The same for a row that has to be there.
pub(crate) async fn lock_existing(tx: &mut Tx, id: &ProfileId) -> Result<StoredProfile> {
    existing(lock_profile(tx, id).await?, id)
}

/// A row that has to be there and that nobody changes or removes until the transaction ends.
pub(crate) async fn hold_existing(tx: &mut Tx, id: &ProfileId) -> Result<StoredProfile> {
    let lock = tx.dialect().for_key_share();
    existing(locked(tx, id, lock).await?, id)
}

/// Who waits for a lock reads the row as the last holder left it.
async fn locked(tx: &mut Tx, id: &ProfileId, lock: &str) -> Result<Option<StoredProfile>> {
    let sql = format!("SELECT {COLUMNS} FROM profile p WHERE p.id = $1{lock}");
    let row = tx.row(&sql, &[id.as_str().into()]).await?;
    row.map(stored_profile).transpose()
}

fn existing(found: Option<StoredProfile>, id: &ProfileId) -> Result<StoredProfile> {
    found.ok_or_else(|| {
        CatalogError::ProfileNotFound {
            reference: id.to_string(),
        }
        .into()
    })
}

/// Inserts a row.
pub(crate) async fn insert(tx: &mut Tx, profile: &Profile) -> Result<()> {
    let sql = "INSERT INTO profile (id, name, color, icon, state, version, updated_at, created_at) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let mut binds = record_binds(profile);
    binds.push(profile.created_at.into());
    tx.execute(sql, &binds).await?;
    Ok(())
}

/// Writes every field of a row that can change.
pub(crate) async fn replace(tx: &mut Tx, profile: &Profile) -> Result<()> {
    let sql = "UPDATE profile SET name = $2, color = $3, icon = $4, state = $5, version = $6, updated_at = $7 \
               WHERE id = $1";
    tx.execute(sql, &record_binds(profile)).await?;
    Ok(())
}

fn record_binds(profile: &Profile) -> Vec<Value> {
    let Profile {
        id,
        name,
        color,
        icon,
        state,
        version,
        created_at: _,
        updated_at,
    } = profile;
    vec![
        id.as_str().into(),
        name.as_str().into(),
        color.as_str().into(),
        icon.as_str().into(),
        state.as_str().into(),
        (*version).into(),
        (*updated_at).into(),
    ]
}

/// All profiles that meet the conditions, by id.
struct Select {
    conditions: Conditions,
    limit: Option<u32>,
}

#[async_trait]
impl Transaction for Select {
    type Output = Vec<Profile>;

    async fn run(&self, tx: &mut Tx) -> Result<Vec<Profile>> {
        let limit = self
            .limit
            .map(|rows| format!(" LIMIT {rows}"))
            .unwrap_or_default();
        let sql = format!(
            "SELECT {COLUMNS} FROM profile p{} ORDER BY p.id{limit}",
            self.conditions.clause()
        );
        let rows = tx.rows(&sql, self.conditions.binds()).await?;
        rows.into_iter()
            .map(|row| Ok(stored_profile(row)?.profile))
            .collect()
    }
}

/// One profile and the head of the log, in one statement.
struct Find {
    column: &'static str,
    value: String,
}

#[async_trait]
impl Transaction for Find {
    type Output = (Option<Profile>, Revision);

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output> {
        let sql = format!(
            "SELECT h.epoch, h.head, p.id IS NOT NULL, {COLUMNS} FROM change_head h \
             LEFT JOIN profile p ON p.{} = $1 WHERE h.one = 1",
            self.column
        );
        let mut row = tx.one(&sql, &[self.value.as_str().into()]).await?;
        let revision = Revision {
            epoch: row.take()?,
            position: row.take()?,
        };
        let exists: bool = row.take()?;
        if !exists {
            return Ok((None, revision));
        }
        Ok((Some(stored_profile(row)?.profile), revision))
    }
}

struct Names;

#[async_trait]
impl Transaction for Names {
    type Output = Vec<ProfileName>;

    async fn run(&self, tx: &mut Tx) -> Result<Vec<ProfileName>> {
        let mut names = Vec::new();
        for mut row in tx.rows("SELECT name FROM profile ORDER BY name", &[]).await? {
            // What is no name is that of no directory either.
            names.extend(ProfileName::parse(&row.take::<String>()?));
        }
        Ok(names)
    }
}

impl SqlStore {
    pub(crate) async fn profile_with(
        &self,
        column: &'static str,
        value: &str,
    ) -> Result<(Option<Profile>, Revision)> {
        let value = value.to_owned();
        self.db().read_one(Arc::new(Find { column, value })).await
    }

    pub(crate) async fn profiles_with_ids(&self, ids: &[ProfileId]) -> Result<Vec<Profile>> {
        let mut conditions = Conditions::default();
        conditions.and_one_of("p.id", ids.iter().map(ProfileId::as_str));
        let limit = None;
        self.db().read_one(Arc::new(Select { conditions, limit })).await
    }

    pub(crate) async fn profiles_by_id(&self, after: Option<&ProfileId>, limit: u32) -> Result<Vec<Profile>> {
        let mut conditions = Conditions::default();
        if let Some(after) = after {
            let after = conditions.bind(after.as_str());
            conditions.and(format!("p.id > {after}"));
        }
        let limit = Some(limit);
        self.db().read_one(Arc::new(Select { conditions, limit })).await
    }

    pub(crate) async fn names_of_profiles(&self) -> Result<Vec<ProfileName>> {
        self.db().read_one(Arc::new(Names)).await
    }
}
