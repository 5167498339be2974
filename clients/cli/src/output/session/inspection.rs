//! Everything about one session: health, history, open questions, secrets by name.

use compozy_client::proto::session::v1::{
    GetSessionHealthResponse, InspectSessionResponse, PermissionRequest, Transition, VaultRecord,
};
use serde::Serialize;

use super::super::table::{Cell, Table};
use super::super::time::Time;
use super::super::words::{short, spoken};
use super::super::{Answer, Human};
use super::human::health_cell;
use super::parts::SessionHealthView;
use super::{SessionView, time};

/// `compozy.session.v1.InspectSessionResponse`.
#[derive(Debug, Serialize)]
pub(crate) struct InspectionView {
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<SessionView>,
    transitions: Vec<TransitionView>,
    pending_permissions: Vec<PermissionRequestView>,
    vault: Vec<VaultRecordView>,
    revision: String,
}

/// The transitions of an inspection.
#[derive(Debug, Serialize)]
pub(crate) struct HistoryView {
    transitions: Vec<TransitionView>,
    revision: String,
}

/// `compozy.session.v1.GetSessionHealthResponse`.
#[derive(Debug, Serialize)]
pub(crate) struct HealthAnswer {
    #[serde(skip_serializing_if = "Option::is_none")]
    health: Option<SessionHealthView>,
}

/// `compozy.session.v1.Transition`.
#[derive(Debug, Serialize)]
struct TransitionView {
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Time>,
    cause: String,
    by: String,
}

/// `compozy.session.v1.PermissionRequest`.
#[derive(Debug, Serialize)]
struct PermissionRequestView {
    sequence: i64,
    event_id: String,
    tool: String,
    rule: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    requested_at: Option<Time>,
}

/// `compozy.session.v1.VaultRecord`.
#[derive(Debug, Serialize)]
struct VaultRecordView {
    r#ref: String,
    kind: String,
    present: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_at: Option<Time>,
}

impl From<InspectSessionResponse> for InspectionView {
    fn from(answer: InspectSessionResponse) -> Self {
        let InspectSessionResponse {
            session,
            transitions,
            pending_permissions,
            vault,
            revision,
        } = answer;
        Self {
            session: session.map(SessionView::from),
            transitions: transitions.into_iter().map(TransitionView::from).collect(),
            pending_permissions: pending_permissions
                .into_iter()
                .map(PermissionRequestView::from)
                .collect(),
            vault: vault.into_iter().map(VaultRecordView::from).collect(),
            revision,
        }
    }
}

impl From<InspectSessionResponse> for HistoryView {
    fn from(answer: InspectSessionResponse) -> Self {
        let InspectionView {
            transitions,
            revision,
            ..
        } = answer.into();
        Self {
            transitions,
            revision,
        }
    }
}

impl From<GetSessionHealthResponse> for HealthAnswer {
    fn from(answer: GetSessionHealthResponse) -> Self {
        let GetSessionHealthResponse { health } = answer;
        Self {
            health: health.map(SessionHealthView::from),
        }
    }
}

impl From<Transition> for TransitionView {
    fn from(transition: Transition) -> Self {
        let state = short(transition.state().as_str_name(), "SESSION_STATE_");
        let Transition {
            state: _,
            at,
            cause,
            by,
        } = transition;
        Self {
            state,
            at: time(at),
            cause,
            by,
        }
    }
}

impl From<PermissionRequest> for PermissionRequestView {
    fn from(request: PermissionRequest) -> Self {
        let PermissionRequest {
            sequence,
            event_id,
            tool,
            rule,
            requested_at,
        } = request;
        Self {
            sequence,
            event_id,
            tool,
            rule,
            requested_at: time(requested_at),
        }
    }
}

impl From<VaultRecord> for VaultRecordView {
    fn from(record: VaultRecord) -> Self {
        let VaultRecord {
            r#ref,
            kind,
            present,
            created_at,
            updated_at,
        } = record;
        Self {
            r#ref,
            kind,
            present,
            created_at: time(created_at),
            updated_at: time(updated_at),
        }
    }
}

impl Answer for InspectionView {
    fn human(&self, human: &mut Human) {
        if let Some(session) = &self.session {
            session.human(human);
        }
        if !self.transitions.is_empty() {
            human.gap();
            human.heading("History");
            human.table(&history(&self.transitions, human));
        }
        if !self.pending_permissions.is_empty() {
            human.gap();
            human.heading("Questions that wait for an answer");
            human.table(&questions(&self.pending_permissions, human));
        }
        if !self.vault.is_empty() {
            human.gap();
            human.heading("Secrets");
            human.table(&secrets(&self.vault));
        }
    }
}

impl Answer for HistoryView {
    const ROWS: Option<&'static str> = Some("transitions");

    fn human(&self, human: &mut Human) {
        human.table(&history(&self.transitions, human));
    }
}

impl Answer for HealthAnswer {
    fn human(&self, human: &mut Human) {
        let Some(health) = &self.health else { return };
        let answer = |holds| Cell::plain(if holds { "yes" } else { "no" });
        let why_not = match health.ineligibility_reason {
            "UNSPECIFIED" => String::new(),
            reason => spoken(reason),
        };
        human.fields(&[
            ("health", health_cell(Some(health))),
            ("badge", Cell::plain(spoken(health.badge))),
            ("can be entered", answer(health.attachable)),
            ("can be woken", answer(health.eligible_for_wake)),
            ("why not", Cell::plain(why_not)),
        ]);
    }
}

fn history(transitions: &[TransitionView], human: &Human) -> Table {
    let mut table = Table::new(&["AT", "STATE", "CAUSE", "BY"]).yielding(&["CAUSE", "BY"]);
    for transition in transitions {
        table.row(vec![
            human.time(transition.at),
            Cell::plain(spoken(transition.state)),
            Cell::plain(&transition.cause),
            Cell::plain(&transition.by),
        ]);
    }
    table
}

fn questions(requests: &[PermissionRequestView], human: &Human) -> Table {
    let mut table = Table::new(&["AT", "TOOL", "RULE", "EVENT"]).yielding(&["RULE"]);
    for request in requests {
        table.row(vec![
            human.time(request.requested_at),
            Cell::plain(&request.tool),
            Cell::plain(&request.rule),
            Cell::plain(&request.event_id),
        ]);
    }
    table
}

fn secrets(records: &[VaultRecordView]) -> Table {
    let mut table = Table::new(&["REF", "KIND", "PRESENT"]);
    for record in records {
        table.row(vec![
            Cell::plain(&record.r#ref),
            Cell::plain(&record.kind),
            Cell::plain(if record.present { "yes" } else { "no" }),
        ]);
    }
    table
}
