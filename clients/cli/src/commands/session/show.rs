//! `session show`.

use clap::Args;
use compozy_client::proto::session::v1::GetSessionRequest;

use super::Named;
use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::SessionAnswer;

/// Show one session
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  compozy session show sess-0123456789abcdef -o json")]
pub(crate) struct ShowArguments {
    #[command(flatten)]
    named: Named,
}

pub(crate) async fn run(app: &App, arguments: ShowArguments) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let request = GetSessionRequest {
        session_id: arguments.named.session,
        include_health: true,
    };
    let answer = app
        .wait("looking at the session", client.get_session(request))
        .await?;
    app.printer.answer(&SessionAnswer::from(answer))?;
    Ok(Exit::Ok)
}
