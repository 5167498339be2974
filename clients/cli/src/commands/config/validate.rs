//! `config validate`: the daemon's program checks files; no daemon has to run, and none is started.

use std::ffi::OsString;

use clap::Args;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::offline;
use crate::output::ValidationView;

/// Check files without a daemon: exit code 65 if one is not valid
///
/// A line for each problem: file:line:column: code: message. A directory is checked like a workspace: its configuration,
/// MCP servers, agents and skills, together with your own.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy config validate\n  compozy config validate ~/dev/api\n  compozy config validate .compozy/config.toml .compozy/mcp.json\n  compozy config validate -o jsonl\n\nIn .git/hooks/pre-commit:\n  compozy config validate \"$(git rev-parse --show-toplevel)\""
)]
pub(crate) struct ValidateArguments {
    /// Files and directories. Default: the project around the current directory
    #[arg(value_name = "PATH")]
    paths: Vec<OsString>,
}

pub(crate) async fn run(app: &App, arguments: &ValidateArguments) -> Result<Exit, Failure> {
    app.on_this_machine("config validate")?;
    // Behind the dashes, a path that begins with one is a path too.
    let mut words = vec![OsString::from("--")];
    words.extend(arguments.paths.iter().cloned());
    offline::run(app, "validate", words, ValidationView::read).await
}
