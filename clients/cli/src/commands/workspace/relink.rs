//! `workspace relink`: where the directory is now.

use clap::Args;
use compozy_client::proto::workspace::v1::RelinkWorkspaceRequest;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::RelinkView;
use crate::reference;

/// Point a registration at the place where its directory is now
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  compozy workspace relink api ~/dev/moved/api")]
pub(crate) struct RelinkArguments {
    /// The workspace
    #[arg(value_name = "REF", value_parser = reference::not_blank())]
    reference: String,
    /// The directory
    #[arg(value_name = "PATH", value_parser = reference::not_blank())]
    path: String,
    /// Take a directory of another identity too
    #[arg(long)]
    force: bool,
}

pub(crate) async fn run(app: &App, arguments: &RelinkArguments) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let request = RelinkWorkspaceRequest {
        r#ref: Some(reference::workspace(app, &client, &arguments.reference).await?),
        path: reference::absolute(app, &client, &arguments.path).await?,
        force: arguments.force,
        ..RelinkWorkspaceRequest::default()
    };
    let answer = app
        .wait("relinking the workspace", client.relink_workspace(request))
        .await?;
    app.printer.answer(&RelinkView::from(answer))?;
    Ok(Exit::Ok)
}
