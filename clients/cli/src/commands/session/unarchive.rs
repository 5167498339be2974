//! `session unarchive`.

use clap::Args;
use compozy_client::proto::session::v1::UnarchiveSessionRequest;

use super::Named;
use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::SessionAnswer;

/// Bring an archived session back into the lists
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  compozy session unarchive sess-0123456789abcdef")]
pub(crate) struct UnarchiveArguments {
    #[command(flatten)]
    named: Named,
}

pub(crate) async fn run(app: &App, arguments: UnarchiveArguments) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let request = UnarchiveSessionRequest {
        session_id: arguments.named.session,
        ..UnarchiveSessionRequest::default()
    };
    let answer = app
        .wait("bringing it back", client.unarchive_session(request))
        .await?;
    app.printer.answer(&SessionAnswer::from(answer))?;
    Ok(Exit::Ok)
}
