//! One raw call of WatchCatalog over a connection of its own, so that a watcher decides itself how it reads.

use std::path::PathBuf;
use std::time::Duration;

use compozy_proto::change::v1::catalog_change_service_client::CatalogChangeServiceClient;
use compozy_proto::change::v1::watch_catalog_response::Message;
use compozy_proto::change::v1::{self as pb, WatchCatalogRequest, WatchCatalogResponse, row};
use compozy_proto::session::v1::Session;
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tokio::time::timeout;
use tonic::transport::{Endpoint, Uri};
use tonic::{Code, Status, Streaming};
use tonic_types::StatusExt as _;

use crate::catalog::{Row, State};
use crate::entry::{Entry, Record};
use crate::history::{End, Event};

/// Until a server has taken a call.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);
/// Longer than any silence that a heartbeat of one second leaves, on a machine that has much to do.
pub(crate) const SILENCE: Duration = Duration::from_secs(20);
/// Reasons that say: come again.
const PASSING: [&str; 5] = [
    "STORE_UNAVAILABLE",
    "DRAINING",
    "RATE_LIMITED",
    "TOO_MANY_WATCHERS",
    "DEADLINE_EXCEEDED",
];

/// An open call.
#[derive(Debug)]
pub(crate) struct Call {
    messages: Streaming<WatchCatalogResponse>,
}

impl Call {
    /// Calls the server at a socket. `window` bounds what the server may send ahead.
    pub(crate) async fn open(
        socket: PathBuf,
        window: u32,
        request: WatchCatalogRequest,
    ) -> Result<Self, End> {
        let target = Endpoint::from_static("http://localhost")
            .initial_stream_window_size(window)
            .connect_timeout(CONNECT_PATIENCE);
        let connector = tower::service_fn(move |_: Uri| {
            let socket = socket.clone();
            async move { Ok::<_, std::io::Error>(TokioIo::new(UnixStream::connect(socket).await?)) }
        });
        let calling = async {
            let channel = target.connect_with_connector(connector).await;
            let channel = channel.map_err(|error| End::Broken(format!("{error:?}")))?;
            let mut client = CatalogChangeServiceClient::new(channel);
            let answer = client
                .watch_catalog(request)
                .await
                .map_err(|status| ended(&status))?;
            Ok(answer.into_inner())
        };
        let called = timeout(CONNECT_PATIENCE * 2, Box::pin(calling)).await;
        let messages = called.unwrap_or_else(|_| Err(End::Broken("it was not taken".to_owned())))?;
        Ok(Self { messages })
    }

    /// The next message as events, each with its token, or how the stream ended.
    pub(crate) async fn next(&mut self) -> Result<Vec<(Event, Option<String>)>, End> {
        match timeout(SILENCE, self.messages.message()).await {
            Err(_) => Err(End::Silent),
            Ok(Ok(None)) => Err(End::Ok),
            Ok(Err(status)) => Err(ended(&status)),
            Ok(Ok(Some(answer))) => Ok(answer.message.map(events).unwrap_or_default()),
        }
    }
}

fn events(message: Message) -> Vec<(Event, Option<String>)> {
    match message {
        Message::Changes(batch) => {
            let changes = batch.changes.into_iter().map(|change| {
                let row = change.row.clone().and_then(shown);
                let entry = Entry::of(&change);
                (Event::Change { entry, row }, Some(change.token))
            });
            changes.collect()
        }
        Message::SnapshotRow(snapshot) => {
            let row = snapshot.row.and_then(shown);
            row.map(|row| (Event::SnapshotRow(row), None))
                .into_iter()
                .collect()
        }
        Message::Synced(synced) => vec![(Event::Synced, Some(synced.token))],
        Message::Heartbeat(heartbeat) => vec![(Event::Heartbeat, Some(heartbeat.token))],
        Message::Resync(resync) => {
            let reason = resync.reason();
            let event = Event::Resync {
                workspaces: resync.workspace_ids,
                reason,
            };
            vec![(event, Some(resync.token))]
        }
        Message::GoingAway(going) => vec![(Event::GoingAway, Some(going.token))],
    }
}

fn shown(row: pb::Row) -> Option<Row> {
    let (record, state) = match row.record? {
        row::Record::Workspace(row) => (Record::Workspace(row.id), State::Version(row.version)),
        row::Record::Profile(row) => (Record::Profile(row.id), State::Version(row.version)),
        row::Record::Selection(row) => (
            Record::Selection(row.workspace_id),
            State::Selected(row.profile_id),
        ),
        row::Record::Session(row) => return Some(row_of_session(row)),
    };
    Some(Row { record, state })
}

/// A session as a page, a snapshot or a change shows it.
pub(crate) fn row_of_session(session: Session) -> Row {
    Row {
        record: Record::Session(session.id),
        state: State::Session {
            version: session.version,
            workspace: session.workspace_id,
        },
    }
}

/// What a status says about the stream. One without a reason of the contract was made on the way.
fn ended(status: &Status) -> End {
    let details = status.get_error_details();
    let reason = details
        .error_info()
        .map(|info| info.reason.clone())
        .unwrap_or_default();
    if reason.is_empty() || PASSING.contains(&reason.as_str()) || status.code() == Code::Unavailable {
        return End::Broken(format!("{:?} {reason} {}", status.code(), status.message()));
    }
    End::Refused(reason)
}
