//! `workspace edit`: changes what was given, and only that.

use clap::Args;
use compozy_client::proto::workspace::v1::{UpdateWorkspaceRequest, Workspace};
use prost_types::FieldMask;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::WorkspaceAnswer;
use crate::reference;

/// Change name, title, additional directories or default agent
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy workspace edit api --name payments --title \"Payments API\"\n  compozy workspace edit api --add-dir ~/dev/shared --remove-dir ~/dev/old\n  compozy workspace edit api --default-agent \"\""
)]
pub(crate) struct EditArguments {
    /// The workspace
    #[arg(value_name = "REF", value_parser = reference::not_blank())]
    reference: String,
    /// The new handle
    #[arg(long)]
    name: Option<String>,
    /// The new text to show; may be empty
    #[arg(long)]
    title: Option<String>,
    /// A directory to add; may be repeated
    #[arg(long, value_name = "PATH", value_parser = reference::not_blank())]
    add_dir: Vec<String>,
    /// A directory to take away; may be repeated
    #[arg(long, value_name = "PATH", value_parser = reference::not_blank())]
    remove_dir: Vec<String>,
    /// The agent of new sessions; empty for none
    #[arg(long, value_name = "AGENT")]
    default_agent: Option<String>,
}

pub(crate) async fn run(app: &App, arguments: EditArguments) -> Result<Exit, Failure> {
    let EditArguments {
        reference,
        name,
        title,
        add_dir,
        remove_dir,
        default_agent,
    } = arguments;
    let scalars = [
        ("name", name.is_some()),
        ("title", title.is_some()),
        ("default_agent", default_agent.is_some()),
    ];
    let paths: Vec<String> = scalars
        .iter()
        .filter(|(_, given)| *given)
        .map(|(path, _)| (*path).to_owned())
        .collect();
    if paths.is_empty() && add_dir.is_empty() && remove_dir.is_empty() {
        return Err(Failure::usage(
            "nothing to change was given",
            "give at least one of --name, --title, --add-dir, --remove-dir and --default-agent",
        ));
    }
    let client = app.client().await?;
    let mut request = UpdateWorkspaceRequest {
        r#ref: Some(reference::workspace(app, &client, &reference).await?),
        workspace: Some(Workspace {
            name,
            title,
            default_agent,
            ..Workspace::default()
        }),
        update_mask: Some(FieldMask { paths }),
        ..UpdateWorkspaceRequest::default()
    };
    for directory in &add_dir {
        request
            .add_dirs
            .push(reference::absolute(app, &client, directory).await?);
    }
    for directory in &remove_dir {
        request
            .remove_dirs
            .push(reference::absolute(app, &client, directory).await?);
    }
    let answer = app
        .wait("changing the workspace", client.update_workspace(request))
        .await?;
    app.printer.answer(&WorkspaceAnswer::from(answer))?;
    Ok(Exit::Ok)
}
