//! Counted pages of workspaces: keyset paging, total and revision from one snapshot.

use async_trait::async_trait;

use compozy_domain::workspace::{WorkspaceFilter, WorkspaceOrder, WorkspacePlace, WorkspaceSortKey};
use compozy_domain::{Page, Workspace, WorkspaceStatus};

use crate::error::{Error, Result};
use crate::sql::db::{Transaction, Tx, Value};
use crate::sql::dialect::Dialect;
use crate::sql::select::Conditions;
use crate::sql::workspace_rows::{columns, workspace};
use crate::workspaces::ListWorkspaces;

/// One page to read.
pub(crate) struct List(pub(crate) ListWorkspaces);

#[async_trait]
impl Transaction for List {
    type Output = Page<Workspace>;

    async fn run(&self, tx: &mut Tx) -> Result<Page<Workspace>> {
        let List(list) = self;
        let pending = tx.dialect().pending_count();
        let sql = format!("SELECT epoch, head, {pending} FROM change_head WHERE one = 1");
        let mut row = tx.one(&sql, &[]).await?;
        let revision = compozy_domain::Revision {
            epoch: row.take()?,
            position: row.take()?,
        };
        let pending: i64 = row.take()?;
        let total = match &list.counted {
            // The log stands where it stood and nothing waits to join it: the count is still true.
            // Not so with a filter by status: the first look at a root is no entry of the log.
            Some((counted_at, total))
                if *counted_at == revision && pending == 0 && !is_by_status(&list.filter) =>
            {
                *total
            }
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

async fn count(tx: &mut Tx, list: &ListWorkspaces) -> Result<u64> {
    let (from, conditions) = matches(tx.dialect(), list);
    let sql = format!("SELECT COUNT(*) FROM {from}{}", conditions.clause());
    let count: i64 = tx.one(&sql, conditions.binds()).await?.take()?;
    Ok(count.unsigned_abs())
}

async fn page_rows(tx: &mut Tx, list: &ListWorkspaces) -> Result<Vec<Workspace>> {
    let (sql, conditions) = page_statement(tx.dialect(), list)?;
    let rows = tx.rows(&sql, conditions.binds()).await?;
    rows.into_iter()
        .map(|row| workspace(row, &list.visibility))
        .collect()
}

/// Reads the rows in the order of an index: a sort would make every row of the catalog before it drops most.
fn page_statement(dialect: Dialect, list: &ListWorkspaces) -> Result<(String, Conditions)> {
    let (from, mut conditions) = matches(dialect, list);
    if let Some(place) = &list.after {
        after(&mut conditions, list.order, place)?;
    }
    let sql = format!(
        "SELECT {} FROM {from}{} ORDER BY {} LIMIT {}",
        columns(dialect),
        conditions.clause(),
        sorting(list.order),
        list.limit.get() + 1
    );
    Ok((sql, conditions))
}

fn is_by_status(filter: &WorkspaceFilter) -> bool {
    !filter.statuses.is_empty() || filter.not_observed
}

/// The tables and conditions of the filter and of what the caller may see.
fn matches(dialect: Dialect, list: &ListWorkspaces) -> (&'static str, Conditions) {
    let WorkspaceFilter {
        name_prefix,
        query,
        statuses,
        not_observed,
    } = &list.filter;
    let mut conditions = Conditions::default();
    conditions.and_visible("w.id", &list.visibility);
    if [name_prefix, query]
        .into_iter()
        .flatten()
        .any(|text| text.contains('\0'))
    {
        // No row holds one, and Postgres takes none in a text.
        conditions.and("1 = 0".to_owned());
        return ("workspace w", conditions);
    }
    if let Some(prefix) = name_prefix {
        // Names compare by bytes, and the last code point of all is allowed in no name.
        let low = conditions.bind(prefix.as_str());
        let high = conditions.bind(format!("{prefix}\u{10ffff}"));
        conditions.and(format!("w.name_key >= {low} AND w.name_key < {high}"));
    }
    if let Some(query) = query {
        let query = conditions.bind(query.as_str());
        conditions.and(dialect.contains("w.search", &query));
    }
    if !is_by_status(&list.filter) {
        return ("workspace w", conditions);
    }
    let host = conditions.bind(list.host.as_str());
    let mut any: Vec<String> = Vec::new();
    if statuses.contains(&WorkspaceStatus::OtherHost) {
        any.push(format!("w.host_id <> {host}"));
    }
    let seen: Vec<&str> = statuses
        .iter()
        .filter(|status| **status != WorkspaceStatus::OtherHost)
        .map(|s| s.as_str())
        .collect();
    if !seen.is_empty() {
        let seen = conditions.bind_all(seen);
        any.push(format!("(w.host_id = {host} AND s.status IN ({seen}))"));
    }
    if *not_observed {
        any.push(format!("(w.host_id = {host} AND s.workspace_id IS NULL)"));
    }
    conditions.and(format!("({})", any.join(" OR ")));
    (
        "workspace w LEFT JOIN workspace_observation s ON s.workspace_id = w.id",
        conditions,
    )
}

fn sorting(order: WorkspaceOrder) -> &'static str {
    match order {
        WorkspaceOrder::Manual => "w.rank, w.root_dir, w.id",
        WorkspaceOrder::Name => "w.name_key",
        WorkspaceOrder::Created => "w.created_at DESC, w.root_dir, w.id",
        WorkspaceOrder::Updated => "w.updated_at DESC, w.root_dir, w.id",
    }
}

/// Rows behind a place. The first comparison is one that the order's index can start from.
fn after(conditions: &mut Conditions, order: WorkspaceOrder, place: &WorkspacePlace) -> Result<()> {
    let (column, comparison, key): (&str, &str, Value) = match (order, &place.key) {
        (WorkspaceOrder::Manual, WorkspaceSortKey::Rank(rank)) => ("w.rank", ">", rank.as_bytes().into()),
        (WorkspaceOrder::Name, WorkspaceSortKey::Name(key)) => ("w.name_key", ">", key.as_str().into()),
        (WorkspaceOrder::Created, WorkspaceSortKey::Time(at)) => ("w.created_at", "<", (*at).into()),
        (WorkspaceOrder::Updated, WorkspaceSortKey::Time(at)) => ("w.updated_at", "<", (*at).into()),
        _ => return Err(Error::Defect("a place of another order".into())),
    };
    let key = conditions.bind(key);
    let root = conditions.bind(place.root_dir.as_str());
    let id = conditions.bind(place.id.as_str());
    conditions.and(format!(
        "{column} {comparison}= {key} AND ({column} {comparison} {key} OR (w.root_dir, w.id) > ({root}, {id}))"
    ));
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use compozy_domain::{HostId, PageLimit, Rank, Timestamp, Visibility, WorkspaceId};

    use super::*;

    fn first_page(order: WorkspaceOrder) -> ListWorkspaces {
        ListWorkspaces {
            filter: WorkspaceFilter::default(),
            host: HostId::parse("h1").unwrap(),
            order,
            after: None,
            limit: PageLimit::parse(50).unwrap(),
            visibility: Visibility::All,
            counted: None,
        }
    }

    #[test]
    fn no_page_on_sqlite_sorts_what_an_index_holds_in_order() {
        let catalog = rusqlite::Connection::open_in_memory().unwrap();
        for migration in [
            include_str!("../../migrations/sqlite/0001_catalog.sql"),
            include_str!("../../migrations/sqlite/0004_sessions.sql"),
        ] {
            catalog.execute_batch(migration).unwrap();
        }
        let at = WorkspaceSortKey::Time(Timestamp::from_nanos(1));
        for (order, key) in [
            (WorkspaceOrder::Manual, WorkspaceSortKey::Rank(Rank::front(1))),
            (WorkspaceOrder::Name, WorkspaceSortKey::Name("a".into())),
            (WorkspaceOrder::Created, at.clone()),
            (WorkspaceOrder::Updated, at),
        ] {
            let first = first_page(order);
            let place = WorkspacePlace {
                key,
                root_dir: "/w/a".into(),
                id: WorkspaceId::from_stored("ws_0123456789abcdef".into()),
            };
            let next = ListWorkspaces {
                after: Some(place),
                ..first.clone()
            };
            for list in [first, next] {
                let (sql, _) = page_statement(Dialect::Sqlite, &list).unwrap();
                let mut plan = catalog.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
                let mut steps = plan.raw_query();
                while let Some(step) = steps.next().unwrap() {
                    let detail: String = step.get("detail").unwrap();
                    assert!(!detail.contains("TEMP B-TREE"), "{order:?}: {detail}");
                }
            }
        }
    }
}
