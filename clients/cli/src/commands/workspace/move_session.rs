//! `workspace move-session`: the place of a session within its account.

use clap::Args;
use compozy_client::proto::workspace::v1::MoveSessionRequest;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::SessionMoveView;
use crate::reference::not_blank;

/// Move a session within its workspace's account
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy workspace move-session sess-0123456789abcdef --before sess-fedcba9876543210\n  compozy workspace move-session sess-0123456789abcdef          (to the end)"
)]
pub(crate) struct MoveSessionArguments {
    /// Id of the session
    #[arg(value_name = "SESSION", value_parser = not_blank())]
    session: String,
    /// The session to put it in front of. Default: to the end
    #[arg(long, value_name = "SESSION", value_parser = not_blank())]
    before: Option<String>,
}

pub(crate) async fn run(app: &App, arguments: MoveSessionArguments) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let request = MoveSessionRequest {
        session_id: arguments.session,
        before_session_id: arguments.before.unwrap_or_default(),
        request_id: String::new(),
    };
    let answer = app
        .wait("moving the session", client.move_session(request))
        .await?;
    app.printer.answer(&SessionMoveView::from(answer))?;
    Ok(Exit::Ok)
}
