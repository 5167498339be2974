//! `config schema`: every key, as the daemon's program knows them.

use clap::Args;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::offline;
use crate::output::SchemaView;

/// Print every key with its type and its default
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  compozy config schema\n  compozy config schema -o json")]
pub(crate) struct SchemaArguments {}

pub(crate) async fn run(app: &App, _: &SchemaArguments) -> Result<Exit, Failure> {
    app.on_this_machine("config schema")?;
    offline::run(app, "schema", Vec::new(), SchemaView::read).await
}
