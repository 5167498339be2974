//! Rows of workspaces: reading and writing one.

use std::sync::Arc;

use async_trait::async_trait;

use compozy_domain::text::fold_for_search;
use compozy_domain::workspace::{SessionCounts, defect_of_row};
use compozy_domain::{
    CatalogError, DurableId, FileIdentity, HostId, Rank, Revision, SessionState, Timestamp, Visibility,
    Workspace, WorkspaceId, WorkspaceName,
};

use crate::error::{Error, Result};
use crate::open::SqlStore;
use crate::sql::db::{Row, Transaction, Tx, Value};
use crate::sql::dialect::Dialect;
use crate::sql::select::Conditions;
use crate::sql::session_counts::kept;

/// The columns that [`workspace`] reads, of `workspace w`.
pub(crate) fn columns(dialect: Dialect) -> String {
    format!(
        "w.id, w.durable_id, w.host_id, w.root_dir, w.root_device, w.root_inode, w.additional_dirs, w.name, \
         w.name_key, w.title, w.default_agent, w.is_default, w.rank, w.version, w.state_number, w.created_at, \
         w.updated_at, (SELECT {} FROM workspace o WHERE o.durable_id = w.durable_id AND o.id <> w.id), {}",
        dialect.join_texts("o.id"),
        session_counts(dialect)
    )
}

/// The numbers of the sessions of a workspace in one text, in the order of [`SessionCounts`]; NULL if none was ever
/// counted. Internal sessions are left out: `hidden` is 0 for those in the lists and 1 for archived ones.
fn session_counts(dialect: Dialect) -> String {
    let in_state = |state: SessionState| {
        format!(
            "SUM(CASE WHEN k.state = '{}' THEN k.count ELSE 0 END)",
            state.as_str()
        )
    };
    let mut numbers: Vec<String> = SessionState::ALL.into_iter().map(in_state).collect();
    numbers.push("SUM(CASE WHEN k.hidden = 1 THEN k.count ELSE 0 END)".to_owned());
    format!(
        "(SELECT {} FROM {} k WHERE k.scope = w.id AND k.hidden IN (0, 1))",
        numbers.join(" || ',' || "),
        kept(dialect)
    )
}

/// Reads a row; one that this release does not understand says so in `defect`.
pub(crate) fn workspace(mut row: Row, visibility: &Visibility) -> Result<Workspace> {
    let (id, durable_id, host_id): (String, String, String) = (row.take()?, row.take()?, row.take()?);
    let root_dir: String = row.take()?;
    let (device, inode): (i64, i64) = (row.take()?, row.take()?);
    let dirs = serde_json::from_str::<Vec<String>>(&row.take::<String>()?);
    let (name, name_key): (String, String) = (row.take()?, row.take()?);
    let (title, default_agent): (String, String) = (row.take()?, row.take()?);
    let is_default = row.take()?;
    let rank: Vec<u8> = row.take()?;
    let defect = defect_of_row(&id, &durable_id, &root_dir, &rank, dirs.is_ok());
    Ok(Workspace {
        id: WorkspaceId::from_stored(id),
        durable_id: DurableId::from_stored(durable_id),
        host_id: HostId::from_stored(host_id),
        root_dir,
        root_file: FileIdentity {
            device: device.cast_unsigned(),
            inode: inode.cast_unsigned(),
        },
        additional_dirs: dirs.unwrap_or_default(),
        name: WorkspaceName::from_stored(name, name_key),
        title,
        default_agent,
        is_default,
        rank: Rank::from_stored(rank),
        version: row.take()?,
        state_number: row.take()?,
        created_at: Timestamp::from_nanos(row.take()?),
        updated_at: Timestamp::from_nanos(row.take()?),
        shares_identity_with: sharers(row.take()?, visibility),
        session_counts: read_session_counts(row.take()?)?,
        defect,
    })
}

/// The row with this id, locked until the transaction ends.
pub(crate) async fn lock_workspace(
    tx: &mut Tx,
    id: &WorkspaceId,
    visibility: &Visibility,
) -> Result<Option<Workspace>> {
    if !visibility.includes(id) {
        return Ok(None);
    }
    let dialect = tx.dialect();
    if dialect == Dialect::Postgres {
        tx.rows(
            &format!("SELECT id FROM workspace WHERE id = $1{}", dialect.for_update()),
            &[id.as_str().into()],
        )
        .await?;
    }
    // Read after the lock, so that the row is the one that the last holder left.
    let sql = format!("SELECT {} FROM workspace w WHERE w.id = $1", columns(dialect));
    let row = tx.row(&sql, &[id.as_str().into()]).await?;
    row.map(|row| workspace(row, visibility)).transpose()
}

/// The same for a row that has to be there.
pub(crate) async fn lock_existing(
    tx: &mut Tx,
    id: &WorkspaceId,
    visibility: &Visibility,
) -> Result<Workspace> {
    let found = lock_workspace(tx, id, visibility).await?;
    found.ok_or_else(|| {
        CatalogError::WorkspaceNotFound {
            reference: id.to_string(),
        }
        .into()
    })
}

/// Inserts a row.
pub(crate) async fn insert(tx: &mut Tx, workspace: &Workspace) -> Result<()> {
    let sql = "INSERT INTO workspace (id, durable_id, host_id, root_dir, root_device, root_inode, \
               additional_dirs, name, name_key, title, default_agent, rank, search, version, state_number, \
               updated_at, name_search, is_default, created_at) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)";
    let mut binds = record_binds(workspace)?;
    binds.push(workspace.is_default.into());
    binds.push(workspace.created_at.into());
    tx.execute(sql, &binds).await?;
    Ok(())
}

/// Writes every field of a row that can change.
pub(crate) async fn replace(tx: &mut Tx, workspace: &Workspace) -> Result<()> {
    let sql = "UPDATE workspace SET durable_id = $2, host_id = $3, root_dir = $4, root_device = $5, \
               root_inode = $6, additional_dirs = $7, name = $8, name_key = $9, title = $10, \
               default_agent = $11, rank = $12, search = $13, version = $14, state_number = $15, \
               updated_at = $16, name_search = $17 WHERE id = $1";
    tx.execute(sql, &record_binds(workspace)?).await?;
    Ok(())
}

fn record_binds(workspace: &Workspace) -> Result<Vec<Value>> {
    let dirs = serde_json::to_string(&workspace.additional_dirs)
        .map_err(|error| Error::Defect(error.to_string()))?;
    Ok(vec![
        workspace.id.as_str().into(),
        workspace.durable_id.as_str().into(),
        workspace.host_id.as_str().into(),
        workspace.root_dir.as_str().into(),
        workspace.root_file.device.cast_signed().into(),
        workspace.root_file.inode.cast_signed().into(),
        dirs.into(),
        workspace.name.as_str().into(),
        workspace.name.key().into(),
        workspace.title.as_str().into(),
        workspace.default_agent.as_str().into(),
        workspace.rank.as_bytes().into(),
        search_text(workspace).into(),
        workspace.version.into(),
        workspace.state_number.into(),
        workspace.updated_at.into(),
        fold_for_search(workspace.name.as_str()).into(),
    ])
}

/// What a query is looked for in: id, name, title and root, folded, with a character between that no query
/// can hold.
fn search_text(workspace: &Workspace) -> String {
    let Workspace {
        id,
        name,
        title,
        root_dir,
        ..
    } = workspace;
    fold_for_search(&format!("{id}\n{}\n{title}\n{root_dir}", name.as_str()))
}

fn sharers(joined: Option<String>, visibility: &Visibility) -> Vec<WorkspaceId> {
    let Some(joined) = joined else { return Vec::new() };
    let mut ids: Vec<WorkspaceId> = joined
        .split(',')
        .map(|id| WorkspaceId::from_stored(id.to_owned()))
        .collect();
    ids.retain(|id| visibility.includes(id));
    ids.sort_unstable();
    ids
}

fn read_session_counts(joined: Option<String>) -> Result<SessionCounts> {
    let Some(joined) = joined else {
        return Ok(SessionCounts::default());
    };
    let numbers: Option<Vec<i64>> = joined.split(',').map(|number| number.parse().ok()).collect();
    let Some(&[starting, active, stopping, stopped, orphaned, archived]) = numbers.as_deref() else {
        return Err(Error::Corrupt("the numbers of sessions are none".into()));
    };
    Ok(SessionCounts {
        starting,
        active,
        stopping,
        stopped,
        orphaned,
        archived,
    })
}

/// All workspaces that meet the conditions, by id.
struct Select {
    conditions: Conditions,
    limit: Option<u32>,
    visibility: Visibility,
}

#[async_trait]
impl Transaction for Select {
    type Output = Vec<Workspace>;

    async fn run(&self, tx: &mut Tx) -> Result<Vec<Workspace>> {
        let columns = columns(tx.dialect());
        let limit = self
            .limit
            .map(|rows| format!(" LIMIT {rows}"))
            .unwrap_or_default();
        let sql = format!(
            "SELECT {columns} FROM workspace w{} ORDER BY w.id{limit}",
            self.conditions.clause()
        );
        let rows = tx.rows(&sql, self.conditions.binds()).await?;
        let mut found = Vec::with_capacity(rows.len());
        for row in rows {
            let workspace = workspace(row, &self.visibility)?;
            if self.visibility.includes(&workspace.id) {
                found.push(workspace);
            }
        }
        Ok(found)
    }
}

/// One workspace and the head of the log, in one statement.
struct Find {
    id: WorkspaceId,
    visibility: Visibility,
}

#[async_trait]
impl Transaction for Find {
    type Output = (Option<Workspace>, Revision);

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output> {
        let columns = columns(tx.dialect());
        let sql = format!(
            "SELECT h.epoch, h.head, w.id IS NOT NULL, {columns} FROM change_head h \
             LEFT JOIN workspace w ON w.id = $1 WHERE h.one = 1"
        );
        let mut row = tx.one(&sql, &[self.id.as_str().into()]).await?;
        let revision = Revision {
            epoch: row.take()?,
            position: row.take()?,
        };
        let exists: bool = row.take()?;
        if !exists || !self.visibility.includes(&self.id) {
            return Ok((None, revision));
        }
        Ok((Some(workspace(row, &self.visibility)?), revision))
    }
}

/// The rows of a host with one of these roots or files; `None` for no place at all. Each kind of place is looked up
/// by itself: joined by OR, SQLite's planner walks all rows of the host.
fn at(host: &HostId, paths: &[String], files: &[FileIdentity]) -> Option<Conditions> {
    let mut conditions = Conditions::default();
    let host = conditions.bind(host.as_str());
    let mut kinds: Vec<String> = Vec::new();
    if !paths.is_empty() {
        let paths = conditions.bind_all(paths.iter().map(String::as_str));
        kinds.push(format!(
            "SELECT id FROM workspace WHERE host_id = {host} AND root_dir IN ({paths})"
        ));
    }
    if !files.is_empty() {
        let mut pairs: Vec<String> = Vec::with_capacity(files.len());
        for FileIdentity { device, inode } in files {
            let device = conditions.bind(device.cast_signed());
            let inode = conditions.bind(inode.cast_signed());
            pairs.push(format!("({device}, {inode})"));
        }
        kinds.push(format!(
            "SELECT id FROM workspace WHERE host_id = {host} AND (root_device, root_inode) IN (VALUES {})",
            pairs.join(", ")
        ));
    }
    if kinds.is_empty() {
        return None;
    }
    conditions.and(format!("w.id IN ({})", kinds.join(" UNION ")));
    Some(conditions)
}

impl SqlStore {
    pub(crate) async fn find_workspace(
        &self,
        id: &WorkspaceId,
        visibility: &Visibility,
    ) -> Result<(Option<Workspace>, Revision)> {
        let find = Find {
            id: id.clone(),
            visibility: visibility.clone(),
        };
        self.db().read_one(Arc::new(find)).await
    }

    pub(crate) async fn workspace_named(
        &self,
        key: &str,
        visibility: &Visibility,
    ) -> Result<Option<Workspace>> {
        if key.contains('\0') {
            // No name holds one, and Postgres takes none in a text.
            return Ok(None);
        }
        let mut conditions = Conditions::default();
        let key = conditions.bind(key);
        conditions.and(format!("w.name_key = {key}"));
        Ok(self
            .select(conditions, None, visibility)
            .await?
            .into_iter()
            .next())
    }

    pub(crate) async fn workspaces_with_durable_id(
        &self,
        durable_id: &DurableId,
        visibility: &Visibility,
    ) -> Result<Vec<Workspace>> {
        let mut conditions = Conditions::default();
        let durable_id = conditions.bind(durable_id.as_str());
        conditions.and(format!("w.durable_id = {durable_id}"));
        self.select(conditions, None, visibility).await
    }

    pub(crate) async fn workspaces_at(
        &self,
        host: &HostId,
        paths: &[String],
        files: &[FileIdentity],
    ) -> Result<Vec<Workspace>> {
        let Some(conditions) = at(host, paths, files) else {
            return Ok(Vec::new());
        };
        self.select(conditions, None, &Visibility::All).await
    }

    pub(crate) async fn workspaces_of_host(
        &self,
        host: &HostId,
        after: Option<&WorkspaceId>,
        limit: u32,
    ) -> Result<Vec<Workspace>> {
        let mut conditions = Conditions::default();
        let host = conditions.bind(host.as_str());
        conditions.and(format!("w.host_id = {host}"));
        if let Some(after) = after {
            let after = conditions.bind(after.as_str());
            conditions.and(format!("w.id > {after}"));
        }
        self.select(conditions, Some(limit), &Visibility::All).await
    }

    pub(crate) async fn workspaces_with_ids(
        &self,
        ids: &[WorkspaceId],
        visibility: &Visibility,
    ) -> Result<Vec<Workspace>> {
        let mut conditions = Conditions::default();
        conditions.and_one_of("w.id", ids.iter().map(WorkspaceId::as_str));
        conditions.and_visible("w.id", visibility);
        self.select(conditions, None, visibility).await
    }

    pub(crate) async fn workspaces_above(
        &self,
        after: Option<&WorkspaceId>,
        only: &[WorkspaceId],
        limit: u32,
        visibility: &Visibility,
    ) -> Result<Vec<Workspace>> {
        let mut conditions = Conditions::default();
        if let Some(after) = after {
            let after = conditions.bind(after.as_str());
            conditions.and(format!("w.id > {after}"));
        }
        if !only.is_empty() {
            conditions.and_one_of("w.id", only.iter().map(WorkspaceId::as_str));
        }
        conditions.and_visible("w.id", visibility);
        self.select(conditions, Some(limit), visibility).await
    }

    async fn select(
        &self,
        conditions: Conditions,
        limit: Option<u32>,
        visibility: &Visibility,
    ) -> Result<Vec<Workspace>> {
        let select = Select {
            conditions,
            limit,
            visibility: visibility.clone(),
        };
        self.db().read_one(Arc::new(select)).await
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn no_place_on_sqlite_is_looked_for_row_by_row() {
        let catalog = rusqlite::Connection::open_in_memory().unwrap();
        for migration in [
            include_str!("../../migrations/sqlite/0001_catalog.sql"),
            include_str!("../../migrations/sqlite/0004_sessions.sql"),
        ] {
            catalog.execute_batch(migration).unwrap();
        }
        let host = HostId::parse("h1").unwrap();
        for count in [0, 1, 7, 2_000] {
            let paths: Vec<String> = (0..count).map(|number| format!("/w/{number}")).collect();
            let files: Vec<FileIdentity> = (0..count)
                .map(|inode| FileIdentity { device: 1, inode })
                .collect();
            for (paths, files) in [
                (&paths[..], &[][..]),
                (&[][..], &files[..]),
                (&paths[..], &files[..]),
            ] {
                let Some(conditions) = at(&host, paths, files) else {
                    continue;
                };
                let columns = columns(Dialect::Sqlite);
                let sql = format!(
                    "EXPLAIN QUERY PLAN SELECT {columns} FROM workspace w{}",
                    conditions.clause()
                );
                let mut plan = catalog.prepare(&sql).unwrap();
                let mut steps = plan.raw_query();
                while let Some(step) = steps.next().unwrap() {
                    let detail: String = step.get("detail").unwrap();
                    assert!(!detail.contains("SCAN w"), "{count}: {detail}");
                    assert!(!detail.contains("(host_id=?)"), "{count}: {detail}");
                }
            }
        }
    }
}
