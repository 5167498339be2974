//! What a person can type: the options that every command takes, and the list of commands.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand};

use crate::commands::agent::AgentCommand;
use crate::commands::completion::CompletionArguments;
use crate::commands::config::ConfigCommand;
use crate::commands::daemon::DaemonCommand;
use crate::commands::doctor::DoctorArguments;
use crate::commands::profile::ProfileCommand;
use crate::commands::resolve::ResolveArguments;
use crate::commands::session::SessionCommand;
use crate::commands::skill::SkillCommand;
use crate::commands::watch::WatchArguments;
use crate::commands::workspace::WorkspaceCommand;
use crate::exit;
use crate::output::Format;

const EXAMPLES: &str = "\
Examples:
  compozy workspace add .           register the current directory
  compozy workspace list            what is registered
  compozy workspace info            the workspace that owns the current directory
  compozy session list              what runs, and what has run
  compozy resolve                   what a session there would see
  compozy config explain            where every setting comes from
  compozy watch                     what changes from now on
  compozy daemon status             whether a daemon runs, and which";

/// The catalog of workspaces and sessions.
///
/// Every command talks to the daemon of this home and starts it when none runs; --server names
/// another one.
#[derive(Debug, Parser)]
#[command(name = "compozy", version, after_help = format!("{EXAMPLES}\n\n{}", exit::HELP))]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) globals: Globals,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The nouns.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start, stop and look at the daemon of this home
    #[command(subcommand)]
    Daemon(DaemonCommand),
    /// Check the home, and repair what is safe to repair
    Doctor(DoctorArguments),
    /// Registered project directories
    #[command(subcommand)]
    Workspace(WorkspaceCommand),
    /// The runs of agents
    #[command(subcommand)]
    Session(SessionCommand),
    /// Show what a session in a workspace would see
    ///
    /// Configuration, agents, skills and MCP servers, with everything that is wrong with their files and what to do
    /// about it.
    Resolve(ResolveArguments),
    /// The settings of a workspace, and where each comes from
    #[command(subcommand)]
    Config(ConfigCommand),
    /// The agents of a workspace
    #[command(subcommand)]
    Agent(AgentCommand),
    /// The skills of a workspace
    #[command(subcommand)]
    Skill(SkillCommand),
    /// Named overlays of settings, agents and skills
    #[command(subcommand)]
    Profile(ProfileCommand),
    /// Follow what changes in the catalog
    ///
    /// One line for each change, until it is interrupted. It goes on by itself when the daemon restarts, without a gap
    /// and without a repetition; where changes are missing, it says so. It starts a daemon at its beginning only.
    Watch(WatchArguments),
    /// Print the completion script of a shell
    Completion(CompletionArguments),
    /// Print the version of this command
    #[command(after_help = "Example:\n  compozy version -o json")]
    Version,
}

/// Options of every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Globals {
    /// Form of the output. Default: human
    #[arg(short = 'o', long, global = true, value_name = "FORM", value_enum)]
    output: Option<Format>,
    /// The same as -o json
    #[arg(long, global = true)]
    json: bool,
    /// The server: unix:///path, http://host:port or https://host:port [env: COMPOZY_SERVER]
    #[arg(long, global = true, value_name = "ADDRESS")]
    pub(crate) server: Option<String>,
    /// File with the bearer token [env: COMPOZY_TOKEN holds the token itself]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// PEM file of the authorities that may vouch for an https server
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// PEM file of the client's certificate
    #[arg(long, global = true, value_name = "FILE", requires = "key")]
    pub(crate) cert: Option<PathBuf>,
    /// PEM file of the client's private key
    #[arg(long, global = true, value_name = "FILE", requires = "cert")]
    pub(crate) key: Option<PathBuf>,
    /// Fail when no daemon runs, instead of starting one
    #[arg(long, global = true)]
    pub(crate) no_autostart: bool,
}

impl Globals {
    /// The form that was asked for; two different ones are refused.
    fn format(&self) -> Result<Format, clap::Error> {
        match (self.output, self.json) {
            (Some(format), true) if format != Format::Json => Err(Arguments::command().error(
                ErrorKind::ArgumentConflict,
                "--json is -o json and cannot go with another form",
            )),
            (Some(format), _) => Ok(format),
            (None, true) => Ok(Format::Json),
            (None, false) => Ok(Format::Human),
        }
    }
}

impl Command {
    /// Whether the answer goes on until it is ended: a stream has its records one a line.
    fn is_stream(&self) -> bool {
        match self {
            Self::Watch(_) => true,
            Self::Daemon(command) => command.is_stream(),
            Self::Session(command) => command.is_stream(),
            Self::Doctor(_)
            | Self::Workspace(_)
            | Self::Resolve(_)
            | Self::Config(_)
            | Self::Agent(_)
            | Self::Skill(_)
            | Self::Profile(_)
            | Self::Completion(_)
            | Self::Version => false,
        }
    }
}

impl Arguments {
    /// The form of the output: the one that was asked for, where the command has it.
    pub(crate) fn format(&self) -> Result<Format, clap::Error> {
        match self.globals.format()? {
            Format::Json if self.command.is_stream() => Ok(Format::Jsonl),
            Format::Toon if self.command.is_stream() => Err(Self::command().error(
                ErrorKind::ArgumentConflict,
                "a stream has no TOON form; use -o jsonl",
            )),
            format => Ok(format),
        }
    }
}

/// The usage of the command that was typed, as far as it names one.
pub(crate) fn usage_of(typed: impl Iterator<Item = String>) -> String {
    let mut command = Arguments::command();
    command.build();
    for word in typed {
        if let Some(found) = command.find_subcommand(&word) {
            command = found.clone();
        }
    }
    command.render_usage().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn usage_is_that_of_the_command_that_was_typed() {
        let words = ["workspace", "list", "--limit", "x"].map(str::to_owned);
        assert!(usage_of(words.into_iter()).starts_with("Usage: compozy workspace list "));
    }
}
