//! `session stop`.

use std::time::Duration;

use clap::Args;
use compozy_client::proto::session::v1::{
    GetSessionResponse, SessionState, StopCause, StopSessionRequest, StopSessionResponse,
};
use tokio::time::Instant;

use super::Named;
use super::wait::Waited;
use super::words::Cause;
use crate::app::App;
use crate::duration;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::SessionAnswer;

/// A session in one of these has stopped.
const OVER: [SessionState; 2] = [SessionState::Stopped, SessionState::Orphaned];

/// Ask a session to stop
///
/// Without a runtime it is stopped at once. Otherwise its runtime is told, and it is stopping until that is done.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy session stop sess-0123456789abcdef\n  compozy session stop sess-0123456789abcdef --wait 30s\n  compozy session stop sess-0123456789abcdef --cause timeout --detail 'no answer for an hour'"
)]
pub(crate) struct StopArguments {
    #[command(flatten)]
    named: Named,
    /// Why. The first one that is given is kept
    #[arg(
        long,
        value_name = "CAUSE",
        value_enum,
        ignore_case = true,
        default_value = "user"
    )]
    cause: Cause,
    /// More about it
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    detail: String,
    /// Wait until it is stopped, and fail when that takes longer
    #[arg(long, value_name = "SPAN", value_parser = duration::parse)]
    wait: Option<Duration>,
}

pub(crate) async fn run(app: &App, arguments: StopArguments) -> Result<Exit, Failure> {
    let begun = Instant::now();
    let client = app.client().await?;
    let request = StopSessionRequest {
        session_id: arguments.named.session,
        cause: StopCause::from(arguments.cause).into(),
        detail: arguments.detail,
        wait: arguments.wait.map(duration::wire),
        ..StopSessionRequest::default()
    };
    let mut answer = app.wait("stopping", client.stop_session(request)).await?;
    if let (Some(wait), Some(session)) = (arguments.wait, &answer.session)
        && !OVER.contains(&session.state())
    {
        let id = session.id.clone();
        let waited = Waited::new(&client, id.clone(), OVER.to_vec());
        // A daemon that ends, or one that is asked again after a broken connection, answers before the wait is over.
        let StopSessionResponse { session, revision } = answer;
        let first = GetSessionResponse { session, revision };
        let Some(GetSessionResponse { session, revision }) = waited.go_on(app, first, begun, wait).await?
        else {
            return Err(too_late(&id, wait));
        };
        answer = StopSessionResponse { session, revision };
    }
    app.printer.answer(&SessionAnswer::from(answer))?;
    Ok(Exit::Ok)
}

fn too_late(id: &str, wait: Duration) -> Failure {
    Failure::too_late(
        format!(
            "the session {id} was not stopped within {}",
            duration::spelled(wait)
        ),
        format!("`compozy session wait {id} --until stopped` waits longer"),
    )
    .with("id", id)
}
