//! `workspace info`: the record of one workspace, with a look at its root.

use clap::Args;
use compozy_client::proto::workspace::v1::GetWorkspaceRequest;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Sourced, WorkspaceAnswer};
use crate::selection::Selector;

/// Show one workspace
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy workspace info\n  compozy workspace info api\n  compozy workspace info ./deep/inside -o json"
)]
pub(crate) struct InfoArguments {
    #[command(flatten)]
    selector: Selector,
}

pub(crate) async fn run(app: &App, arguments: &InfoArguments) -> Result<Exit, Failure> {
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
        resolution_source: selected.source.name(),
        answer: WorkspaceAnswer::from(answer),
    })?;
    Ok(Exit::Ok)
}
