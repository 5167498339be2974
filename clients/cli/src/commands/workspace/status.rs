//! `workspace status`: how the root of one workspace is right now.

use clap::Args;
use compozy_client::proto::workspace::v1::GetWorkspaceRequest;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Sourced, WorkspaceAnswer};
use crate::selection::Selector;

/// Look at the root of a workspace now
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  compozy workspace status\n  compozy workspace status api")]
pub(crate) struct StatusArguments {
    #[command(flatten)]
    selector: Selector,
}

pub(crate) async fn run(app: &App, arguments: &StatusArguments) -> Result<Exit, Failure> {
    let choice = arguments.selector.choose()?;
    let client = app.client().await?;
    let selected = choice.select(app, &client).await?;
    let request = GetWorkspaceRequest {
        r#ref: Some(selected.reference.clone()),
        include_status: true,
    };
    let answer = app
        .wait("looking at the workspace", client.get_workspace(request))
        .await;
    let answer = answer.map_err(|error| selected.failure(error))?;
    app.printer.answer(&Sourced {
        resolution_source: selected.resolution_source(),
        answer: WorkspaceAnswer::from(answer),
    })?;
    Ok(Exit::Ok)
}
