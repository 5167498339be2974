//! `session stop`.

use std::time::Duration;

use clap::Args;
use compozy_client::proto::session::v1::{SessionState, StopCause, StopSessionRequest};

use super::Named;
use super::words::Cause;
use crate::app::App;
use crate::duration;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::SessionAnswer;

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
    let client = app.client().await?;
    let request = StopSessionRequest {
        session_id: arguments.named.session,
        cause: StopCause::from(arguments.cause).into(),
        detail: arguments.detail,
        wait: arguments.wait.map(duration::wire),
        ..StopSessionRequest::default()
    };
    let answer = app.wait("stopping", client.stop_session(request)).await?;
    if let (Some(wait), Some(session)) = (arguments.wait, &answer.session)
        && !matches!(session.state(), SessionState::Stopped | SessionState::Orphaned)
    {
        let id = &session.id;
        return Err(Failure::too_late(
            format!(
                "the session {id} was not stopped within {}",
                duration::spelled(wait)
            ),
            format!("`compozy session wait {id} --until stopped` waits longer"),
        )
        .with("id", id));
    }
    app.printer.answer(&SessionAnswer::from(answer))?;
    Ok(Exit::Ok)
}
