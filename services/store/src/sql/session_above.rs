//! Sessions by id, page by page, for the snapshots of watches.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use compozy_domain::session::filter::{Archive, SessionFilter};
use compozy_domain::{SessionAt, SessionId, Timestamp, Visibility, WatchFilter, WorkspaceId};

use crate::error::{Error, Result};
use crate::open::SqlStore;
use crate::sql::db::{Transaction, Tx};
use crate::sql::dialect::Dialect;
use crate::sql::select::Conditions;
use crate::sql::session_filter::{Places, Wanted};
use crate::sql::session_keys::{Branch, Key, Stage, first_keys};
use crate::sql::session_list::sessions_of;
use crate::sql::session_rows::session_now;

struct Above {
    after: Option<SessionId>,
    filter: WatchFilter,
    limit: u32,
    visibility: Visibility,
    now: Timestamp,
}

#[async_trait]
impl Transaction for Above {
    type Output = Vec<SessionAt>;

    async fn run(&self, tx: &mut Tx) -> Result<Vec<SessionAt>> {
        let at = session_now(tx, self.now).await?;
        let mut binds = Conditions::default();
        let branches = self.branches(tx.dialect(), &mut binds, at);
        let keys = first_keys(tx, Stage::ById, &branches, &binds, self.limit as usize).await?;
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let mut found = sessions_of(tx, keys.iter().map(|key| key.id.as_str())).await?;
        let mut sessions = Vec::with_capacity(keys.len());
        for key in keys {
            let session = found
                .remove(&key.id)
                .ok_or_else(|| Error::Corrupt("an index names a session that is not there".into()))?;
            sessions.push(SessionAt { session, at });
        }
        Ok(sessions)
    }
}

impl Above {
    /// One for each place, or one for all.
    fn branches(&self, dialect: Dialect, binds: &mut Conditions, at: Timestamp) -> Vec<Branch> {
        let every = SessionFilter {
            archive: Archive::Include,
            include_internal: self.filter.include_internal(),
            ..SessionFilter::default()
        };
        let wanted = Wanted::new(&every, &self.visibility, at, Duration::ZERO);
        let mut condition = wanted.in_sections();
        if let Some(after) = &self.after {
            let place = Key {
                keys: Vec::new(),
                id: after.to_string(),
            };
            condition = format!("{condition} AND {}", Stage::ById.behind(binds, &place));
        }
        let from = |index: &str| match dialect {
            Dialect::Sqlite => format!("session s INDEXED BY {index}"),
            Dialect::Postgres => "session s".to_owned(),
        };
        let Places::Each(ids) = self.places() else {
            return vec![Branch {
                from: from("sqlite_autoindex_session_1"),
                condition,
                is_few: false,
            }];
        };
        let mut branches = Vec::with_capacity(ids.len());
        for id in ids {
            let id = binds.bind(id);
            branches.push(Branch {
                from: from(Stage::ById.index(true)),
                condition: format!("s.workspace_id = {id} AND {condition}"),
                is_few: false,
            });
        }
        branches
    }

    fn places(&self) -> Places {
        let named = self.filter.workspaces();
        let is_everywhere = named.is_empty() && !self.filter.ungrouped();
        let mut ids: Vec<String> = match &self.visibility {
            Visibility::All if is_everywhere => return Places::All,
            Visibility::Only(visible) if is_everywhere => {
                visible.iter().map(WorkspaceId::to_string).collect()
            }
            visibility => {
                let named = named.iter().filter(|id| visibility.includes(id));
                named.map(WorkspaceId::to_string).collect()
            }
        };
        if self.filter.ungrouped() && self.visibility == Visibility::All {
            ids.push(String::new());
        }
        ids.retain(|id| crate::sql::session_filter::storable(id));
        ids.sort_unstable();
        ids.dedup();
        Places::Each(ids)
    }
}

impl SqlStore {
    pub(super) async fn sessions_by_id(
        &self,
        after: Option<&SessionId>,
        filter: &WatchFilter,
        limit: u32,
        visibility: &Visibility,
        now: Timestamp,
    ) -> Result<Vec<SessionAt>> {
        let above = Above {
            after: after.cloned(),
            filter: filter.clone(),
            limit,
            visibility: visibility.clone(),
            now,
        };
        self.db().read(Arc::new(above)).await
    }
}
