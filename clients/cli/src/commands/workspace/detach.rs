//! `workspace detach`: a session off its account.

use clap::Args;
use compozy_client::proto::workspace::v1::DetachSessionRequest;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::DetachmentView;
use crate::reference::{self, not_blank};

/// Take a session off its workspace's account; it stays, without a workspace
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy workspace detach sess-0123456789abcdef\n  compozy workspace detach sess-0123456789abcdef --workspace api"
)]
pub(crate) struct DetachArguments {
    /// Id of the session
    #[arg(value_name = "SESSION", value_parser = not_blank())]
    session: String,
    /// Only if it is on the account of this workspace
    #[arg(long, value_name = "REF", value_parser = not_blank())]
    workspace: Option<String>,
}

pub(crate) async fn run(app: &App, arguments: DetachArguments) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let workspace = match &arguments.workspace {
        Some(text) => Some(reference::workspace(app, &client, text).await?),
        None => None,
    };
    let request = DetachSessionRequest {
        workspace,
        session_id: arguments.session,
        request_id: String::new(),
    };
    let answer = app.wait("detaching", client.detach_session(request)).await?;
    app.printer.answer(&DetachmentView::from(answer))?;
    Ok(Exit::Ok)
}
