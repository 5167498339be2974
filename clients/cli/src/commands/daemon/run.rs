//! `daemon run`: this process becomes the daemon.

use std::os::unix::process::CommandExt;
use std::process::Command;

use clap::Args;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::launch;

/// Run the daemon in the foreground
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  compozy daemon run\n  compozy daemon run -- --listen 127.0.0.1:2123")]
pub(crate) struct RunArguments {
    /// Leave the terminal first; how the background start works
    #[arg(long, hide = true)]
    detached: bool,
    /// Arguments of compozyd
    #[arg(last = true, value_name = "ARGUMENT")]
    arguments: Vec<std::ffi::OsString>,
}

pub(crate) fn run(app: &App, arguments: &RunArguments) -> Result<Exit, Failure> {
    let home = app.own_home("a daemon runs on")?;
    let program = launch::program()?;
    if arguments.detached {
        // Fails only for a group's leader, which then has left the terminal's group already.
        let _ = rustix::process::setsid();
    }
    // Returns only if it failed.
    let error = Command::new(&program)
        .args(&arguments.arguments)
        .env("COMPOZY_HOME", home.path())
        .exec();
    Err(Failure::no_daemon(
        format!("{} cannot be run: {error}", program.display()),
        "install compozyd again",
    ))
}
