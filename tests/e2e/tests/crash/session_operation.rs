//! One write about a session, with its request id: it can be sent again.

use compozy_client::{Client, Error};
use compozy_proto::session::v1::{
    ArchiveSessionRequest, BindRuntimeRequest, CreateSessionRequest, DeleteSessionRequest,
    FinishSessionRequest, RenameSessionRequest, ResumeSessionRequest, Session, StopSessionRequest,
    UnarchiveSessionRequest,
};
use compozy_proto::workspace::v1::{AttachSessionRequest, DetachSessionRequest, MoveSessionRequest};

use crate::session_held::SessionRow;

/// A write.
#[derive(Debug, Clone)]
pub(crate) struct SessionOperation {
    pub(crate) what: What,
}

/// What it does, and how it is asked for.
#[derive(Debug, Clone)]
pub(crate) enum What {
    Create {
        id: String,
        workspace: String,
        is_bound: bool,
        request: Box<CreateSessionRequest>,
    },
    Rename {
        id: String,
        name: String,
        request: RenameSessionRequest,
    },
    Bind {
        id: String,
        request: BindRuntimeRequest,
    },
    Stop {
        id: String,
        request: StopSessionRequest,
    },
    Finish {
        id: String,
        request: FinishSessionRequest,
    },
    Resume {
        id: String,
        request: ResumeSessionRequest,
    },
    Archive {
        id: String,
        request: ArchiveSessionRequest,
    },
    Unarchive {
        id: String,
        request: UnarchiveSessionRequest,
    },
    Delete {
        id: String,
        request: DeleteSessionRequest,
    },
    Attach {
        id: String,
        workspace: String,
        request: AttachSessionRequest,
    },
    Detach {
        id: String,
        request: DetachSessionRequest,
    },
    Move {
        id: String,
        /// Empty is the end.
        before: String,
        request: MoveSessionRequest,
    },
}

/// What came back.
#[derive(Debug, Clone)]
pub(crate) struct SessionAnswer {
    /// The session, where the answer has it.
    pub(crate) row: Option<SessionRow>,
    /// The token of a new lease: only the first answer has it.
    pub(crate) lease: Option<String>,
    /// Everything else, word by word.
    words: String,
}

impl PartialEq for SessionAnswer {
    fn eq(&self, other: &Self) -> bool {
        self.words == other.words
    }
}

impl SessionAnswer {
    fn of(session: Option<&Session>, lease: Option<String>, words: String) -> Self {
        Self {
            row: session.map(SessionRow::of),
            lease,
            words,
        }
    }
}

/// Sends a request whose answer shows the session.
macro_rules! send {
    ($client:expr, $method:ident, $request:expr) => {{
        let answer = $client.$method($request.clone()).await?;
        SessionAnswer::of(answer.session.as_ref(), None, format!("{answer:?}"))
    }};
}

/// The same, where the answer has a lease, too. Without one it says nothing else of it.
macro_rules! send_for_lease {
    ($client:expr, $method:ident, $request:expr) => {{
        let mut answer = $client.$method($request).await?;
        let lease = answer.lease.take().map(|lease| lease.token);
        let lease = lease.filter(|token| !token.is_empty());
        SessionAnswer::of(answer.session.as_ref(), lease, format!("{answer:?}"))
    }};
}

impl SessionOperation {
    /// The session that it is about.
    pub(crate) fn id(&self) -> &str {
        match &self.what {
            What::Create { id, .. }
            | What::Rename { id, .. }
            | What::Bind { id, .. }
            | What::Stop { id, .. }
            | What::Finish { id, .. }
            | What::Resume { id, .. }
            | What::Archive { id, .. }
            | What::Unarchive { id, .. }
            | What::Delete { id, .. }
            | What::Attach { id, .. }
            | What::Detach { id, .. }
            | What::Move { id, .. } => id,
        }
    }

    pub(crate) async fn send(&self, client: &Client) -> Result<SessionAnswer, Error> {
        Ok(match &self.what {
            What::Create { request, .. } => {
                send_for_lease!(client, create_session, request.as_ref().clone())
            }
            What::Bind { request, .. } => send_for_lease!(client, bind_runtime, request.clone()),
            What::Rename { request, .. } => send!(client, rename_session, request),
            What::Stop { request, .. } => send!(client, stop_session, request),
            What::Finish { request, .. } => send!(client, finish_session, request),
            What::Resume { request, .. } => send!(client, resume_session, request),
            What::Archive { request, .. } => send!(client, archive_session, request),
            What::Unarchive { request, .. } => send!(client, unarchive_session, request),
            What::Delete { request, .. } => {
                let answer = client.delete_session(request.clone()).await?;
                SessionAnswer::of(None, None, format!("{answer:?}"))
            }
            What::Attach { request, .. } => {
                let answer = client.attach_session(request.clone()).await?;
                SessionAnswer::of(None, None, format!("{answer:?}"))
            }
            What::Detach { request, .. } => {
                let answer = client.detach_session(request.clone()).await?;
                SessionAnswer::of(None, None, format!("{answer:?}"))
            }
            What::Move { request, .. } => {
                let answer = client.move_session(request.clone()).await?;
                SessionAnswer::of(None, None, format!("{answer:?}"))
            }
        })
    }
}
