//! A watch as its client reads it: message by message, or change by change.

use std::collections::VecDeque;

use compozy_proto::change::v1 as pb;
use compozy_proto::change::v1::catalog_change_service_client::CatalogChangeServiceClient;
use compozy_proto::change::v1::watch_catalog_response::Message;
use compozy_proto::session::v1 as session_pb;
use compozy_proto::workspace::v1 as workspace_pb;
use compozy_proto::workspace::v1::workspace_ref::Form;
use tokio::time::Instant;
use tonic::transport::Channel;
use tonic::{Code, Request, Status, Streaming};
use tonic_types::{ErrorInfo, StatusExt as _};

use crate::world::PATIENCE;

/// An open stream.
#[derive(Debug)]
pub(crate) struct Watching {
    stream: Streaming<pb::WatchCatalogResponse>,
    /// Changes of a batch that were not asked for yet.
    rest: VecDeque<pb::Change>,
}

impl Watching {
    /// Answers as soon as the headers are there.
    pub(crate) async fn begin(
        channel: Channel,
        request: pb::WatchCatalogRequest,
        token: Option<&str>,
    ) -> Result<Self, Status> {
        let mut request = Request::new(request);
        if let Some(token) = token {
            let header = format!("Bearer {token}").parse().unwrap();
            request.metadata_mut().insert("authorization", header);
        }
        let mut client = CatalogChangeServiceClient::new(channel);
        let answered = tokio::time::timeout(PATIENCE, client.watch_catalog(request)).await;
        Ok(Self {
            stream: answered.expect("headers come")?.into_inner(),
            rest: VecDeque::new(),
        })
    }

    /// The next message, the end, or how it failed.
    pub(crate) async fn next(&mut self) -> Result<Option<Message>, Status> {
        assert!(self.rest.is_empty(), "a batch was read in part: {:?}", self.rest);
        let message = tokio::time::timeout(PATIENCE, self.stream.message()).await;
        let message = message.expect("a message comes")?;
        Ok(message.map(|message| message.message.expect("a message says what it is")))
    }

    pub(crate) async fn message(&mut self) -> Message {
        self.next().await.unwrap().expect("the stream goes on")
    }

    /// The next message that is no heartbeat.
    pub(crate) async fn news(&mut self) -> Message {
        let begun = Instant::now();
        loop {
            match self.message().await {
                Message::Heartbeat(_) => assert!(begun.elapsed() < PATIENCE, "nothing but heartbeats comes"),
                news => return news,
            }
        }
    }

    /// The token of the `synced` that has to come next.
    pub(crate) async fn synced(&mut self) -> String {
        match self.news().await {
            Message::Synced(synced) => synced.token,
            other => panic!("not synced: {other:?}"),
        }
    }

    /// The resync that has to come next.
    pub(crate) async fn resync(&mut self) -> pb::Resync {
        match self.news().await {
            Message::Resync(resync) => resync,
            other => panic!("no resync: {other:?}"),
        }
    }

    /// The heartbeat that has to come next.
    pub(crate) async fn heartbeat(&mut self) -> pb::Heartbeat {
        match self.message().await {
            Message::Heartbeat(heartbeat) => heartbeat,
            other => panic!("no heartbeat: {other:?}"),
        }
    }

    /// The next change, whatever heartbeats come before it.
    pub(crate) async fn change(&mut self) -> pb::Change {
        while self.rest.is_empty() {
            match self.news().await {
                Message::Changes(batch) => self.rest.extend(batch.changes),
                other => panic!("no change: {other:?}"),
            }
        }
        self.rest.pop_front().unwrap()
    }

    pub(crate) async fn changes(&mut self, count: usize) -> Vec<pb::Change> {
        let mut changes = Vec::with_capacity(count);
        while changes.len() < count {
            changes.push(self.change().await);
        }
        changes
    }

    /// Entries in the notation of the cases, as many as are expected.
    pub(crate) async fn entries(&mut self, count: usize) -> Vec<String> {
        self.changes(count).await.iter().map(entry).collect()
    }

    /// What was missed, and the token of the `synced` behind it.
    pub(crate) async fn caught_up(&mut self) -> (Vec<pb::Change>, String) {
        let mut missed = Vec::new();
        loop {
            match self.news().await {
                Message::Changes(batch) => missed.extend(batch.changes),
                Message::Synced(synced) => return (missed, synced.token),
                other => panic!("no change: {other:?}"),
            }
        }
    }

    /// The rows of a snapshot, and the token of the `synced` behind them and behind whatever changed meanwhile.
    pub(crate) async fn snapshot(&mut self) -> (Vec<workspace_pb::Workspace>, Vec<pb::Change>, String) {
        let (mut rows, mut changes) = (Vec::new(), Vec::new());
        loop {
            match self.news().await {
                Message::SnapshotRow(row) => {
                    assert!(changes.is_empty(), "rows come before changes");
                    rows.push(workspace_of(row.row).expect("a row"));
                }
                Message::Changes(batch) => changes.extend(batch.changes),
                Message::Synced(synced) => return (rows, changes, synced.token),
                other => panic!("not of a snapshot: {other:?}"),
            }
        }
    }

    /// The sessions of a snapshot, what changed meanwhile, and the token of `synced` behind them.
    pub(crate) async fn snapshot_of_sessions(
        &mut self,
    ) -> (Vec<session_pb::Session>, Vec<pb::Change>, String) {
        let (mut rows, mut changes) = (Vec::new(), Vec::new());
        loop {
            match self.news().await {
                Message::SnapshotRow(row) => rows.extend(session_of(row.row)),
                Message::Changes(batch) => changes.extend(batch.changes),
                Message::Synced(synced) => return (rows, changes, synced.token),
                other => panic!("not of a snapshot: {other:?}"),
            }
        }
    }

    /// Every row of a snapshot, whatever it is of, up to `synced`.
    pub(crate) async fn snapshot_records(&mut self) -> Vec<pb::row::Record> {
        let mut records = Vec::new();
        loop {
            match self.news().await {
                Message::SnapshotRow(row) => records.extend(row.row.and_then(|row| row.record)),
                Message::Synced(_) => return records,
                other => panic!("not of a snapshot: {other:?}"),
            }
        }
    }

    /// How the stream fails before it tells anything.
    pub(crate) async fn refused(mut self) -> Status {
        match self.next().await {
            Err(status) => status,
            Ok(message) => panic!("not refused: {message:?}"),
        }
    }
}

/// The workspace of a row.
pub(crate) fn workspace_of(row: Option<pb::Row>) -> Option<workspace_pb::Workspace> {
    match row?.record? {
        pb::row::Record::Workspace(workspace) => Some(workspace),
        pb::row::Record::Profile(_) | pb::row::Record::Selection(_) | pb::row::Record::Session(_) => None,
    }
}

/// The session of a row.
pub(crate) fn session_of(row: Option<pb::Row>) -> Option<session_pb::Session> {
    match row?.record? {
        pb::row::Record::Session(session) => Some(session),
        pb::row::Record::Workspace(_) | pb::row::Record::Profile(_) | pb::row::Record::Selection(_) => None,
    }
}

/// A change in the notation of the cases: `kind op reason`.
pub(crate) fn entry(change: &pb::Change) -> String {
    let word = |name: &str, prefix: &str| name.strip_prefix(prefix).unwrap().to_lowercase();
    format!(
        "{} {} {}",
        word(change.kind().as_str_name(), "CHANGE_KIND_"),
        word(change.op().as_str_name(), "CHANGE_OP_"),
        word(change.reason().as_str_name(), "CHANGE_REASON_"),
    )
}

/// What a change is about and says, without its token: equal for every watcher with the same rights.
pub(crate) fn told(change: &pb::Change) -> pb::Change {
    pb::Change {
        token: String::new(),
        row: None,
        ..change.clone()
    }
}

/// A watch behind a token.
pub(crate) fn resumed(token: &str) -> pb::WatchCatalogRequest {
    pb::WatchCatalogRequest {
        resume_token: token.to_owned(),
        ..Default::default()
    }
}

/// A watch of these workspaces.
pub(crate) fn of(ids: &[&str]) -> pb::WatchCatalogRequest {
    pb::WatchCatalogRequest {
        workspaces: ids.iter().map(|id| by(Form::Id((*id).to_owned()))).collect(),
        ..Default::default()
    }
}

/// A watch that begins here.
pub(crate) fn from(start: pb::WatchStart) -> pb::WatchCatalogRequest {
    pb::WatchCatalogRequest {
        start: start.into(),
        ..Default::default()
    }
}

/// A watch of these kinds.
pub(crate) fn of_kinds(kinds: &[pb::ChangeKind]) -> pb::WatchCatalogRequest {
    pb::WatchCatalogRequest {
        kinds: kinds.iter().map(|kind| (*kind).into()).collect(),
        ..Default::default()
    }
}

/// A watch that is silent for a second at most.
pub(crate) fn beating(request: pb::WatchCatalogRequest) -> pb::WatchCatalogRequest {
    pb::WatchCatalogRequest {
        heartbeat: Some(prost_types::Duration { seconds: 1, nanos: 0 }),
        ..request
    }
}

pub(crate) fn by(form: Form) -> workspace_pb::WorkspaceRef {
    workspace_pb::WorkspaceRef { form: Some(form) }
}

/// The explanation of a failure.
pub(crate) fn explained(status: &Status) -> ErrorInfo {
    let info = status.get_details_error_info();
    info.unwrap_or_else(|| panic!("no ErrorInfo: {status:?}"))
}

/// Status and reason of a failure.
pub(crate) fn reason(status: &Status) -> (Code, String) {
    (status.code(), explained(status).reason)
}

/// The field that a failure names.
pub(crate) fn field(status: &Status) -> String {
    assert_eq!(
        reason(status),
        (Code::InvalidArgument, "INVALID_FIELD".to_owned())
    );
    explained(status).metadata["field"].clone()
}

/// What is wrong with a token.
pub(crate) fn cause(status: &Status) -> String {
    assert_eq!(
        reason(status),
        (Code::InvalidArgument, "CURSOR_INVALID".to_owned())
    );
    explained(status).metadata["cause"].clone()
}
