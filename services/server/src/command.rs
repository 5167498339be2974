//! What a person or a script can ask of `compozyd`. A subcommand is a variant here and a file below.

mod doctor;
mod new_epoch;
mod restore;
mod rotate_key;
mod run;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

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
  compozyd restore /backups/monday      fill an empty home from a backup

The home is $COMPOZY_HOME, default ~/.compozy. Exit codes: 0 ok, 1 a check found errors, 64 usage,
65 configuration, 69 already running or unavailable, 70 internal, 74 input or output.";

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
}

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
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if failure.kind() != FailureKind::Check {
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

/// Says what was done. A reader that has gone does not want to know.
fn tell(sentence: &str) -> Result<(), Failure> {
    match writeln!(io::stdout(), "{sentence}") {
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
