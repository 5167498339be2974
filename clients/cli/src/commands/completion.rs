//! `completion`: the script that teaches a shell these commands.

use clap::{Args, CommandFactory, ValueEnum};
use clap_complete::Shell;

use crate::app::App;
use crate::arguments::Arguments;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::ScriptView;

/// Print the completion script of a shell
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  compozy completion bash > ~/.local/share/bash-completion/completions/compozy"
)]
pub(crate) struct CompletionArguments {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    shell: KnownShell,
}

/// The shells that are tested.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum KnownShell {
    Bash,
    Zsh,
    Fish,
}

pub(crate) fn run(app: &App, arguments: &CompletionArguments) -> Result<Exit, Failure> {
    let shell = match arguments.shell {
        KnownShell::Bash => Shell::Bash,
        KnownShell::Zsh => Shell::Zsh,
        KnownShell::Fish => Shell::Fish,
    };
    // Into memory first: the generator panics where a write fails, and a pipe may close.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "compozy", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    app.printer.answer(&ScriptView {
        shell: shell.to_string(),
        script,
    })?;
    Ok(Exit::Ok)
}
