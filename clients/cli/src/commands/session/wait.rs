//! `session wait`: until a session is in a state. Changes only say when to look again.

use std::cell::Cell;
use std::time::Duration;

use clap::Args;
use compozy_client::proto::change::v1::{Change, ChangeKind};
use compozy_client::proto::session::v1::{GetSessionRequest, GetSessionResponse, Session, SessionState};
use compozy_client::proto::workspace::v1::WorkspaceRef;
use compozy_client::proto::workspace::v1::workspace_ref::Form;
use compozy_client::{CatalogWatch, Client, Error, WatchEvent, WatchRequest};
use futures::TryStreamExt;
use tokio::time::Instant;

use super::Named;
use super::words::State;
use crate::app::App;
use crate::duration;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::SessionAnswer;

/// Pause before a look that failed is repeated.
const PAUSE: Duration = Duration::from_secs(1);
/// Without a limit: longer than anybody waits.
const LONGEST: Duration = Duration::from_secs(86_400 * 365);

/// Wait until a session is in a state
///
/// At once if it is already. A session that is removed meanwhile is a failure.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy session wait sess-0123456789abcdef --until stopped\n  compozy session wait sess-0123456789abcdef --until stopped --until orphaned --timeout 10m"
)]
pub(crate) struct WaitArguments {
    #[command(flatten)]
    named: Named,
    /// The state; any of them if it is repeated
    #[arg(long, value_name = "STATE", value_enum, ignore_case = true, required = true)]
    until: Vec<State>,
    /// Fail when that takes longer. Default: no limit
    #[arg(long, value_name = "SPAN", value_parser = duration::parse, alias = "limit")]
    timeout: Option<Duration>,
}

pub(crate) async fn run(app: &App, arguments: WaitArguments) -> Result<Exit, Failure> {
    let WaitArguments {
        named,
        until,
        timeout,
    } = arguments;
    let begun = Instant::now();
    let client = app.client().await?;
    let until = until.into_iter().map(SessionState::from).collect();
    let waited = Waited::new(&client, named.session, until);
    // One look is always made, however short the limit is.
    let first = waited.look().await?;
    let limit = timeout.unwrap_or(LONGEST);
    match waited.go_on(app, first, begun, limit).await? {
        Some(answer) => app.printer.answer(&SessionAnswer::from(answer))?,
        None => return Err(waited.too_late(limit)),
    }
    Ok(Exit::Ok)
}

/// What is waited for.
pub(super) struct Waited<'a> {
    client: &'a Client,
    id: String,
    until: Vec<SessionState>,
    /// The state that was seen last.
    last: Cell<SessionState>,
}

impl<'a> Waited<'a> {
    pub(super) fn new(client: &'a Client, id: String, until: Vec<SessionState>) -> Self {
        Self {
            client,
            id,
            until,
            last: Cell::default(),
        }
    }

    /// Goes on from an answer, for so long since it began; `None` when it was not so in time.
    pub(super) async fn go_on(
        &self,
        app: &App,
        answer: GetSessionResponse,
        begun: Instant,
        limit: Duration,
    ) -> Result<Option<GetSessionResponse>, Error> {
        self.saw(&answer);
        let rest = tokio::time::timeout_at(begun + limit.min(LONGEST), self.rest(answer));
        app.wait("waiting", rest).await.ok().transpose()
    }

    async fn look(&self) -> Result<GetSessionResponse, Error> {
        let request = GetSessionRequest {
            session_id: self.id.clone(),
            include_health: true,
        };
        let answer = self.client.get_session(request).await?;
        self.saw(&answer);
        Ok(answer)
    }

    fn saw(&self, answer: &GetSessionResponse) {
        let session = answer.session.as_ref();
        self.last.set(session.map(Session::state).unwrap_or_default());
    }

    /// Looks until it is so. The watch is that of the session's workspace, and a new one when it moves.
    async fn rest(&self, mut answer: GetSessionResponse) -> Result<GetSessionResponse, Error> {
        let mut home = None;
        let mut watch = None;
        while !self.until.contains(&self.last.get()) {
            let now = answer
                .session
                .as_ref()
                .map(|session| session.workspace_id.clone());
            if watch.is_none() || now != home {
                watch = Some(self.client.watch(request(&answer)));
                home = now;
            }
            if let Some(watch) = &mut watch {
                self.changed(watch).await?;
            }
            answer = self.look_again().await?;
        }
        Ok(answer)
    }

    /// Ends with a change that may be about the session.
    async fn changed(&self, watch: &mut CatalogWatch) -> Result<(), Error> {
        while let Some(event) = watch.try_next().await? {
            let may_be_it = match &event {
                WatchEvent::Changed(change) | WatchEvent::Removed(change) => self.is_about(change),
                WatchEvent::Resync { .. } => true,
                _ => false,
            };
            if may_be_it {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The end of a workspace stands for what becomes of its sessions.
    fn is_about(&self, change: &Change) -> bool {
        change.session_id == self.id || change.kind() == ChangeKind::Workspace
    }

    /// The watch goes on by itself when the daemon comes back, and so does this.
    async fn look_again(&self) -> Result<GetSessionResponse, Error> {
        loop {
            match self.look().await {
                Err(error) if error.is_retryable() => tokio::time::sleep(PAUSE).await,
                answer => return answer,
            }
        }
    }

    fn too_late(&self, limit: Duration) -> Failure {
        let state = self.last.get().as_str_name().trim_start_matches("SESSION_STATE_");
        let state = state.to_lowercase();
        let (id, limit) = (&self.id, duration::spelled(limit));
        Failure::too_late(
            format!("the session {id} is {state} after {limit}"),
            format!("wait longer with --timeout, or look at it with `compozy session show {id}`"),
        )
        .with("id", id)
        .with("state", state)
    }
}

fn request(answer: &GetSessionResponse) -> WatchRequest {
    let request = WatchRequest::new()
        .resume(&answer.revision)
        .kinds([ChangeKind::Session, ChangeKind::Workspace])
        .include_internal()
        .resync_when_expired();
    match answer
        .session
        .as_ref()
        .map(|session| session.workspace_id.as_str())
    {
        None | Some("") => request.ungrouped(),
        Some(id) => request.workspaces([WorkspaceRef {
            form: Some(Form::Id(id.to_owned())),
        }]),
    }
}
