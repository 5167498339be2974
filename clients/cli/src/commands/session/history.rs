//! `session history`.

use clap::Args;
use compozy_client::proto::session::v1::InspectSessionRequest;

use super::Named;
use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::HistoryView;

/// Show every change of a session's state
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  compozy session history sess-0123456789abcdef -o jsonl")]
pub(crate) struct HistoryArguments {
    #[command(flatten)]
    named: Named,
}

pub(crate) async fn run(app: &App, arguments: HistoryArguments) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let request = InspectSessionRequest {
        session_id: arguments.named.session,
    };
    let answer = app
        .wait("looking at the session", client.inspect_session(request))
        .await?;
    app.printer.answer(&HistoryView::from(answer))?;
    Ok(Exit::Ok)
}
