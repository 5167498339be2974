//! What a person or a script can ask of `compozyd`. A subcommand is a variant here and a file below.

mod doctor;
mod new_epoch;
mod restore;
mod rotate_key;
mod run;
mod schema;
mod set_config;
mod validate;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use compozy_domain::Layer;

use crate::config::{Config, Overrides, StoreConfig};
use crate::failure::{Failure, FailureKind};
use crate::home::Home;

/// The workspace and session catalog.
#[derive(Debug, Parser)]
#[command(name = "compozyd", version, about, args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: RunArguments,
}

const EXAMPLES: &str = "\
Examples:
  compozyd                              run on the home, in the foreground
  compozyd run --listen 127.0.0.1:2123  answer on TCP too
  compozyd doctor                       check the home
  compozyd validate .                   check the files of a workspace, without a daemon
  compozyd restore /backups/monday      fill an empty home from a backup

The home is $COMPOZY_HOME, default ~/.compozy. Exit codes: 0 ok, 1 a check found errors, 64 usage,
65 configuration, 66 nothing there, 69 already running or unavailable, 70 internal, 74 input or output.";

/// Everything that can be asked.
#[derive(Debug, Subcommand)]
enum Command {
    /// Run in the foreground, which is also what happens without a command.
    Run(RunArguments),
    /// Check the home and what lies in it.
    Doctor(DoctorArguments),
    /// Fill an empty home from a backup that `compozy daemon backup` wrote.
    #[command(after_help = "Example:\n  compozyd restore /backups/monday --home ~/.compozy")]
    Restore(RestoreArguments),
    /// Seal cursors and tokens with a new key, also while daemons run; the two newest keys are valid.
    #[command(after_help = "Example:\n  compozyd rotate-key")]
    RotateKey,
    /// Begin a new epoch of the change log, so that watches start over: after a database was put back by other means
    /// than restore.
    #[command(after_help = "Example:\n  compozyd new-epoch")]
    NewEpoch,
    /// Check files as a daemon would read them, without one: one line for each finding.
    #[command(after_help = VALIDATE_EXAMPLES)]
    Validate(ValidateArguments),
    /// Print every key of config.toml: what it has to be, its default, how layers merge, who may set it.
    #[command(after_help = "Examples:\n  compozyd schema\n  compozyd schema --format json")]
    Schema(SchemaArguments),
    /// Set one key of a config.toml, or take it out, and keep everything else in the file as it is.
    #[command(after_help = SET_CONFIG_EXAMPLES)]
    SetConfig(SetConfigArguments),
}

const VALIDATE_EXAMPLES: &str = "\
Examples:
  compozyd validate                             the workspace here or above
  compozyd validate ~/project                   everything that its registration would read
  compozyd validate .compozy/config.toml        one file: a .toml file, mcp.json, AGENT.md, SKILL.md, .env
  compozyd validate --format json . | jq .code  one JSON object a line

Each line is file:line:column: code: message. Exits 65 if there is an error; warnings do not count.";

const SET_CONFIG_EXAMPLES: &str = "\
Examples:
  compozyd set-config --file .compozy/config.toml --layer workspace defaults.agent reviewer
  compozyd set-config --file .compozy/config.toml --layer workspace --unset defaults.agent";

/// How to run.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunArguments {
    /// Listen on TCP too, such as 127.0.0.1:2123; wins over grpc.listen. Callers need a token, beyond this machine
    /// TLS as well.
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,
}

/// How to check.
#[derive(Debug, Clone, Args)]
pub(crate) struct DoctorArguments {
    /// How to print the result.
    #[arg(short, long, value_enum, default_value_t = Output::Human)]
    output: Output,
    /// Mend what can be mended safely, such as modes.
    #[arg(long)]
    fix: bool,
}

/// What to restore.
#[derive(Debug, Clone, Args)]
pub(crate) struct RestoreArguments {
    /// The directory of the backup.
    #[arg(value_name = "DIRECTORY")]
    directory: PathBuf,
    /// The home to fill; wins over $COMPOZY_HOME.
    #[arg(long, value_name = "DIRECTORY")]
    home: Option<PathBuf>,
}

/// What to check.
#[derive(Debug, Clone, Args)]
pub(crate) struct ValidateArguments {
    /// Files and directories; the nearest directory with a .compozy, from here upwards, if none is named.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// How to print the findings.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// How to print the table of keys.
#[derive(Debug, Clone, Args)]
pub(crate) struct SchemaArguments {
    /// How to print it.
    #[arg(long, value_enum, default_value_t = SchemaFormat::Text)]
    format: SchemaFormat,
}

/// What to set.
#[derive(Debug, Clone, Args)]
pub(crate) struct SetConfigArguments {
    /// The config.toml; it is made if it is not there.
    #[arg(long, value_name = "PATH")]
    file: PathBuf,
    /// Whose file it is, which decides what it may say.
    #[arg(long, value_enum)]
    layer: FileLayer,
    /// Take the key out.
    #[arg(long, conflicts_with = "value")]
    unset: bool,
    /// How to print what was done.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Dotted key, such as defaults.agent.
    #[arg(value_name = "KEY")]
    key: String,
    /// A TOML value; for a key that takes a text, the text alone will do.
    #[arg(
        value_name = "VALUE",
        required_unless_present = "unset",
        allow_hyphen_values = true
    )]
    value: Option<String>,
}

/// Layers that have files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum FileLayer {
    /// $COMPOZY_HOME/config.toml
    User,
    /// $COMPOZY_HOME/profiles/NAME/config.toml
    Profile,
    /// ROOT/.compozy/config.toml
    Workspace,
    /// ROOT/.compozy/profiles/NAME/config.toml
    WorkspaceProfile,
}

impl FileLayer {
    fn layer(self) -> Layer {
        match self {
            Self::User => Layer::User,
            Self::Profile => Layer::Profile,
            Self::Workspace => Layer::Workspace,
            Self::WorkspaceProfile => Layer::WorkspaceProfile,
        }
    }
}

/// How the table of keys is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SchemaFormat {
    /// For a person.
    Text,
    /// For a program.
    Json,
    /// For a page.
    Markdown,
}

/// How lines are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// For a person.
    Text,
    /// For a program.
    Json,
}

/// How a result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Output {
    /// For a person.
    Human,
    /// One JSON object.
    Json,
}

/// Does what the command line asks, and says with which code to end.
#[must_use]
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // If nobody reads it, there is nothing more to say.
            let _ = error.print();
            return if error.use_stderr() {
                ExitCode::from(64)
            } else {
                ExitCode::SUCCESS
            };
        }
    };
    let done = match arguments.command {
        None => run::run(&arguments.run),
        Some(Command::Run(run)) => run::run(&run),
        Some(Command::Doctor(doctor)) => doctor::doctor(&doctor),
        Some(Command::Restore(restore)) => restore::restore(&restore),
        Some(Command::RotateKey) => rotate_key::rotate_key(),
        Some(Command::NewEpoch) => new_epoch::new_epoch(),
        Some(Command::Validate(validate)) => validate::validate(&validate),
        Some(Command::Schema(schema)) => schema::schema(&schema),
        Some(Command::SetConfig(set)) => set_config::set_config(&set),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // Checks have told everything already.
            if !matches!(failure.kind(), FailureKind::Check | FailureKind::Invalid) {
                let _ = writeln!(io::stderr(), "error: {failure}");
            }
            ExitCode::from(failure.exit_code())
        }
    }
}

/// The store that a daemon of this home would use.
fn store_config(home: &Home) -> Result<StoreConfig, Failure> {
    Ok(Config::load(home, &Overrides::from_environment())?.store)
}

/// Says what was done.
fn tell(sentence: &str) -> Result<(), Failure> {
    printed(writeln!(io::stdout(), "{sentence}"))
}

/// Whether a result was printed. A reader that has gone does not want to know.
fn printed(done: io::Result<()>) -> Result<(), Failure> {
    match done {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::new(
            FailureKind::Io,
            format!("the result can't be printed: {error}"),
        )),
        _ => Ok(()),
    }
}

/// The runtime that a command works on.
fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("compozyd")
        .build()
        .map_err(|error| Failure::new(FailureKind::Io, format!("the runtime can't be started: {error}")))
}
