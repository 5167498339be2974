//! One write about a session, with its request id: it can be sent again.

use std::path::PathBuf;

use compozy_client::{Client, Error, ErrorKind};
use compozy_proto::session::v1::session_catalog_service_client::SessionCatalogServiceClient;
use compozy_proto::session::v1::{
    ArchiveSessionRequest, BindRuntimeRequest, CreateSessionRequest, DeleteSessionRequest,
    FinishSessionRequest, RenameSessionRequest, ResumeSessionRequest, Session, StopSessionRequest,
    UnarchiveSessionRequest,
};
use compozy_proto::workspace::v1::{AttachSessionRequest, DetachSessionRequest, MoveSessionRequest};

use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tonic::transport::{Channel, Endpoint, Uri};

use crate::session_held::SessionRow;

/// How a worker reaches the daemon: the client binds anew where a repeated answer has no lease any more, which would be
/// a second write, so what gives leases goes around it.
#[derive(Debug, Clone)]
pub(crate) struct Calls {
    client: Client,
    raw: SessionCatalogServiceClient<Channel>,
}

impl Calls {
    pub(crate) fn new(client: Client, socket: PathBuf) -> Self {
        let connector = tower::service_fn(move |_: Uri| {
            let socket = socket.clone();
            async move { Ok::<_, std::io::Error>(TokioIo::new(UnixStream::connect(socket).await?)) }
        });
        let channel = Endpoint::from_static("http://localhost").connect_with_connector_lazy(connector);
        Self {
            client,
            raw: SessionCatalogServiceClient::new(channel),
        }
    }
}

/// Why no answer came.
#[derive(Debug)]
pub(crate) enum Unanswered {
    /// The daemon is gone.
    Gone,
    /// It said so.
    Refused(String),
}

impl From<Error> for Unanswered {
    fn from(error: Error) -> Self {
        match error.kind() {
            ErrorKind::Transport => Self::Gone,
            _ => Self::Refused(format!("{error:?}")),
        }
    }
}

impl From<tonic::Status> for Unanswered {
    fn from(status: tonic::Status) -> Self {
        // A status of the daemon has details.
        if status.details().is_empty() {
            Self::Gone
        } else {
            Self::Refused(format!("{status:?}"))
        }
    }
}

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
        let answer = $client.client.$method($request.clone()).await?;
        SessionAnswer::of(answer.session.as_ref(), None, format!("{answer:?}"))
    }};
}

/// The same, where the answer has a lease, too. Without one it says nothing else of it.
macro_rules! send_for_lease {
    ($client:expr, $method:ident, $request:expr) => {{
        let mut answer = $client.raw.clone().$method($request).await?.into_inner();
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

    pub(crate) async fn send(&self, calls: &Calls) -> Result<SessionAnswer, Unanswered> {
        let client = &calls.client;
        Ok(match &self.what {
            What::Create { request, .. } => {
                send_for_lease!(calls, create_session, request.as_ref().clone())
            }
            What::Bind { request, .. } => send_for_lease!(calls, bind_runtime, request.clone()),
            What::Rename { request, .. } => send!(calls, rename_session, request),
            What::Stop { request, .. } => send!(calls, stop_session, request),
            What::Finish { request, .. } => send!(calls, finish_session, request),
            What::Resume { request, .. } => send!(calls, resume_session, request),
            What::Archive { request, .. } => send!(calls, archive_session, request),
            What::Unarchive { request, .. } => send!(calls, unarchive_session, request),
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
