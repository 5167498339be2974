//! `workspace move`: its place in the manual order.

use clap::Args;
use compozy_client::proto::workspace::v1::MoveWorkspaceRequest;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::MoveView;
use crate::reference;

/// Move a workspace in the manual order
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy workspace move api --before web\n  compozy workspace move api          (to the end)"
)]
pub(crate) struct MoveArguments {
    /// The workspace
    #[arg(value_name = "REF", value_parser = reference::not_blank())]
    reference: String,
    /// The workspace to put it in front of. Default: to the end
    #[arg(long, value_name = "REF", value_parser = reference::not_blank())]
    before: Option<String>,
}

pub(crate) async fn run(app: &App, arguments: &MoveArguments) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let before = match &arguments.before {
        Some(before) => Some(reference::workspace(app, &client, before).await?),
        None => None,
    };
    let request = MoveWorkspaceRequest {
        r#ref: Some(reference::workspace(app, &client, &arguments.reference).await?),
        before,
        request_id: String::new(),
    };
    let answer = app
        .wait("moving the workspace", client.move_workspace(request))
        .await?;
    app.printer.answer(&MoveView::from(answer))?;
    Ok(Exit::Ok)
}
