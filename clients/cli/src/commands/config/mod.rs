//! `config`: the settings of a workspace, where each comes from, and how to change one.

mod explain;
mod schema;
mod set;
mod show;
mod validate;

use clap::Subcommand;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;

/// The verbs of `config`.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show the configuration that counts in a workspace
    Show(show::ShowArguments),
    /// Tell where a value comes from, and what it overrode
    Explain(explain::ExplainArguments),
    /// Set one key in your own config.toml, or in the workspace's
    Set(set::SetArguments),
    /// Print every key with its type and its default
    Schema(schema::SchemaArguments),
    /// Check files without a daemon: exit code 65 if one is not valid
    Validate(validate::ValidateArguments),
}

pub(crate) async fn run_command(app: &App, command: ConfigCommand) -> Result<Exit, Failure> {
    match command {
        ConfigCommand::Show(arguments) => show::run(app, &arguments).await,
        ConfigCommand::Explain(arguments) => explain::run(app, &arguments).await,
        ConfigCommand::Set(arguments) => set::run(app, &arguments).await,
        ConfigCommand::Schema(arguments) => schema::run(app, &arguments).await,
        ConfigCommand::Validate(arguments) => validate::run(app, &arguments).await,
    }
}
