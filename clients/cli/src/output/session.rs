//! A session: its record, alone and in an answer.

mod answers;
mod human;
mod inspection;
mod list;
mod live;
mod parts;

use std::collections::BTreeMap;

use compozy_client::proto::session::v1::Session;
use prost_types::Timestamp;
use serde::Serialize;

use super::time::Time;
use super::words::short;
use parts::{
    ActivityView, AttachLeaseView, LedgerRecordView, LineageView, OriginView, RuntimeView, SessionHealthView,
    StartView, StopView,
};

pub(crate) use answers::{CreationView, SessionAnswer, SessionDeletionView};
pub(crate) use inspection::{HealthAnswer, HistoryView, InspectionView};
pub(crate) use list::SessionListView;
pub(super) use list::table;
pub(crate) use live::LiveView;

/// `compozy.session.v1.Session`. Enum values stand without the prefix of their type.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct SessionView {
    pub(crate) id: String,
    workspace_id: String,
    workspace_name: String,
    host_id: String,
    cwd: String,
    canonical_cwd: String,
    name: String,
    agent: String,
    provider: String,
    model: String,
    r#type: &'static str,
    pub(crate) state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    runtime: Option<RuntimeView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop: Option<StopView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lineage: Option<LineageView>,
    permission_mode: &'static str,
    profile_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    archived_at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    activity: Option<ActivityView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attach: Option<AttachLeaseView>,
    attachable: bool,
    resumable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<StartView>,
    snapshot_fingerprint: String,
    labels: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<OriginView>,
    event_count: i64,
    last_sequence: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ledger: Option<LedgerRecordView>,
    badge: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    health: Option<SessionHealthView>,
    internal: bool,
    has_files: bool,
    etag: String,
    version: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    defect: Option<String>,
}

impl From<Session> for SessionView {
    fn from(session: Session) -> Self {
        let r#type = short(session.r#type().as_str_name(), "SESSION_TYPE_");
        let state = short(session.state().as_str_name(), "SESSION_STATE_");
        let permission_mode = short(session.permission_mode().as_str_name(), "PERMISSION_MODE_");
        let badge = short(session.badge().as_str_name(), "SESSION_BADGE_");
        let Session {
            id,
            workspace_id,
            workspace_name,
            host_id,
            cwd,
            canonical_cwd,
            name,
            agent,
            provider,
            model,
            r#type: _,
            state: _,
            runtime,
            stop,
            lineage,
            permission_mode: _,
            profile_id,
            archived_at,
            activity,
            attach,
            attachable,
            resumable,
            start,
            snapshot_fingerprint,
            labels,
            origin,
            event_count,
            last_sequence,
            ledger,
            badge: _,
            health,
            internal,
            has_files,
            etag,
            version,
            created_at,
            updated_at,
            defect,
        } = session;
        Self {
            id,
            workspace_id,
            workspace_name,
            host_id,
            cwd,
            canonical_cwd,
            name,
            agent,
            provider,
            model,
            r#type,
            state,
            runtime: runtime.map(RuntimeView::from),
            stop: stop.map(StopView::from),
            lineage: lineage.map(LineageView::from),
            permission_mode,
            profile_id,
            archived_at: time(archived_at),
            activity: activity.map(ActivityView::from),
            attach: attach.map(AttachLeaseView::from),
            attachable,
            resumable,
            start: start.map(StartView::from),
            snapshot_fingerprint,
            labels,
            origin: origin.map(OriginView::from),
            event_count,
            last_sequence,
            ledger: ledger.map(LedgerRecordView::from),
            badge,
            health: health.map(SessionHealthView::from),
            internal,
            has_files,
            etag,
            version,
            created_at: time(created_at),
            updated_at: time(updated_at),
            defect,
        }
    }
}

impl SessionView {
    /// What people call it: its name, else its agent.
    pub(crate) fn label(&self) -> &str {
        [&self.name, &self.agent, &self.id]
            .into_iter()
            .find(|text| !text.is_empty())
            .map_or("", String::as_str)
    }

    /// The name of its workspace, else the id.
    fn workspace(&self) -> &str {
        if self.workspace_name.is_empty() {
            &self.workspace_id
        } else {
            &self.workspace_name
        }
    }

    /// When something last happened in it.
    fn last_activity(&self) -> Option<Time> {
        let reported = self
            .activity
            .as_ref()
            .and_then(|activity| activity.last_activity_at);
        reported.or(self.created_at)
    }

    /// Whether somebody has to look at it.
    fn needs_you(&self) -> bool {
        matches!(self.badge, "FAILED" | "WAITING_FOR_AUTH" | "WAITING_FOR_INPUT")
    }

    /// Where the change log has it, for a watch's line.
    pub(super) fn updated_at(&self) -> Option<Time> {
        self.updated_at
    }
}

fn time(at: Option<Timestamp>) -> Option<Time> {
    at.and_then(|time| Time::new(time.seconds, time.nanos))
}
