//! Writing one session: the record, what is known of it while it is live, its counts, its changes of state and its
//! entry in the log, all in the transaction of the operation.

use compozy_domain::session::Transition;
use compozy_domain::session::change::Outcome;
use compozy_domain::text::fold_for_search;
use compozy_domain::{ChangeKind, ChangeOp, ChangeReason, NewChange, Session, Timestamp, WorkspaceId};

use crate::error::Result;
use crate::sql::append::append;
use crate::sql::db::{Tx, Value};
use crate::sql::select::Conditions;
use crate::sql::session_belongings::{
    forget_labels, forget_live, forget_text, index_text, write_labels, write_live, write_transition,
};
use crate::sql::session_counts::{count_change, count_stored};
use crate::sql::session_documents as documents;
use crate::sql::session_rows::place_of;

/// Columns of a row that a change may touch, in the order of [`record_binds`].
const CHANGING: [&str; 36] = [
    "workspace_id",
    "place",
    "rank",
    "name",
    "agent",
    "provider",
    "model",
    "type",
    "hidden",
    "state",
    "state_at",
    "runtime",
    "runtime_holder",
    "generation",
    "stop",
    "failure",
    "parent_id",
    "root_id",
    "depth",
    "spawn_role",
    "permission_mode",
    "archived_at",
    "activity",
    "active_at",
    "finished_lease",
    "labels",
    "has_files",
    "event_count",
    "last_sequence",
    "ledger",
    "attention",
    "attention_at",
    "search",
    "version",
    "state_number",
    "updated_at",
];

/// What separates the fields of a search text: no field and no query holds it.
pub(crate) const FIELD_END: char = '\u{1f}';

/// Inserts a session with everything that belongs to it, and appends its entry. `root_dir` is that of its workspace.
pub(crate) async fn insert_session(
    tx: &mut Tx,
    session: &Session,
    root_dir: Option<&str>,
    transition: &Transition,
) -> Result<()> {
    const FIXED: [&str; 9] = [
        "id",
        "host_id",
        "cwd",
        "profile_id",
        "start_cause",
        "start_by",
        "snapshot_fingerprint",
        "origin",
        "origin_id",
    ];
    let mut conditions = Conditions::default();
    let fixed: [Value; 9] = [
        session.id.as_str().into(),
        session.host_id.as_str().into(),
        session.cwd.as_str().into(),
        session.profile_id.as_str().into(),
        session.start.cause.as_str().into(),
        session.start.by.as_str().into(),
        session.snapshot_fingerprint.as_str().into(),
        session.origin.tool.as_str().into(),
        session.origin.id.as_str().into(),
    ];
    let created_at: Value = session.created_at.into();
    let values = fixed
        .into_iter()
        .chain(record_binds(session, root_dir))
        .chain([created_at]);
    let values = conditions.bind_all(values);
    let sql = format!(
        "INSERT INTO session ({}, {}, created_at) VALUES ({values})",
        FIXED.join(", "),
        CHANGING.join(", ")
    );
    tx.execute(&sql, conditions.binds()).await?;
    index_text(tx, session).await?;
    write_labels(tx, session).await?;
    if let Some(live) = &session.live {
        write_live(tx, session, live).await?;
    }
    write_transition(tx, &session.id, transition).await?;
    count_change(tx, None, Some(session)).await?;
    let change = entry(
        session,
        (ChangeOp::Upserted, ChangeReason::Created),
        None,
        session.created_at,
    );
    append(tx, &change).await
}

/// Writes what an outcome changes, and appends its entry, if it has one.
pub(crate) async fn apply(
    tx: &mut Tx,
    before: &Session,
    outcome: &Outcome,
    root_dir: Option<&str>,
    now: Timestamp,
) -> Result<()> {
    let next = &outcome.next;
    if next.live != before.live || (next.live.is_some() && next.activity != before.activity) {
        match &next.live {
            Some(live) => write_live(tx, next, live).await?,
            None => forget_live(tx, &next.id).await?,
        }
    }
    // A heartbeat without news leaves the record alone: its activity is in the row of the live ones.
    if outcome.entry.is_some() {
        write_record(tx, before, next, root_dir).await?;
    }
    if let Some(transition) = &outcome.transition {
        write_transition(tx, &next.id, transition).await?;
    }
    if let Some(reason) = outcome.entry {
        let change = entry(next, (ChangeOp::Upserted, reason), before.workspace_id(), now);
        append(tx, &change).await?;
    }
    Ok(())
}

/// Writes every column of a row that differs.
pub(crate) async fn write_record(
    tx: &mut Tx,
    before: &Session,
    next: &Session,
    root_dir: Option<&str>,
) -> Result<()> {
    let is_irregular = is_counted_irregularly(before);
    if is_irregular {
        count_stored(tx, &before.id, -1).await?;
    }
    let mut conditions = Conditions::default();
    let id = conditions.bind(next.id.as_str());
    let (old, new) = (record_binds(before, root_dir), record_binds(next, root_dir));
    let is_regrouped = before.workspace_id() != next.workspace_id();
    let mut columns: Vec<String> = Vec::new();
    for ((column, old), new) in CHANGING.iter().zip(old).zip(new) {
        let may_differ = match *column {
            // The copy that the store keeps of it may be behind what is known of the live session.
            "activity" | "active_at" => true,
            // What it was relative to is not what it is relative to now.
            "place" => is_regrouped,
            _ => false,
        };
        if old != new || may_differ {
            let value = conditions.bind(new);
            columns.push(format!("{column} = {value}"));
        }
    }
    let sql = format!("UPDATE session SET {} WHERE id = {id}", columns.join(", "));
    tx.execute(&sql, conditions.binds()).await?;
    if search_text(before) != search_text(next) {
        forget_text(tx, &next.id).await?;
        index_text(tx, next).await?;
    }
    if before.labels != next.labels {
        forget_labels(tx, &next.id).await?;
        write_labels(tx, next).await?;
    }
    if is_irregular {
        return count_stored(tx, &next.id, 1).await;
    }
    count_change(tx, Some(before), Some(next)).await
}

/// Removes a session with everything that belongs to it and remembers its id. Appends nothing.
pub(crate) async fn remove_session(tx: &mut Tx, session: &Session, now: Timestamp) -> Result<()> {
    if is_counted_irregularly(session) {
        count_stored(tx, &session.id, -1).await?;
    } else {
        count_change(tx, Some(session), None).await?;
    }
    forget_text(tx, &session.id).await?;
    forget_labels(tx, &session.id).await?;
    forget_live(tx, &session.id).await?;
    let id: Value = session.id.as_str().into();
    for sql in [
        "DELETE FROM session_transition WHERE session_id = $1",
        "DELETE FROM session WHERE id = $1",
    ] {
        tx.execute(sql, std::slice::from_ref(&id)).await?;
    }
    let sql = "INSERT INTO deleted_session (id, at) VALUES ($1, $2)";
    tx.execute(sql, &[id, now.into()]).await?;
    Ok(())
}

/// Whether the stored row may be counted elsewhere than what was read of it says: words that are not understood are
/// replaced, and a workspace that no row has is left out.
fn is_counted_irregularly(session: &Session) -> bool {
    session.defect.is_some() || (session.workspace.is_none() && session.rank.is_some())
}

/// An entry about a session.
pub(crate) fn entry(
    session: &Session,
    (op, reason): (ChangeOp, ChangeReason),
    from: Option<&WorkspaceId>,
    at: Timestamp,
) -> NewChange {
    let workspace_id = session.workspace_id().cloned();
    NewChange {
        kind: ChangeKind::Session,
        op,
        reason,
        host_id: session.host_id.clone(),
        from_workspace_id: from.filter(|from| Some(*from) != workspace_id.as_ref()).cloned(),
        workspace_id,
        session_id: Some(session.id.clone()),
        profile_id: None,
        internal: session.is_internal(),
        version: session.version,
        session_count: 0,
        at,
    }
}

/// Which lists a session is in: 0 all, 1 those of archived, 2 those of internal ones, 3 those of both.
pub(crate) fn hidden(session: &Session) -> i64 {
    i64::from(session.archived_at.is_some()) + 2 * i64::from(session.is_internal())
}

/// The folded text that queries look into. The name of the workspace is not in it: that one is looked up.
pub(crate) fn search_text(session: &Session) -> String {
    let fields = [
        session.id.as_str(),
        session.name.as_str(),
        session.agent.as_str(),
        session.provider.as_str(),
    ];
    let folded: Vec<String> = fields.iter().map(|field| fold_for_search(field)).collect();
    folded.join(&FIELD_END.to_string())
}

fn record_binds(session: &Session, root_dir: Option<&str>) -> Vec<Value> {
    let failure = session.stop.as_ref().and_then(|stop| stop.failure.as_ref());
    let text = |text: &str| Value::from(text);
    vec![
        text(session.workspace_id().map_or("", WorkspaceId::as_str)),
        place_of(
            &session.canonical_cwd,
            root_dir.filter(|_| session.workspace.is_some()),
        )
        .into(),
        session
            .rank
            .as_ref()
            .map_or(&[][..], |rank| rank.as_bytes())
            .into(),
        text(&session.name),
        text(&session.agent),
        text(&session.provider),
        text(&session.model),
        text(session.session_type.as_str()),
        hidden(session).into(),
        text(session.state.as_str()),
        session.state_at.into(),
        text(session.runtime.as_str()),
        text(&session.runtime_holder),
        session.generation.into(),
        Value::Text(session.stop.as_ref().map(documents::write_stop)),
        text(failure.map_or("", |failure| failure.kind.as_str())),
        Value::Text(session.lineage.parent.as_ref().map(ToString::to_string)),
        text(session.lineage.root.as_str()),
        i64::from(session.lineage.depth).into(),
        text(&session.lineage.spawn_role),
        text(session.permission_mode.as_str()),
        Value::Int(session.archived_at.map(Timestamp::nanos)),
        Value::Text(session.activity.as_ref().map(documents::write_activity)),
        session.active_at().into(),
        Value::Bytes(session.finished_lease.as_ref().map(|hash| hash.0.to_vec())),
        documents::write_labels(&session.labels).into(),
        session.has_files.into(),
        session.event_count.into(),
        session.last_sequence.into(),
        Value::Text(session.ledger.as_ref().map(documents::write_ledger)),
        session.attention.class.number().into(),
        session.attention.at.into(),
        search_text(session).into(),
        session.version.into(),
        session.state_number.into(),
        session.updated_at.into(),
    ]
}
