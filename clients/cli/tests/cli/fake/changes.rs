//! The change stream of the fake: tests say what it tells.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Mutex;

use compozy_client::proto::change::v1::catalog_change_service_server::CatalogChangeService;
use compozy_client::proto::change::v1::watch_catalog_response::Message;
use compozy_client::proto::change::v1::{
    Change, ChangeBatch, ChangeKind, ChangeOp, ChangeReason, Heartbeat, Row, Synced, WatchCatalogRequest,
    WatchCatalogResponse, row,
};
use compozy_client::proto::workspace::v1::Workspace;
use prost_types::Timestamp;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_stream::Stream;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::{Request, Response, Status};

use super::State;

type Told = Result<WatchCatalogResponse, Status>;

/// The streams of the fake.
#[derive(Default)]
pub struct Watches {
    /// What each further stream begins with; without an entry with `synced`.
    beginnings: Mutex<VecDeque<Vec<Message>>>,
    open: Mutex<Vec<UnboundedSender<Told>>>,
}

impl Watches {
    /// Adds what a further stream begins with.
    pub fn begin_with(&self, messages: Vec<Message>) {
        self.beginnings.lock().unwrap().push_back(messages);
    }

    /// How many streams have begun and were not ended.
    pub fn open_count(&self) -> usize {
        self.open.lock().unwrap().len()
    }

    /// Tells this on every open stream.
    pub fn tell(&self, message: &Message) {
        let open = self.open.lock().unwrap();
        for stream in open.iter() {
            // One that has gone hears nothing.
            let _ = stream.send(Ok(response(message.clone())));
        }
    }

    /// Ends every open stream like this.
    pub fn end(&self, status: &Status) {
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.send(Err(status.clone()));
        }
    }
}

#[tonic::async_trait]
impl CatalogChangeService for State {
    type WatchCatalogStream = Pin<Box<dyn Stream<Item = Told> + Send>>;

    async fn watch_catalog(
        &self,
        request: Request<WatchCatalogRequest>,
    ) -> Result<Response<Self::WatchCatalogStream>, Status> {
        self.enter("WatchCatalog", request).await?;
        let (sender, receiver) = unbounded_channel();
        let beginning = self.watches.beginnings.lock().unwrap().pop_front();
        for message in beginning.unwrap_or_else(|| vec![synced("t0")]) {
            sender.send(Ok(response(message))).unwrap();
        }
        self.watches.open.lock().unwrap().push(sender);
        Ok(Response::new(Box::pin(UnboundedReceiverStream::new(receiver))))
    }
}

fn response(message: Message) -> WatchCatalogResponse {
    WatchCatalogResponse {
        message: Some(message),
    }
}

pub fn synced(token: &str) -> Message {
    let token = token.to_owned();
    Message::Synced(Synced { token })
}

pub fn heartbeat(token: &str) -> Message {
    let token = token.to_owned();
    Message::Heartbeat(Heartbeat { token, at: None })
}

/// A rename of this workspace as change number `number`, with the token `t<number>`.
pub fn renamed(number: u32, workspace: &Workspace) -> Change {
    Change {
        token: format!("t{number}"),
        kind: ChangeKind::Workspace.into(),
        op: ChangeOp::Upserted.into(),
        reason: ChangeReason::Renamed.into(),
        host_id: workspace.host_id.clone(),
        workspace_id: workspace.id.clone(),
        version: i64::from(number),
        at: Some(Timestamp {
            seconds: 1_777_905_000,
            nanos: 0,
        }),
        ..Change::default()
    }
}

pub fn batch(changes: Vec<Change>) -> Message {
    Message::Changes(ChangeBatch { changes })
}

pub fn row_of(workspace: &Workspace) -> Row {
    Row {
        record: Some(row::Record::Workspace(workspace.clone())),
    }
}
