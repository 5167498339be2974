//! Watches of the catalog, as the tests of the frame need them.

use compozy_proto::change::v1::catalog_change_service_client::CatalogChangeServiceClient;
use compozy_proto::change::v1::watch_catalog_response::Message;
use compozy_proto::change::v1::{Change, GoingAway, WatchCatalogRequest, WatchCatalogResponse};
use tonic::codec::Streaming;
use tonic::transport::Channel;
use tonic::{Request, Status};

use crate::running::{PATIENCE, with_headers};

/// An open watch and its newest token.
pub struct Watch {
    stream: Streaming<WatchCatalogResponse>,
    pub token: String,
}

/// A watch from now on, or from a token.
pub fn wanted(token: &str) -> Request<WatchCatalogRequest> {
    Request::new(WatchCatalogRequest {
        resume_token: token.to_owned(),
        ..WatchCatalogRequest::default()
    })
}

/// The same of a caller with a token of its own.
pub fn wanted_by(bearer: &str, token: &str) -> Request<WatchCatalogRequest> {
    let header = format!("Bearer {bearer}");
    with_headers(wanted(token).into_inner(), &[("authorization", &header)])
}

impl Watch {
    /// Opens a watch; what it was refused with comes at once or as its first message.
    pub async fn open(channel: &Channel, request: Request<WatchCatalogRequest>) -> Result<Self, Status> {
        let mut client = CatalogChangeServiceClient::new(channel.clone());
        let opened = tokio::time::timeout(PATIENCE, client.watch_catalog(request)).await;
        Ok(Self {
            stream: opened.expect("no headers came")?.into_inner(),
            token: String::new(),
        })
    }

    /// The next message but heartbeats; `None` at the end with OK.
    pub async fn next(&mut self) -> Result<Option<Message>, Status> {
        loop {
            let message = tokio::time::timeout(PATIENCE, self.stream.message()).await;
            let Some(message) = message.expect("nothing came")? else {
                return Ok(None);
            };
            let message = message.message.expect("a message says what it is");
            if let Some(token) = token_of(&message) {
                token.clone_into(&mut self.token);
            }
            if !matches!(message, Message::Heartbeat(_)) {
                return Ok(Some(message));
            }
        }
    }

    /// Reads up to `synced`, and answers the changes before it.
    pub async fn synced(&mut self) -> Vec<Change> {
        let mut changes = Vec::new();
        loop {
            match self.next().await.unwrap() {
                Some(Message::Changes(batch)) => changes.extend(batch.changes),
                Some(Message::Synced(_)) => return changes,
                other => panic!("{other:?} before synced"),
            }
        }
    }

    /// Reads up to the end, which has to be `going_away` and OK, and answers the changes before it.
    pub async fn farewell(&mut self) -> (Vec<Change>, GoingAway) {
        let mut changes = Vec::new();
        loop {
            match self.next().await.unwrap() {
                Some(Message::Changes(batch)) => changes.extend(batch.changes),
                Some(Message::GoingAway(going_away)) => {
                    assert_eq!(
                        self.next().await.unwrap(),
                        None,
                        "something came after going_away"
                    );
                    return (changes, going_away);
                }
                other => panic!("{other:?} before going_away"),
            }
        }
    }
}

fn token_of(message: &Message) -> Option<&str> {
    Some(match message {
        Message::Changes(batch) => &batch.changes.last()?.token,
        Message::Synced(synced) => &synced.token,
        Message::Heartbeat(heartbeat) => &heartbeat.token,
        Message::Resync(resync) => &resync.token,
        Message::GoingAway(going_away) => &going_away.token,
        Message::SnapshotRow(_) => return None,
    })
}
