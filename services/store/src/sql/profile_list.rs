//! Counted pages of profiles, by name: total and revision from the snapshot of the rows.

use async_trait::async_trait;

use compozy_domain::{Page, Profile, ProfileState, Revision};

use crate::error::Result;
use crate::profiles::ListProfiles;
use crate::sql::db::{Transaction, Tx};
use crate::sql::profile_rows::{COLUMNS, stored_profile};
use crate::sql::select::Conditions;

/// One page to read.
pub(super) struct List(pub(super) ListProfiles);

#[async_trait]
impl Transaction for List {
    type Output = Page<Profile>;

    async fn run(&self, tx: &mut Tx) -> Result<Page<Profile>> {
        let List(list) = self;
        let pending = tx.dialect().pending_count();
        let sql = format!("SELECT epoch, head, {pending} FROM change_head WHERE one = 1");
        let mut row = tx.one(&sql, &[]).await?;
        let revision = Revision {
            epoch: row.take()?,
            position: row.take()?,
        };
        let pending: i64 = row.take()?;
        let total = match &list.counted {
            // The log stands where it stood and nothing waits to join it: the count is still true.
            Some((counted_at, total)) if *counted_at == revision && pending == 0 => *total,
            _ => count(tx, list).await?,
        };
        let mut rows = page_rows(tx, list).await?;
        let limit = list.limit.get() as usize;
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        Ok(Page {
            rows,
            total,
            has_more,
            revision,
        })
    }
}

async fn count(tx: &mut Tx, list: &ListProfiles) -> Result<u64> {
    let conditions = matches(list);
    let sql = format!("SELECT COUNT(*) FROM profile p{}", conditions.clause());
    let count: i64 = tx.one(&sql, conditions.binds()).await?.take()?;
    Ok(count.unsigned_abs())
}

async fn page_rows(tx: &mut Tx, list: &ListProfiles) -> Result<Vec<Profile>> {
    let mut conditions = matches(list);
    if let Some(after) = &list.after {
        let after = conditions.bind(after.as_str());
        conditions.and(format!("p.name > {after}"));
    }
    let sql = format!(
        "SELECT {COLUMNS} FROM profile p{} ORDER BY p.name LIMIT {}",
        conditions.clause(),
        list.limit.get() + 1
    );
    let rows = tx.rows(&sql, conditions.binds()).await?;
    rows.into_iter()
        .map(|row| Ok(stored_profile(row)?.profile))
        .collect()
}

fn matches(list: &ListProfiles) -> Conditions {
    let mut conditions = Conditions::default();
    let active = ProfileState::Active.as_str();
    let wants = |state| list.states.contains(&state);
    match (wants(ProfileState::Active), wants(ProfileState::Archived)) {
        (true, false) => {
            let active = conditions.bind(active);
            conditions.and(format!("p.state = {active}"));
        }
        // A state that this release does not know passes for archived.
        (false, true) => {
            let active = conditions.bind(active);
            conditions.and(format!("p.state <> {active}"));
        }
        (true, true) | (false, false) => {}
    }
    conditions
}
