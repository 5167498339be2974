//! `session archive`.

use clap::Args;
use compozy_client::proto::session::v1::ArchiveSessionRequest;

use super::Named;
use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::SessionAnswer;

/// Take a stopped session out of the lists
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  compozy session archive sess-0123456789abcdef")]
pub(crate) struct ArchiveArguments {
    #[command(flatten)]
    named: Named,
}

pub(crate) async fn run(app: &App, arguments: ArchiveArguments) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let request = ArchiveSessionRequest {
        session_id: arguments.named.session,
        ..ArchiveSessionRequest::default()
    };
    let answer = app.wait("archiving", client.archive_session(request)).await?;
    app.printer.answer(&SessionAnswer::from(answer))?;
    Ok(Exit::Ok)
}
