//! `workspace browse`: the directory picker.

use clap::Args;
use compozy_client::proto::workspace::v1::ListDirectoryRequest;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::DirectoryView;
use crate::reference;

/// List the child directories of a directory of the daemon's host
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  compozy workspace browse\n  compozy workspace browse ~/dev -o json")]
pub(crate) struct BrowseArguments {
    /// The directory. Default: the home directory of the daemon's user
    #[arg(value_name = "PATH", value_parser = reference::not_blank())]
    path: Option<String>,
}

pub(crate) async fn run(app: &App, arguments: &BrowseArguments) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let path = match &arguments.path {
        Some(path) => reference::absolute(app, &client, path).await?,
        None => String::new(),
    };
    let answer = app
        .wait("listing", client.list_directory(ListDirectoryRequest { path }))
        .await?;
    app.printer.answer(&DirectoryView::from(answer))?;
    Ok(Exit::Ok)
}
