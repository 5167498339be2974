//! `session remove`.

use clap::Args;
use compozy_client::proto::session::v1::DeleteSessionRequest;

use super::Named;
use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::SessionDeletionView;

/// Remove a session with its events and its ledger
///
/// Its children stay.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy session remove sess-0123456789abcdef\n  compozy session remove sess-0123456789abcdef --force"
)]
pub(crate) struct RemoveArguments {
    #[command(flatten)]
    named: Named,
    /// Also a live one
    #[arg(long)]
    force: bool,
}

pub(crate) async fn run(app: &App, arguments: RemoveArguments) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let request = DeleteSessionRequest {
        session_id: arguments.named.session,
        force: arguments.force,
        ..DeleteSessionRequest::default()
    };
    let answer = app
        .wait("removing the session", client.delete_session(request))
        .await?;
    app.printer.answer(&SessionDeletionView::from(answer))?;
    Ok(Exit::Ok)
}
