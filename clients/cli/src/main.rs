//! `compozy`: the command line of the catalog. A thin client: it has no store and no second copy of
//! a rule that the daemon has. It parses what a person types, finds the daemon and the workspace
//! that is meant, sends one call, and prints the answer in one of four forms.

mod app;
mod arguments;
mod commands;
mod duration;
mod exit;
mod failure;
mod hint;
mod instant;
mod labels;
mod launch;
mod nearest;
mod offline;
mod output;
mod problem;
mod quote;
mod reference;
mod resolution;
mod selection;

use std::process::ExitCode;

use clap::Parser;

use crate::app::App;
use crate::arguments::Arguments;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Printer;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return output::arguments_refused(&error).into(),
    };
    let format = match arguments.format() {
        Ok(format) => format,
        Err(error) => return output::arguments_refused(&error).into(),
    };
    let printer = Printer::new(format);
    // One thread is enough for one call at a time, and starts faster than a pool.
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return ended(&printer, Err(Failure::defect(format!("no runtime: {error}")))),
    };
    let app = App::new(arguments.globals, printer);
    let ending = runtime.block_on(async {
        tokio::select! {
            ending = Box::pin(commands::run(&app, arguments.command)) => ending,
            _ = tokio::signal::ctrl_c() => Ok(Exit::Interrupted),
        }
    });
    // A look-up of a host name may still occupy a thread of the runtime; nobody waits for it.
    runtime.shutdown_background();
    ended(&app.printer, ending)
}

/// Says how it went, on the right stream, and turns it into the exit code.
fn ended(printer: &Printer, ending: Result<Exit, Failure>) -> ExitCode {
    match ending {
        Ok(exit) => exit.into(),
        Err(failure) => {
            printer.failure(&failure);
            failure.exit().into()
        }
    }
}
