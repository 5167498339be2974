//! The answers of the calls that change sessions.

use compozy_client::proto::session::v1::{
    AcquireAttachLeaseResponse, ArchiveSessionResponse, CreateSessionResponse, DeleteSessionResponse,
    GetSessionResponse, ReleaseAttachLeaseResponse, RenameSessionResponse, ResumeSessionResponse, Session,
    StopSessionResponse, UnarchiveSessionResponse,
};
use serde::Serialize;

use super::super::words::spoken;
use super::super::{Answer, Human};
use super::SessionView;

/// The answers that are one session.
#[derive(Debug, Serialize)]
pub(crate) struct SessionAnswer {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<SessionView>,
    revision: String,
    /// What was done, for people; empty where it was only looked at.
    #[serde(skip)]
    done: &'static str,
}

/// `compozy.session.v1.CreateSessionResponse`, without a lease: none is asked for.
#[derive(Debug, Serialize)]
pub(crate) struct CreationView {
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<SessionView>,
    workspace_registered: bool,
    revision: String,
}

/// `compozy.session.v1.DeleteSessionResponse`.
#[derive(Debug, Serialize)]
pub(crate) struct SessionDeletionView {
    id: String,
    revision: String,
}

impl SessionAnswer {
    fn new(session: Option<Session>, revision: String, done: &'static str) -> Self {
        Self {
            session: session.map(SessionView::from),
            revision,
            done,
        }
    }
}

impl From<GetSessionResponse> for SessionAnswer {
    fn from(answer: GetSessionResponse) -> Self {
        let GetSessionResponse { session, revision } = answer;
        Self::new(session, revision, "")
    }
}

impl From<RenameSessionResponse> for SessionAnswer {
    fn from(answer: RenameSessionResponse) -> Self {
        let RenameSessionResponse { session, revision } = answer;
        Self::new(session, revision, "is named as you said")
    }
}

impl From<StopSessionResponse> for SessionAnswer {
    fn from(answer: StopSessionResponse) -> Self {
        let StopSessionResponse { session, revision } = answer;
        Self::new(session, revision, "is")
    }
}

impl From<ResumeSessionResponse> for SessionAnswer {
    fn from(answer: ResumeSessionResponse) -> Self {
        let ResumeSessionResponse {
            session,
            lease: _,
            revision,
        } = answer;
        Self::new(session, revision, "is")
    }
}

impl From<ArchiveSessionResponse> for SessionAnswer {
    fn from(answer: ArchiveSessionResponse) -> Self {
        let ArchiveSessionResponse { session, revision } = answer;
        Self::new(session, revision, "is archived")
    }
}

impl From<UnarchiveSessionResponse> for SessionAnswer {
    fn from(answer: UnarchiveSessionResponse) -> Self {
        let UnarchiveSessionResponse { session, revision } = answer;
        Self::new(session, revision, "is listed again")
    }
}

impl From<AcquireAttachLeaseResponse> for SessionAnswer {
    fn from(answer: AcquireAttachLeaseResponse) -> Self {
        let AcquireAttachLeaseResponse { session, revision } = answer;
        Self::new(session, revision, "is yours to enter")
    }
}

impl From<ReleaseAttachLeaseResponse> for SessionAnswer {
    fn from(answer: ReleaseAttachLeaseResponse) -> Self {
        let ReleaseAttachLeaseResponse { session, revision } = answer;
        // Giving back what one does not hold is no error, and somebody else stays inside.
        let entered = session.as_ref().is_some_and(|session| session.attach.is_some());
        let done = if entered {
            "was not yours, and stays entered"
        } else {
            "is left"
        };
        Self::new(session, revision, done)
    }
}

impl Answer for SessionAnswer {
    fn human(&self, human: &mut Human) {
        let Some(session) = &self.session else { return };
        match self.done {
            "" => {}
            "is" => human.line(&format!("{} is {}", session.id, spoken(session.state))),
            done => human.line(&format!("{} {done}", session.id)),
        }
        session.human(human);
    }

    fn notes(&self) -> Vec<String> {
        match &self.session {
            Some(session) if self.done == "is" && session.state == "STOPPING" => vec![format!(
                "its runtime was told; `compozy session wait {} --until stopped` waits for it",
                session.id
            )],
            _ => Vec::new(),
        }
    }
}

impl From<CreateSessionResponse> for CreationView {
    fn from(answer: CreateSessionResponse) -> Self {
        let CreateSessionResponse {
            session,
            lease: _,
            workspace_registered,
            revision,
        } = answer;
        Self {
            session: session.map(SessionView::from),
            workspace_registered,
            revision,
        }
    }
}

impl Answer for CreationView {
    fn human(&self, human: &mut Human) {
        let Some(session) = &self.session else { return };
        human.line(&format!("created {}", session.id));
        session.human(human);
    }

    fn notes(&self) -> Vec<String> {
        match &self.session {
            Some(session) if self.workspace_registered => {
                vec![format!("its directory was registered as {}", session.workspace())]
            }
            _ => Vec::new(),
        }
    }
}

impl From<DeleteSessionResponse> for SessionDeletionView {
    fn from(answer: DeleteSessionResponse) -> Self {
        let DeleteSessionResponse { id, revision } = answer;
        Self { id, revision }
    }
}

impl Answer for SessionDeletionView {
    fn human(&self, human: &mut Human) {
        human.line(&format!("removed {}, with its events and its ledger", self.id));
    }
}
