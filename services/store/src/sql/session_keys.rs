//! The places of a page's rows: the first ones of some branches of the catalog, in the order of a list.
//!
//! A branch is a range of an index that matches the order, or a set that is known to be small. Of each as many rows as
//! the page may need are read, and the first ones of all are the page's.

use std::cmp::Ordering;

use compozy_domain::session::AttentionClass;
use compozy_domain::session::filter::{SessionPlace, SessionSort, SessionSortKey};

use crate::error::{Error, Result};
use crate::sql::db::{Row, Tx, Value};
use crate::sql::dialect::Dialect;
use crate::sql::select::Conditions;

/// Branches that are read by one statement: a caller may see many workspaces, and plans of many branches take long.
const BRANCHES_AT_ONCE: usize = 30;

/// Tables with `session s` among them, and a condition.
#[derive(Debug, Clone)]
pub(crate) struct Branch {
    pub(crate) from: String,
    pub(crate) condition: String,
    /// Whether its rows are to be found first and put in order then, however few the page needs: an engine that hopes
    /// to meet them early on a walk in order may walk past all the others.
    pub(crate) is_few: bool,
}

/// How the rows of a stage are ordered. The order by attention has a stage for each class, as an index holds them;
/// every other one has one stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Recent,
    LastActivity,
    Manual,
    Attention(AttentionClass),
    /// Of no list: snapshots of watches.
    ById,
}

/// The place of a row: the leading keys, and its id.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Key {
    pub(crate) keys: Vec<Value>,
    pub(crate) id: String,
}

/// The stages of a list from a place on, with the place in the first one.
pub(crate) fn stages(sort: SessionSort, after: Option<&SessionPlace>) -> Result<Vec<(Stage, Option<Key>)>> {
    let place = |keys: Vec<Value>, after: &SessionPlace| Key {
        keys,
        id: after.id.to_string(),
    };
    let stage = match sort {
        SessionSort::Recent => Stage::Recent,
        SessionSort::LastActivity => Stage::LastActivity,
        SessionSort::Manual => Stage::Manual,
        SessionSort::Attention => return attention_stages(after),
    };
    let Some(after) = after else {
        return Ok(vec![(stage, None)]);
    };
    let keys: Vec<Value> = match (stage, &after.key) {
        (Stage::Recent | Stage::LastActivity, SessionSortKey::Times(at, created_at)) => {
            vec![(*at).into(), (*created_at).into()]
        }
        (Stage::Manual, SessionSortKey::Rank(rank)) => vec![rank.as_bytes().into()],
        _ => return Err(Error::Defect("a place of another order".into())),
    };
    Ok(vec![(stage, Some(place(keys, after)))])
}

fn attention_stages(after: Option<&SessionPlace>) -> Result<Vec<(Stage, Option<Key>)>> {
    let classes = [
        AttentionClass::NeedsYou,
        AttentionClass::Finished,
        AttentionClass::Rest,
    ];
    let Some(after) = after else {
        return Ok(classes.map(|class| (Stage::Attention(class), None)).into());
    };
    let SessionSortKey::Attention(current, at) = after.key else {
        return Err(Error::Defect("a place of another order".into()));
    };
    let mut stages = Vec::new();
    for class in classes {
        let place = (class == current).then(|| Key {
            keys: vec![at.into()],
            id: after.id.to_string(),
        });
        if class >= current {
            stages.push((Stage::Attention(class), place));
        }
    }
    Ok(stages)
}

impl Stage {
    /// The columns of the order before the id.
    fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Recent => &["s.updated_at", "s.created_at"],
            Self::LastActivity => &["s.active_at", "s.created_at"],
            Self::Manual => &["s.rank"],
            Self::Attention(_) => &["s.attention_at"],
            Self::ById => &[],
        }
    }

    fn descends(self) -> bool {
        matches!(self, Self::Recent | Self::LastActivity | Self::Attention(_))
    }

    /// The index that holds a section in this order; with `of_one` that of one place.
    pub(crate) fn index(self, of_one: bool) -> &'static str {
        match (self, of_one) {
            (Self::Recent, false) => "session_recent",
            (Self::Recent, true) => "session_recent_of",
            (Self::LastActivity, false) => "session_active",
            (Self::LastActivity, true) => "session_active_of",
            (Self::Attention(_), false) => "session_attention",
            (Self::Attention(_), true) => "session_attention_of",
            // Only accounts have one.
            (Self::Manual, _) => "session_manual",
            (Self::ById, _) => "session_by_id",
        }
    }

    /// What holds for the rows of the stage. A class that this release does not know is read as the last one.
    pub(crate) fn condition(self) -> Option<String> {
        match self {
            Self::Attention(class) => Some(format!("s.attention = {}", class.number())),
            Self::Recent | Self::LastActivity | Self::Manual | Self::ById => None,
        }
    }

    fn order(self) -> String {
        let direction = if self.descends() { " DESC" } else { "" };
        let columns: Vec<String> = self
            .columns()
            .iter()
            .chain(&["s.id"])
            .map(|column| format!("{column}{direction}"))
            .collect();
        columns.join(", ")
    }

    /// Rows behind a place, as a comparison of the whole key: an index starts right there, however many rows are equal
    /// in the leading columns.
    pub(crate) fn behind(self, binds: &mut Conditions, place: &Key) -> String {
        let comparison = if self.descends() { "<" } else { ">" };
        let keys = binds.bind_all(place.keys.iter().cloned());
        let id = binds.bind(place.id.as_str());
        if keys.is_empty() {
            return format!("s.id {comparison} {id}");
        }
        format!(
            "({}, s.id) {comparison} ({keys}, {id})",
            self.columns().join(", ")
        )
    }

    fn compare(self, one: &Key, other: &Key) -> Ordering {
        let keys = one.keys.iter().zip(&other.keys);
        let ascending = keys
            .map(|(one, other)| compare(one, other))
            .find(|ordering| ordering.is_ne())
            .unwrap_or_else(|| one.id.cmp(&other.id));
        if self.descends() {
            ascending.reverse()
        } else {
            ascending
        }
    }

    /// The statement that reads the first `limit` keys of all branches, each with the number of all matches, of which it
    /// looks at `at_most`.
    fn counting_statement(self, branches: &[Branch], at_most: i64, limit: usize) -> String {
        let direction = if self.descends() { " DESC" } else { "" };
        let mut columns: Vec<String> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for (number, column) in self.columns().iter().chain(&["s.id"]).enumerate() {
            columns.push(format!("{column} AS k{number}"));
            names.push(format!("k{number}"));
        }
        let columns = columns.join(", ");
        let parts = branches
            .iter()
            .map(|branch| format!("SELECT {columns} FROM {} WHERE {}", branch.from, branch.condition));
        let parts = parts.collect::<Vec<String>>().join(" UNION ALL ");
        let order: Vec<String> = names.iter().map(|name| format!("{name}{direction}")).collect();
        format!(
            "WITH m AS MATERIALIZED ({parts} LIMIT {at_most}) \
             SELECT (SELECT COUNT(*) FROM m), {} FROM m ORDER BY {} LIMIT {limit}",
            names.join(", "),
            order.join(", ")
        )
    }

    /// The statement that reads the first `limit` keys of each branch.
    pub(crate) fn statement(self, dialect: Dialect, branches: &[Branch], limit: usize) -> String {
        let mut columns = self.columns().to_vec();
        columns.push("s.id");
        let columns = columns.join(", ");
        let order = self.order();
        let mut parts: Vec<String> = Vec::with_capacity(branches.len());
        for (number, branch) in branches.iter().enumerate() {
            let mut source = format!("{} WHERE {}", branch.from, branch.condition);
            if branch.is_few && dialect == Dialect::Postgres {
                // SQLite's branches name the index themselves.
                source = format!("(SELECT {columns} FROM {source} OFFSET 0) s");
            }
            parts.push(format!(
                "SELECT * FROM (SELECT {columns} FROM {source} ORDER BY {order} LIMIT {limit}) b{number}"
            ));
        }
        parts.join(" UNION ALL ")
    }
}

/// How many matches some branches hold, and the first `limit` keys of them; `None` if there are more than `few`. Each
/// match is looked at once, where a count and a page would look at all of them twice.
pub(crate) async fn counted_keys(
    tx: &mut Tx,
    stage: Stage,
    branches: &[Branch],
    binds: &Conditions,
    (few, limit): (i64, usize),
) -> Result<Option<(i64, Vec<Key>)>> {
    let sql = stage.counting_statement(branches, few + 1, limit);
    let mut count = 0;
    let mut keys: Vec<Key> = Vec::new();
    for mut row in tx.rows(&sql, binds.binds()).await? {
        count = row.take()?;
        keys.push(key(row, stage)?);
    }
    Ok((count <= few).then_some((count, keys)))
}

/// The first `limit` keys of some branches, in order.
pub(crate) async fn first_keys(
    tx: &mut Tx,
    stage: Stage,
    branches: &[Branch],
    binds: &Conditions,
    limit: usize,
) -> Result<Vec<Key>> {
    let mut keys: Vec<Key> = Vec::new();
    for branches in branches.chunks(BRANCHES_AT_ONCE) {
        let sql = stage.statement(tx.dialect(), branches, limit);
        let rows = tx.rows(&sql, binds.binds()).await?;
        for row in rows {
            keys.push(key(row, stage)?);
        }
        keys.sort_by(|one, other| stage.compare(one, other));
        keys.truncate(limit);
    }
    Ok(keys)
}

fn key(mut row: Row, stage: Stage) -> Result<Key> {
    let mut keys = Vec::with_capacity(2);
    for _ in stage.columns() {
        keys.push(match stage {
            Stage::Manual => row.take::<Vec<u8>>()?.as_slice().into(),
            _ => row.take::<i64>()?.into(),
        });
    }
    Ok(Key {
        keys,
        id: row.take()?,
    })
}

fn compare(one: &Value, other: &Value) -> Ordering {
    match (one, other) {
        (Value::Int(one), Value::Int(other)) => one.cmp(other),
        (Value::Bytes(one), Value::Bytes(other)) => one.cmp(other),
        _ => Ordering::Equal,
    }
}
