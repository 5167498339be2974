//! The messages within a session's record. Enum values stand without the prefix of their type.

use compozy_client::proto::session::v1::{
    Activity, AttachLease, Failure, LedgerRecord, Lineage, Origin, Runtime, SessionHealth, Start, Stop,
};
use serde::Serialize;

use super::super::time::Time;
use super::super::words::short;
use super::time;

/// `compozy.session.v1.Runtime`.
#[derive(Debug, Clone, Serialize)]
pub(super) struct RuntimeView {
    pub(super) state: &'static str,
    pub(super) holder: String,
    generation: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) expires_at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_heartbeat_at: Option<Time>,
}

/// `compozy.session.v1.Stop`.
#[derive(Debug, Clone, Serialize)]
pub(super) struct StopView {
    pub(super) cause: &'static str,
    pub(super) reason: &'static str,
    pub(super) detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) failure: Option<FailureView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) exit_status: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) requested_at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stopped_at: Option<Time>,
}

/// `compozy.session.v1.Failure`.
#[derive(Debug, Clone, Serialize)]
pub(super) struct FailureView {
    pub(super) kind: &'static str,
    pub(super) summary: String,
}

/// `compozy.session.v1.Lineage`.
#[derive(Debug, Clone, Serialize)]
pub(super) struct LineageView {
    pub(super) parent_session_id: String,
    pub(super) root_session_id: String,
    pub(super) depth: i32,
    pub(super) spawn_role: String,
}

/// `compozy.session.v1.Activity`.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ActivityView {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) last_activity_at: Option<Time>,
    pub(super) kind: String,
    pub(super) detail: String,
    pub(super) current_tool: String,
    turn_id: String,
}

/// `compozy.session.v1.AttachLease`.
#[derive(Debug, Clone, Serialize)]
pub(super) struct AttachLeaseView {
    pub(super) holder: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) expires_at: Option<Time>,
}

/// `compozy.session.v1.Start`.
#[derive(Debug, Clone, Serialize)]
pub(super) struct StartView {
    pub(super) cause: String,
    pub(super) by: String,
}

/// `compozy.session.v1.Origin`.
#[derive(Debug, Clone, Serialize)]
pub(super) struct OriginView {
    pub(super) tool: String,
    pub(super) id: String,
}

/// `compozy.session.v1.LedgerRecord`.
#[derive(Debug, Clone, Serialize)]
pub(super) struct LedgerRecordView {
    pub(super) path: String,
    sha256: String,
    size: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    written_at: Option<Time>,
    pub(super) problem: String,
}

/// `compozy.session.v1.SessionHealth`.
#[derive(Debug, Clone, Serialize)]
pub(super) struct SessionHealthView {
    pub(super) state: &'static str,
    pub(super) health: &'static str,
    pub(super) attachable: bool,
    pub(super) eligible_for_wake: bool,
    pub(super) ineligibility_reason: &'static str,
    pub(super) badge: &'static str,
}

impl From<Runtime> for RuntimeView {
    fn from(runtime: Runtime) -> Self {
        let state = short(runtime.state().as_str_name(), "RUNTIME_STATE_");
        let Runtime {
            state: _,
            holder,
            generation,
            expires_at,
            last_heartbeat_at,
        } = runtime;
        Self {
            state,
            holder,
            generation,
            expires_at: time(expires_at),
            last_heartbeat_at: time(last_heartbeat_at),
        }
    }
}

impl From<Stop> for StopView {
    fn from(stop: Stop) -> Self {
        let cause = short(stop.cause().as_str_name(), "STOP_CAUSE_");
        let reason = short(stop.reason().as_str_name(), "STOP_REASON_");
        let Stop {
            cause: _,
            reason: _,
            detail,
            failure,
            exit_status,
            requested_at,
            stopped_at,
        } = stop;
        Self {
            cause,
            reason,
            detail,
            failure: failure.map(FailureView::from),
            exit_status,
            requested_at: time(requested_at),
            stopped_at: time(stopped_at),
        }
    }
}

impl From<Failure> for FailureView {
    fn from(failure: Failure) -> Self {
        let kind = short(failure.kind().as_str_name(), "FAILURE_KIND_");
        let Failure { kind: _, summary } = failure;
        Self { kind, summary }
    }
}

impl From<Lineage> for LineageView {
    fn from(lineage: Lineage) -> Self {
        let Lineage {
            parent_session_id,
            root_session_id,
            depth,
            spawn_role,
        } = lineage;
        Self {
            parent_session_id,
            root_session_id,
            depth,
            spawn_role,
        }
    }
}

impl From<Activity> for ActivityView {
    fn from(activity: Activity) -> Self {
        let Activity {
            last_activity_at,
            kind,
            detail,
            current_tool,
            turn_id,
        } = activity;
        Self {
            last_activity_at: time(last_activity_at),
            kind,
            detail,
            current_tool,
            turn_id,
        }
    }
}

impl From<AttachLease> for AttachLeaseView {
    fn from(lease: AttachLease) -> Self {
        let AttachLease { holder, expires_at } = lease;
        Self {
            holder,
            expires_at: time(expires_at),
        }
    }
}

impl From<Start> for StartView {
    fn from(start: Start) -> Self {
        let Start { cause, by } = start;
        Self { cause, by }
    }
}

impl From<Origin> for OriginView {
    fn from(origin: Origin) -> Self {
        let Origin { tool, id } = origin;
        Self { tool, id }
    }
}

impl From<LedgerRecord> for LedgerRecordView {
    fn from(ledger: LedgerRecord) -> Self {
        let LedgerRecord {
            path,
            sha256,
            size,
            written_at,
            problem,
        } = ledger;
        Self {
            path,
            sha256,
            size,
            written_at: time(written_at),
            problem,
        }
    }
}

impl From<SessionHealth> for SessionHealthView {
    fn from(health: SessionHealth) -> Self {
        let state = short(health.state().as_str_name(), "HEALTH_STATE_");
        let word = short(health.health().as_str_name(), "HEALTH_");
        let reason = health.ineligibility_reason().as_str_name();
        let badge = short(health.badge().as_str_name(), "SESSION_BADGE_");
        let SessionHealth {
            state: _,
            health: _,
            attachable,
            eligible_for_wake,
            ineligibility_reason: _,
            badge: _,
        } = health;
        Self {
            state,
            health: word,
            attachable,
            eligible_for_wake,
            ineligibility_reason: short(reason, "INELIGIBILITY_REASON_"),
            badge,
        }
    }
}
