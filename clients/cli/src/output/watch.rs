//! What a watch tells: one record for each event.

use compozy_client::proto::change::v1::{Change, ProfileSelection, RemovedSessions, Row, row::Record};
use compozy_client::{Error, ResyncCause, WatchEvent};
use serde::Serialize;

use super::human::Human;
use super::profile::ProfileView;
use super::session::SessionView;
use super::time::Time;
use super::words::{short, spoken};
use super::workspace::WorkspaceView;
use super::{Answer, failure};
use crate::failure::Failure;

/// One event of a watch.
#[derive(Debug, Serialize)]
pub(crate) struct EventView {
    #[serde(skip_serializing_if = "Option::is_none")]
    resolution_source: Option<&'static str>,
    #[serde(flatten)]
    event: Event,
}

#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Event {
    Changed(Box<ChangeView>),
    Removed(Box<ChangeView>),
    Row {
        row: Box<RowView>,
    },
    Synced {
        #[serde(skip_serializing_if = "Option::is_none")]
        token: Option<String>,
    },
    /// Nothing happened, and a watch goes on from here.
    Position {
        token: String,
    },
    Resync {
        workspace_ids: Vec<String>,
        reason: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        token: Option<String>,
    },
}

/// `compozy.change.v1.Change`. Enum values stand without the prefix of their type.
#[derive(Debug, Serialize)]
struct ChangeView {
    token: String,
    kind: &'static str,
    op: &'static str,
    reason: &'static str,
    host_id: String,
    workspace_id: String,
    from_workspace_id: String,
    session_id: String,
    profile_id: String,
    internal: bool,
    version: i64,
    removed_sessions: &'static str,
    session_count: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<RowView>,
}

/// `compozy.change.v1.Row`.
#[derive(Debug, Default, Serialize)]
struct RowView {
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace: Option<WorkspaceView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<ProfileView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    selection: Option<SelectionRowView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<Box<SessionView>>,
}

/// `compozy.change.v1.ProfileSelection`.
#[derive(Debug, Serialize)]
struct SelectionRowView {
    workspace_id: String,
    profile_id: String,
}

/// What happens to the connection of a watch.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum NoticeView {
    /// It was lost.
    Reconnecting {
        /// Why, as a failure of a command would be told.
        #[serde(flatten)]
        error: serde_json::Value,
    },
    /// It is there again.
    Reconnected,
}

impl EventView {
    /// The record of an event; `token` is where a watch goes on after it. `None` for an event that this
    /// release has no words for.
    pub(crate) fn new(event: WatchEvent, token: Option<&str>, source: Option<&'static str>) -> Option<Self> {
        let token = token.map(str::to_owned);
        let event = match event {
            WatchEvent::Changed(change) => Event::Changed(Box::new(change.into())),
            WatchEvent::Removed(change) => Event::Removed(Box::new(change.into())),
            WatchEvent::Row(row) => Event::Row {
                row: Box::new(row.into()),
            },
            WatchEvent::Synced => Event::Synced { token },
            WatchEvent::Resync {
                workspace_ids,
                reason,
            } => Event::Resync {
                workspace_ids,
                reason: cause_name(reason),
                token,
            },
            _ => return None,
        };
        Some(Self {
            resolution_source: source,
            event,
        })
    }

    /// The record of a place that a watch has reached without an event.
    pub(crate) const fn position(token: String, source: Option<&'static str>) -> Self {
        Self {
            resolution_source: source,
            event: Event::Position { token },
        }
    }
}

impl NoticeView {
    pub(crate) fn reconnecting(error: &Error) -> Self {
        let error = match Failure::from(error.clone()) {
            Failure::Told(told) => failure::object(&told),
            Failure::ClosedPipe => serde_json::Value::Null,
        };
        Self::Reconnecting { error }
    }
}

impl From<Change> for ChangeView {
    fn from(change: Change) -> Self {
        let kind = short(change.kind().as_str_name(), "CHANGE_KIND_");
        let op = short(change.op().as_str_name(), "CHANGE_OP_");
        let reason = short(change.reason().as_str_name(), "CHANGE_REASON_");
        let removed_sessions = short(change.removed_sessions().as_str_name(), "REMOVED_SESSIONS_");
        let Change {
            token,
            kind: _,
            op: _,
            reason: _,
            host_id,
            workspace_id,
            from_workspace_id,
            session_id,
            profile_id,
            internal,
            version,
            removed_sessions: _,
            session_count,
            at,
            row,
        } = change;
        Self {
            token,
            kind,
            op,
            reason,
            host_id,
            workspace_id,
            from_workspace_id,
            session_id,
            profile_id,
            internal,
            version,
            removed_sessions,
            session_count,
            at: at.and_then(|time| Time::new(time.seconds, time.nanos)),
            row: row.map(RowView::from),
        }
    }
}

impl From<Row> for RowView {
    fn from(row: Row) -> Self {
        let Row { record } = row;
        let mut view = Self::default();
        match record {
            Some(Record::Workspace(workspace)) => view.workspace = Some(workspace.into()),
            Some(Record::Profile(profile)) => view.profile = Some(profile.into()),
            Some(Record::Selection(selection)) => view.selection = Some(selection.into()),
            Some(Record::Session(session)) => view.session = Some(Box::new(session.into())),
            None => {}
        }
        view
    }
}

impl From<ProfileSelection> for SelectionRowView {
    fn from(selection: ProfileSelection) -> Self {
        let ProfileSelection {
            workspace_id,
            profile_id,
        } = selection;
        Self {
            workspace_id,
            profile_id,
        }
    }
}

impl RowView {
    /// Writes a row that was there when the watch began.
    fn human(&self, human: &mut Human) {
        if let Some(session) = &self.session {
            let at = human.clock(session.updated_at());
            let words = ["session", "present", session.state].map(spoken);
            return human.line(&columns(&at, &words, session.label(), &session.id));
        }
        let (at, kind, label, more) = match (&self.workspace, &self.profile, &self.selection) {
            (Some(workspace), ..) => {
                let at = human.clock(workspace.updated_at);
                (at, "workspace", workspace.label(), workspace.root_dir.as_str())
            }
            (_, Some(profile), _) => {
                let at = human.clock(profile.updated_at);
                (at, "profile", profile.name.as_str(), profile.id.as_str())
            }
            (.., Some(selection)) => {
                let place = match selection.workspace_id.as_str() {
                    "" => "everything else",
                    id => id,
                };
                (String::new(), "selection", selection.profile_id.as_str(), place)
            }
            (None, None, None) => return,
        };
        let words = [kind, "present", ""].map(spoken);
        human.line(&columns(&at, &words, label, more));
    }
}

impl ChangeView {
    /// What it is about: the name where the row came along, otherwise the nearest id.
    fn label(&self) -> &str {
        if let Some(row) = &self.row {
            if let Some(workspace) = &row.workspace {
                return workspace.label();
            }
            if let Some(profile) = &row.profile {
                return &profile.name;
            }
            if let Some(session) = &row.session {
                return session.label();
            }
        }
        let ids = [&self.session_id, &self.workspace_id, &self.profile_id];
        ids.into_iter()
            .find(|id| !id.is_empty())
            .map(String::as_str)
            .unwrap_or_default()
    }

    /// What else there is to know about it: of a session that is told by its name, which one it is and where it stands.
    fn more(&self) -> String {
        match self.row.as_ref().and_then(|row| row.session.as_ref()) {
            Some(session) => format!("{}  {}", session.id, spoken(session.state)),
            None => self.sessions(),
        }
    }

    /// What became of the sessions of a removed workspace.
    fn sessions(&self) -> String {
        let kept = short(RemovedSessions::Kept.as_str_name(), "REMOVED_SESSIONS_");
        let fate = if self.removed_sessions == kept {
            "kept"
        } else {
            "deleted"
        };
        match self.session_count {
            0 => String::new(),
            1 => format!("1 session {fate}"),
            count => format!("{count} sessions {fate}"),
        }
    }
}

impl Answer for EventView {
    fn human(&self, human: &mut Human) {
        match &self.event {
            Event::Changed(change) | Event::Removed(change) => {
                let at = human.clock(change.at);
                let words = [change.kind, change.op, change.reason].map(spoken);
                human.line(&columns(&at, &words, change.label(), &change.more()));
            }
            Event::Row { row } => row.human(human),
            Event::Synced { .. } | Event::Position { .. } | Event::Resync { .. } => {}
        }
    }

    fn notes(&self) -> Vec<String> {
        match &self.event {
            Event::Synced { .. } => vec!["from here on it is live".to_owned()],
            Event::Resync {
                workspace_ids,
                reason,
                ..
            } => vec![format!(
                "changes are missing ({}): what is known of {} has to be read again",
                why(reason),
                if workspace_ids.is_empty() {
                    "all that is watched".to_owned()
                } else {
                    workspace_ids.join(", ")
                }
            )],
            Event::Changed(_) | Event::Removed(_) | Event::Row { .. } | Event::Position { .. } => Vec::new(),
        }
    }
}

/// Time, kind, what happened, why, to what, and more about it.
fn columns(at: &str, [kind, op, reason]: &[String; 3], label: &str, more: &str) -> String {
    let line = format!("{at:19}  {kind:15}  {op:8}  {reason:12}  {label}  {more}");
    line.trim_end().to_owned()
}

/// The names of the contract, and one for what only the client sees.
fn cause_name(cause: ResyncCause) -> &'static str {
    match cause {
        ResyncCause::Expired => "EXPIRED",
        ResyncCause::Epoch => "EPOCH",
        ResyncCause::Behind => "BEHIND",
        ResyncCause::SnapshotCut => "SNAPSHOT_CUT",
        _ => "UNSPECIFIED",
    }
}

fn why(name: &str) -> &'static str {
    match name {
        "EXPIRED" => "the token had expired",
        "EPOCH" => "the store was restored or has failed over",
        "BEHIND" => "they came faster than they were read",
        "SNAPSHOT_CUT" => "the connection was cut, and the rows come again",
        _ => "the daemon gives a reason that this release does not know",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use compozy_client::proto::change::v1::{ChangeKind, ChangeOp, ChangeReason};

    use super::*;

    fn removal(session_count: i64) -> ChangeView {
        ChangeView::from(Change {
            token: "t1".to_owned(),
            kind: ChangeKind::Workspace.into(),
            op: ChangeOp::Deleted.into(),
            reason: ChangeReason::Removed.into(),
            workspace_id: "ws_1".to_owned(),
            removed_sessions: RemovedSessions::Kept.into(),
            session_count,
            ..Change::default()
        })
    }

    #[test]
    fn a_removal_tells_what_became_of_the_sessions() {
        assert_eq!(removal(0).sessions(), "");
        assert_eq!(removal(1).sessions(), "1 session kept");
        assert_eq!(removal(3).sessions(), "3 sessions kept");
        assert_eq!(removal(0).label(), "ws_1");
    }

    #[test]
    fn profiles_and_selections_are_told_by_name() {
        use compozy_client::proto::profile::v1::Profile;
        let profile = Profile {
            id: "01P".to_owned(),
            name: "work".to_owned(),
            ..Profile::default()
        };
        let selection = ProfileSelection {
            workspace_id: "ws_1".to_owned(),
            profile_id: "01P".to_owned(),
        };
        let told = |record: Record| {
            let row = RowView::from(Row { record: Some(record) });
            let mut human = Human::new(crate::output::style::Style {
                color: false,
                width: None,
            });
            row.human(&mut human);
            let words: Vec<String> = human.finish().split_whitespace().map(str::to_owned).collect();
            (words.join(" "), serde_json::to_value(&row).unwrap())
        };
        let (line, json) = told(Record::Profile(profile));
        assert_eq!(
            (line.as_str(), &json["profile"]["name"]),
            ("profile present work 01P", &"work".into())
        );
        let (line, json) = told(Record::Selection(selection));
        assert_eq!(line, "selection present 01P ws_1");
        assert_eq!(json["selection"]["workspace_id"], "ws_1");
    }

    #[test]
    fn an_event_is_a_flat_record_with_its_name() {
        let event = WatchEvent::Resync {
            workspace_ids: Vec::new(),
            reason: ResyncCause::Behind,
        };
        let view = EventView::new(event, Some("t9"), Some("flag")).unwrap();
        assert_eq!(
            serde_json::to_string(&view).unwrap(),
            r#"{"resolution_source":"flag","event":"resync","workspace_ids":[],"reason":"BEHIND","token":"t9"}"#
        );
    }
}
