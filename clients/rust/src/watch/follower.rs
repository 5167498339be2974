//! The loop behind a watch: connect, read, go on elsewhere. It keeps what the next connection has to ask for.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use compozy_proto::change::v1::catalog_change_service_client::CatalogChangeServiceClient;
use compozy_proto::change::v1::watch_catalog_response::Message;
use compozy_proto::change::v1::{
    ChangeBatch, GoingAway, Heartbeat, Resync, SnapshotRow, Synced, WatchCatalogRequest,
    WatchCatalogResponse, WatchStart,
};
use tokio::time::{sleep, timeout};
use tonic::Streaming;

use super::ending::{self, Ending, Experience};
use super::event::{ResyncCause, WatchEvent, WatchNotice};
use super::references;
use super::request::{Observer, WatchRequest};
use crate::stream_lines::Line;
use crate::{Client, Error};

/// The server sends its headers at once, whatever it has to look up after that.
const OPENING_LIMIT: Duration = Duration::from_secs(10);
/// The heartbeat of a server that is not asked for another one.
const USUAL_HEARTBEAT: Duration = Duration::from_secs(10);
/// The heartbeats that the contract allows.
const HEARTBEATS: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(300));
/// After so many heartbeats that did not come, nobody is there any more.
const HEARTBEATS_MISSED: u32 = 3;

/// One thing to hand out, and where to go on once it was.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) event: Option<WatchEvent>,
    pub(super) token: Option<String>,
}

/// A watch between two polls.
pub(super) struct Follower {
    client: Client,
    /// What the next connection asks for.
    request: WatchCatalogRequest,
    observer: Option<Observer>,
    /// The workspaces of the request are ids.
    is_resolved: bool,
    stream: Option<OpenStream>,
    /// What came and was not handed out yet.
    steps: VecDeque<Step>,
    /// The rows of the snapshot are not complete, so that only a new snapshot can go on.
    in_snapshot: bool,
    /// Something of the present snapshot was handed out.
    has_rows: bool,
    /// The reader knows that it is live.
    is_synced: bool,
    has_answered: bool,
    /// Streams that ended since the server last said something.
    failed: u32,
    /// How long the next connection has to wait.
    pause: Duration,
}

/// The call that is open.
struct OpenStream {
    messages: Streaming<WatchCatalogResponse>,
    line: Arc<Line>,
    was_useful: bool,
    is_synced: bool,
    is_going_away: bool,
}

impl Follower {
    pub(super) fn new(client: Client, request: WatchRequest) -> Self {
        let (request, observer) = request.into_parts();
        Self {
            client,
            in_snapshot: request.start() == WatchStart::Snapshot,
            request,
            observer,
            is_resolved: false,
            stream: None,
            steps: VecDeque::new(),
            has_rows: false,
            is_synced: false,
            has_answered: false,
            failed: 0,
            pause: Duration::ZERO,
        }
    }

    /// The next thing to hand out.
    pub(super) async fn next(&mut self) -> Result<Step, Error> {
        loop {
            if let Some(step) = self.steps.pop_front() {
                if let Some(token) = &step.token {
                    self.request.resume_token.clone_from(token);
                    self.request.set_start(WatchStart::Unspecified);
                }
                return Ok(step);
            }
            self.advance().await?;
        }
    }

    /// Connects, or takes one message, or deals with the end of the stream.
    async fn advance(&mut self) -> Result<(), Error> {
        let silence = self.longest_silence();
        let Some(stream) = &mut self.stream else {
            return self.connect().await;
        };
        if stream.is_going_away {
            let was_useful = stream.was_useful;
            return self.ended(Ending::GoingAway { was_useful });
        }
        let endpoint = &self.client.endpoint;
        let error = match timeout(silence, stream.messages.message()).await {
            Ok(Ok(Some(message))) => {
                self.accept(message);
                return Ok(());
            }
            Ok(Ok(None)) => Error::cut(endpoint),
            Ok(Err(status)) => Error::of_stream(&status, endpoint),
            Err(_) => Error::silence(endpoint, silence),
        };
        self.ended(Ending::Failed(error))
    }

    async fn connect(&mut self) -> Result<(), Error> {
        let pause = std::mem::take(&mut self.pause);
        if !pause.is_zero() {
            sleep(pause).await;
        }
        if !self.is_resolved {
            references::resolve(&self.client, &mut self.request).await?;
            self.is_resolved = true;
        }
        let line = self.client.stream_lines.take();
        let wire = self.client.wire.on(line.channel.clone());
        let mut stub = CatalogChangeServiceClient::new(wire);
        let opening = Box::pin(stub.watch_catalog(self.request.clone()));
        let error = match timeout(OPENING_LIMIT, opening).await {
            Ok(Ok(answer)) => {
                self.stream = Some(OpenStream {
                    messages: answer.into_inner(),
                    line,
                    was_useful: false,
                    is_synced: false,
                    is_going_away: false,
                });
                return Ok(());
            }
            Ok(Err(status)) => Error::from_status(&status, &self.client.endpoint),
            Err(_) => Error::deadline(&self.client.endpoint, OPENING_LIMIT),
        };
        self.client.stream_lines.retire(&line);
        self.ended(Ending::Failed(error))
    }

    /// Leaves the connection. The next one is made when all that came is handed out.
    fn ended(&mut self, ending: Ending) -> Result<(), Error> {
        if let Some(stream) = self.stream.take() {
            self.client.stream_lines.retire(&stream.line);
        }
        self.failed = self.failed.saturating_add(1);
        let experience = Experience {
            has_answered: self.has_answered,
            attempt: self.failed,
        };
        let delay = ending::delay(&ending, experience)?;
        self.pause = delay;
        if self.in_snapshot && self.has_rows {
            self.has_rows = false;
            self.steps.push_back(Step {
                event: Some(WatchEvent::Resync {
                    workspace_ids: Vec::new(),
                    reason: ResyncCause::SnapshotCut,
                }),
                token: None,
            });
        }
        self.tell(|| WatchNotice::Reconnecting {
            attempt: experience.attempt,
            delay,
            error: match ending {
                Ending::GoingAway { .. } => None,
                Ending::Failed(error) => Some(error),
            },
        });
        Ok(())
    }

    /// Takes a message over. Without one, it is of a kind that a newer server knows: a sign of life.
    fn accept(&mut self, message: WatchCatalogResponse) {
        if std::mem::take(&mut self.failed) > 0 {
            self.tell(|| WatchNotice::Reconnected);
        }
        self.has_answered = true;
        let WatchCatalogResponse { message } = message;
        if let Some(Message::GoingAway(GoingAway { token, reason: _ })) = message {
            self.push(None, token);
            if let Some(stream) = &mut self.stream {
                stream.is_going_away = true;
            }
            return;
        }
        if let Some(stream) = &mut self.stream {
            stream.was_useful = true;
        }
        match message {
            Some(Message::Changes(ChangeBatch { changes })) => {
                for change in changes {
                    let token = change.token.clone();
                    self.push(Some(WatchEvent::of(change)), token);
                }
            }
            Some(Message::SnapshotRow(SnapshotRow { row })) => {
                self.push(row.map(WatchEvent::Row), String::new());
            }
            Some(Message::Synced(Synced { token })) => self.synced(token),
            Some(Message::Heartbeat(Heartbeat { token, at: _ })) => self.push(None, token),
            Some(Message::Resync(resync)) => self.resync(resync),
            Some(Message::GoingAway(_)) | None => {}
        }
    }

    /// A stream that took up where the one before ended tells the reader nothing new with this.
    fn synced(&mut self, token: String) {
        self.in_snapshot = false;
        if let Some(stream) = &mut self.stream {
            stream.is_synced = true;
        }
        let was_synced = std::mem::replace(&mut self.is_synced, true);
        self.push((!was_synced).then_some(WatchEvent::Synced), token);
    }

    fn resync(&mut self, resync: Resync) {
        let reason = ResyncCause::from(resync.reason());
        let Resync {
            workspace_ids,
            reason: _,
            token,
        } = resync;
        // One at the beginning of a stream is followed by its `synced`, one later is not.
        if self.stream.as_ref().is_some_and(|stream| !stream.is_synced) {
            self.is_synced = false;
        }
        self.push(
            Some(WatchEvent::Resync {
                workspace_ids,
                reason,
            }),
            token,
        );
    }

    /// Adds something to hand out. Within a snapshot no token says what is still missing of it.
    fn push(&mut self, event: Option<WatchEvent>, token: String) {
        let token = Some(token).filter(|token| !token.is_empty() && !self.in_snapshot);
        if event.is_none() && token.is_none() {
            return;
        }
        self.has_rows |= self.in_snapshot;
        self.steps.push_back(Step { event, token });
    }

    fn longest_silence(&self) -> Duration {
        let asked = self
            .request
            .heartbeat
            .and_then(|span| Duration::try_from(span).ok());
        let (shortest, longest) = HEARTBEATS;
        asked.unwrap_or(USUAL_HEARTBEAT).clamp(shortest, longest) * HEARTBEATS_MISSED
    }

    fn tell(&self, notice: impl FnOnce() -> WatchNotice) {
        if let Some(observer) = &self.observer {
            observer(&notice());
        }
    }
}
