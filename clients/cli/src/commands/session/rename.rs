//! `session rename`.

use clap::Args;
use compozy_client::proto::session::v1::RenameSessionRequest;

use super::Named;
use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::SessionAnswer;
use crate::reference::not_blank;

/// Give a session another name
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  compozy session rename sess-0123456789abcdef 'fix the build'")]
pub(crate) struct RenameArguments {
    #[command(flatten)]
    named: Named,
    /// What to show for it
    #[arg(value_name = "NAME", value_parser = not_blank())]
    name: String,
}

pub(crate) async fn run(app: &App, arguments: RenameArguments) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let request = RenameSessionRequest {
        session_id: arguments.named.session,
        name: arguments.name,
        ..RenameSessionRequest::default()
    };
    let answer = app.wait("renaming", client.rename_session(request)).await?;
    app.printer.answer(&SessionAnswer::from(answer))?;
    Ok(Exit::Ok)
}
