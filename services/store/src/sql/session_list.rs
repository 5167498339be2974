//! Counted pages of sessions: keyset paging, total and revision from one snapshot.

use std::collections::HashMap;

use async_trait::async_trait;

use compozy_domain::session::filter::{SessionPlace, SessionSort, SessionSortKey};
use compozy_domain::{Page, Revision, Session, SessionId, Timestamp};

use crate::error::{Error, Result};
use crate::sessions::{ListSessions, SessionPage};
use crate::sql::db::{Transaction, Tx, Value};
use crate::sql::dialect::Dialect;
use crate::sql::select::Conditions;
use crate::sql::session_counts::counted;
use crate::sql::session_filter::Wanted;
use crate::sql::session_keys::{Branch, Key, Stage, counted_keys, first_keys, stages};
use crate::sql::session_rows::{COLUMNS, TABLES, session};
use crate::sql::session_sources::{FEW, are_few, interpret_plans, matches, walk};

/// One page to read.
pub(crate) struct List(pub(crate) ListSessions);

/// How the log and the clock stand in a snapshot.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) revision: Revision,
    /// Committed entries without a position.
    pub(crate) pending: i64,
    pub(crate) now: Timestamp,
}

#[async_trait]
impl Transaction for List {
    type Output = SessionPage;

    async fn run(&self, tx: &mut Tx) -> Result<SessionPage> {
        let List(list) = self;
        if list.sort == SessionSort::Manual && !is_of_one_account(list) {
            return Err(Error::Defect("the manual order is one of an account".into()));
        }
        let Snapshot {
            revision,
            pending,
            now,
        } = snapshot(tx, list.now).await?;
        let at = list.at.unwrap_or(now);
        let wanted = Wanted::new(&list.filter, &list.visibility, at, list.stale_after);
        if !wanted.is_sections() && !wanted.is_nothing() {
            interpret_plans(tx).await?;
        }
        let limit = list.limit.get() as usize;
        let carried = match &list.counted {
            // The log stands where it stood and nothing waits to join it: the count is still true.
            Some((counted_at, total)) if *counted_at == revision && pending == 0 => {
                Some(i64::try_from(*total).unwrap_or(i64::MAX))
            }
            _ => None,
        };
        let gathered = match carried {
            None if list.after.is_none() && wanted.is_text() => gather(tx, list, &wanted, limit + 1).await?,
            _ => None,
        };
        let (total, mut keys) = match gathered {
            Some(gathered) => gathered,
            None => {
                let total = match carried {
                    Some(total) => total,
                    None => count(tx, &wanted).await?,
                };
                (total, page_keys(tx, list, &wanted, total, limit + 1).await?)
            }
        };
        let has_more = keys.len() > limit;
        keys.truncate(limit);
        let (rows, places) = rows(tx, keys, list.sort).await?;
        Ok(SessionPage {
            page: Page {
                rows,
                total: total.unsigned_abs(),
                has_more,
                revision,
            },
            places,
            at,
        })
    }
}

/// How the log and the clock stand. `own` is the process's clock, which counts on SQLite only.
pub(crate) async fn snapshot(tx: &mut Tx, own: Timestamp) -> Result<Snapshot> {
    let pending = tx.dialect().pending_count();
    let now = tx.dialect().instant("0");
    let sql = format!("SELECT epoch, head, {pending}, {now} FROM change_head WHERE one = 1");
    let mut row = tx.one(&sql, &[]).await?;
    let revision = Revision {
        epoch: row.take()?,
        position: row.take()?,
    };
    let (pending, database) = (row.take()?, Timestamp::from_nanos(row.take()?));
    let now = match tx.dialect() {
        Dialect::Sqlite => tx.not_below_stored(own),
        Dialect::Postgres => database,
    };
    Ok(Snapshot {
        revision,
        pending,
        now,
    })
}

/// How many sessions match, exactly.
pub(super) async fn count(tx: &mut Tx, wanted: &Wanted<'_>) -> Result<i64> {
    if wanted.is_nothing() {
        return Ok(0);
    }
    let mut count = 0;
    if wanted.is_kept() {
        for (sign, cells) in wanted.cells(false, false) {
            count += sign * counted(tx, &cells).await?;
        }
        return Ok(count);
    }
    let mut binds = Conditions::default();
    let branches = matches(tx, wanted, &mut binds).await?;
    for branches in branches.chunks(BRANCHES_COUNTED_AT_ONCE) {
        let sql = count_statement(branches);
        count += planned_anew(tx, &sql, binds.binds()).await?;
    }
    Ok(count)
}

/// Branches of one statement.
const BRANCHES_COUNTED_AT_ONCE: usize = 50;

fn count_statement(branches: &[Branch]) -> String {
    let counts: Vec<String> = branches
        .iter()
        .map(|branch| {
            format!(
                "(SELECT COUNT(*) FROM {} WHERE {})",
                branch.from, branch.condition
            )
        })
        .collect();
    format!("SELECT {}", counts.join(" + "))
}

async fn planned_anew(tx: &mut Tx, sql: &str, binds: &[Value]) -> Result<i64> {
    let prepares = std::mem::replace(&mut tx.prepares, false);
    let counted = tx.one(sql, binds).await;
    tx.prepares = prepares;
    counted?.take()
}

/// Total and first places of a text that few sessions hold; `None` if many do, or the order has several stages.
async fn gather(
    tx: &mut Tx,
    list: &ListSessions,
    wanted: &Wanted<'_>,
    limit: usize,
) -> Result<Option<(i64, Vec<Key>)>> {
    let stages = stages(list.sort, None)?;
    let [(stage, None)] = &stages[..] else {
        return Ok(None);
    };
    let mut binds = Conditions::default();
    let branches = matches(tx, wanted, &mut binds).await?;
    if branches.len() > BRANCHES_COUNTED_AT_ONCE {
        return Ok(None);
    }
    let prepares = std::mem::replace(&mut tx.prepares, false);
    let gathered = counted_keys(tx, *stage, &branches, &binds, (FEW, limit)).await;
    tx.prepares = prepares;
    gathered
}

/// The places of the page's rows, and of one more if there is one.
async fn page_keys(
    tx: &mut Tx,
    list: &ListSessions,
    wanted: &Wanted<'_>,
    total: i64,
    limit: usize,
) -> Result<Vec<Key>> {
    if total <= 0 || wanted.is_nothing() {
        return Ok(Vec::new());
    }
    let few = are_few(tx, wanted, total).await?;
    let mut keys: Vec<Key> = Vec::new();
    for (stage, after) in stages(list.sort, list.after.as_ref())? {
        let mut binds = Conditions::default();
        let branches = branches(tx, wanted, few, (stage, after.as_ref()), &mut binds).await?;
        // A plan for one place and section is a plan for every other one; not so one for a text.
        let prepares = tx.prepares;
        tx.prepares &= wanted.is_sections();
        let found = first_keys(tx, stage, &branches, &binds, limit - keys.len()).await;
        tx.prepares = prepares;
        keys.extend(found?);
        if keys.len() >= limit {
            break;
        }
    }
    Ok(keys)
}

/// Where the rows of a stage behind a place are looked for.
pub(super) async fn branches(
    tx: &mut Tx,
    wanted: &Wanted<'_>,
    few: bool,
    (stage, after): (Stage, Option<&Key>),
    binds: &mut Conditions,
) -> Result<Vec<Branch>> {
    if !few {
        return Ok(walk(tx.dialect(), wanted, binds, stage, after));
    }
    let mut branches = matches(tx, wanted, binds).await?;
    let behind = after.map(|after| stage.behind(binds, after));
    for branch in &mut branches {
        for condition in stage.condition().iter().chain(&behind) {
            branch.condition = format!("{} AND {condition}", branch.condition);
        }
    }
    Ok(branches)
}

/// The rows with these keys, in their order, and the place of each.
async fn rows(tx: &mut Tx, keys: Vec<Key>, sort: SessionSort) -> Result<(Vec<Session>, Vec<SessionPlace>)> {
    if keys.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let mut found = sessions_of(tx, keys.iter().map(|key| key.id.as_str())).await?;
    let (mut sessions, mut places) = (Vec::with_capacity(keys.len()), Vec::with_capacity(keys.len()));
    for key in keys {
        let session = found
            .remove(&key.id)
            .ok_or_else(|| Error::Corrupt("an index names a session that is not there".into()))?;
        places.push(place(&session, key, sort));
        sessions.push(session);
    }
    Ok((sessions, places))
}

/// Sessions by their ids.
pub(crate) async fn sessions_of<'k>(
    tx: &mut Tx,
    ids: impl Iterator<Item = &'k str>,
) -> Result<HashMap<String, Session>> {
    let mut conditions = Conditions::default();
    conditions.and_one_of("s.id", ids);
    let sql = format!("SELECT {COLUMNS} FROM {TABLES}{}", conditions.clause());
    let rows = tx.rows(&sql, conditions.binds()).await?;
    let mut found = HashMap::with_capacity(rows.len());
    for row in rows {
        let session = session(row)?;
        found.insert(session.id.to_string(), session);
    }
    Ok(found)
}

/// The place that the row has in the index. What is known of a live session may be ahead of it.
fn place(session: &Session, key: Key, sort: SessionSort) -> SessionPlace {
    let place = session.place(sort);
    match (&key.keys[..], place.key) {
        ([Value::Int(Some(active_at)), _], SessionSortKey::Times(_, created_at)) => SessionPlace {
            key: SessionSortKey::Times(Timestamp::from_nanos(*active_at), created_at),
            id: SessionId::from_stored(key.id),
        },
        (_, key) => SessionPlace { key, id: place.id },
    }
}

fn is_of_one_account(list: &ListSessions) -> bool {
    matches!(
        list.filter.place,
        compozy_domain::session::filter::Place::Workspace(_)
    )
}
