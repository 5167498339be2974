//! The parts of a session that are stored as JSON: they are shown, never searched.

use std::collections::BTreeMap;

use compozy_domain::Timestamp;
use compozy_domain::session::{Activity, Failure, FailureKind, LedgerRecord, Stop, StopCause, StopReason};
use serde_json::{Map, Value, json};

pub(crate) fn write_stop(stop: &Stop) -> String {
    let Stop {
        cause,
        reason,
        detail,
        failure,
        exit_status,
        requested_at,
        stopped_at,
    } = stop;
    json!({
        "cause": cause.map(StopCause::as_str),
        "reason": reason.map(StopReason::as_str),
        "detail": detail,
        "failure": failure.as_ref().map(|failure| failure.kind.as_str()),
        "summary": failure.as_ref().map(|failure| failure.summary.as_str()),
        "exit_status": exit_status,
        "requested_at": requested_at.map(Timestamp::nanos),
        "stopped_at": stopped_at.map(Timestamp::nanos),
    })
    .to_string()
}

pub(crate) fn read_stop(text: &str) -> Option<Stop> {
    let all = object(text)?;
    let failure = word(&all, "failure", FailureKind::parse)?.map(|kind| Failure {
        kind,
        summary: string(&all, "summary"),
    });
    Some(Stop {
        cause: word(&all, "cause", StopCause::parse)?,
        reason: word(&all, "reason", StopReason::parse)?,
        detail: string(&all, "detail"),
        failure,
        exit_status: number(&all, "exit_status").and_then(|status| i32::try_from(status).ok()),
        requested_at: number(&all, "requested_at").map(Timestamp::from_nanos),
        stopped_at: number(&all, "stopped_at").map(Timestamp::from_nanos),
    })
}

pub(crate) fn write_activity(activity: &Activity) -> String {
    let Activity {
        at,
        kind,
        detail,
        tool,
        turn_id,
    } = activity;
    json!({ "at": at.nanos(), "kind": kind, "detail": detail, "tool": tool, "turn_id": turn_id }).to_string()
}

pub(crate) fn read_activity(text: &str) -> Option<Activity> {
    let all = object(text)?;
    Some(Activity {
        at: Timestamp::from_nanos(number(&all, "at")?),
        kind: string(&all, "kind"),
        detail: string(&all, "detail"),
        tool: string(&all, "tool"),
        turn_id: string(&all, "turn_id"),
    })
}

pub(crate) fn write_ledger(ledger: &LedgerRecord) -> String {
    let LedgerRecord {
        path,
        sha256,
        size,
        written_at,
        problem,
    } = ledger;
    let written_at = written_at.map(Timestamp::nanos);
    json!({ "path": path, "sha256": sha256, "size": size, "written_at": written_at, "problem": problem })
        .to_string()
}

pub(crate) fn read_ledger(text: &str) -> Option<LedgerRecord> {
    let all = object(text)?;
    Some(LedgerRecord {
        path: string(&all, "path"),
        sha256: string(&all, "sha256"),
        size: number(&all, "size").unwrap_or(0),
        written_at: number(&all, "written_at").map(Timestamp::from_nanos),
        problem: string(&all, "problem"),
    })
}

pub(crate) fn write_labels(labels: &BTreeMap<String, String>) -> String {
    json!(labels).to_string()
}

pub(crate) fn read_labels(text: &str) -> Option<BTreeMap<String, String>> {
    serde_json::from_str(text).ok()
}

fn object(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(text).ok()
}

fn string(all: &Map<String, Value>, key: &str) -> String {
    all.get(key)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

fn number(all: &Map<String, Value>, key: &str) -> Option<i64> {
    all.get(key)?.as_i64()
}

/// A word that may be absent; `None` for one of a newer release.
#[expect(clippy::option_option, reason = "absent, and not understood, are two things")]
fn word<T>(all: &Map<String, Value>, key: &str, parse: fn(&str) -> Option<T>) -> Option<Option<T>> {
    match all.get(key).and_then(Value::as_str) {
        None => Some(None),
        Some(text) => parse(text).map(Some),
    }
}
