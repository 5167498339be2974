//! `workspace attach`: a session onto an account.

use clap::Args;
use compozy_client::proto::workspace::v1::AttachSessionRequest;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{AttachmentView, Sourced};
use crate::reference::not_blank;
use crate::selection::FlagSelector;

/// Put a session in front of a workspace's account
///
/// Its directory has to belong to the workspace.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy workspace attach sess-0123456789abcdef\n  compozy workspace attach sess-0123456789abcdef --workspace api"
)]
pub(crate) struct AttachArguments {
    /// Id of the session
    #[arg(value_name = "SESSION", value_parser = not_blank())]
    session: String,
    #[command(flatten)]
    selector: FlagSelector,
}

pub(crate) async fn run(app: &App, arguments: AttachArguments) -> Result<Exit, Failure> {
    let choice = arguments.selector.choose()?;
    let client = app.client().await?;
    let selected = choice.select(app, &client).await?;
    let request = AttachSessionRequest {
        workspace: Some(selected.reference.clone()),
        session_id: arguments.session,
        request_id: String::new(),
    };
    let answer = app.wait("attaching", client.attach_session(request)).await;
    let answer = answer.map_err(|error| selected.failure(error))?;
    app.printer.answer(&Sourced {
        resolution_source: selected.resolution_source(),
        answer: AttachmentView::from(answer),
    })?;
    Ok(Exit::Ok)
}
