//! `daemon backup`: a copy of everything, while the daemon goes on.

use std::time::Duration;

use clap::Args;

use crate::app::App;
use crate::duration;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::BackupView;
use crate::reference;

/// Write a backup into a new directory of the daemon's host, while the daemon goes on
///
/// `compozyd restore` fills an empty home from it. A catalog on Postgres is dumped by the database's own tools: the
/// command is printed, and nothing is written.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  compozy daemon backup ~/backups/monday")]
pub(crate) struct BackupArguments {
    /// The directory to make; the one that it lies in has to be there
    #[arg(value_name = "DIRECTORY", value_parser = reference::not_blank())]
    directory: String,
    /// How long it may take
    #[arg(long, value_name = "SPAN", default_value = "1h", value_parser = duration::parse)]
    timeout: Duration,
}

pub(crate) async fn run(app: &App, arguments: &BackupArguments) -> Result<Exit, Failure> {
    let client = app.client().await?.with_deadline(arguments.timeout);
    let directory = reference::absolute(app, &client, &arguments.directory).await?;
    let answer = app.wait("writing the backup", client.backup(directory)).await?;
    app.printer.answer(&BackupView::from(answer))?;
    Ok(Exit::Ok)
}
