//! What the daemon's program does by itself, without a daemon: checks and edits of files have one home, and it is not
//! this program.

use std::ffi::OsString;
use std::process::{Output, Stdio};
use std::time::Duration;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::launch;
use crate::output::{Answer, Format, SchemaView};
use crate::problem::Problem;

/// How long one command may take; a big directory is read completely.
const DEADLINE: Duration = Duration::from_secs(5 * 60);

/// Runs a command of the daemon's program and passes its output and its exit code on, in the form that was asked for.
pub(crate) async fn run<A: Answer>(
    app: &App,
    verb: &'static str,
    words: Vec<OsString>,
    read: fn(&[u8]) -> Result<A, Failure>,
) -> Result<Exit, Failure> {
    let is_for_people = app.printer.format() == Format::Human;
    let mut all = vec![OsString::from(verb)];
    if !is_for_people {
        all.extend(["--format", "json"].map(OsString::from));
    }
    all.extend(words);
    let output = output(app, verb, all).await?;
    let exit = exit_of(&output);
    if is_for_people {
        app.printer.passed_on(&output.stdout)?;
        app.printer.complained(&output.stderr);
        return Ok(exit);
    }
    if !matches!(exit, Exit::Ok | Exit::Refused) || (output.stdout.is_empty() && !output.status.success()) {
        return Err(complaint(&output, verb));
    }
    app.printer.answer(&read(&output.stdout)?)?;
    Ok(exit)
}

/// The keys that the daemon's program knows; none if it is not on this machine or cannot tell.
pub(crate) async fn known_keys(app: &App) -> Vec<String> {
    let words = ["schema", "--format", "json"].map(OsString::from).to_vec();
    match output(app, "schema", words).await {
        Ok(output) if output.status.success() => SchemaView::read(&output.stdout)
            .map(|schema| schema.names())
            .unwrap_or_default(),
        Ok(_) | Err(_) => Vec::new(),
    }
}

/// What a command of the daemon's program wrote and how it ended.
pub(crate) async fn output(app: &App, verb: &'static str, words: Vec<OsString>) -> Result<Output, Failure> {
    let program = launch::program()?;
    let mut command = tokio::process::Command::new(&program);
    command.args(words).stdin(Stdio::null()).kill_on_drop(true);
    let finished = app
        .wait("reading files", tokio::time::timeout(DEADLINE, command.output()))
        .await;
    match finished {
        Ok(Ok(output)) => Ok(output),
        Ok(Err(error)) => Err(Failure::no_daemon(
            format!("{} cannot be run: {error}", program.display()),
            format!("try `compozyd {verb}`"),
        )),
        Err(_) => Err(Failure::too_late(
            format!("`compozyd {verb}` took more than {} min", DEADLINE.as_secs() / 60),
            "name less to look at",
        )),
    }
}

/// The failure that the program tells with its last words: a sentence, and a line for each problem of a file.
pub(crate) fn complaint(output: &Output, verb: &str) -> Failure {
    let words = String::from_utf8_lossy(&output.stderr);
    let mut lines = words.lines().skip_while(|line| !line.starts_with("error:"));
    let told = lines.next().and_then(|line| line.strip_prefix("error:"));
    let last = || words.lines().rev().find(|line| !line.trim().is_empty());
    let message = match told.or_else(last) {
        Some(line) => line.trim().to_owned(),
        None => format!("`compozyd {verb}` failed ({})", output.status),
    };
    let problems: Vec<Problem> = lines.filter_map(Problem::of_line).collect();
    let failure = Failure::of_program(exit_of(output), message, format!("see `compozyd {verb} --help`"));
    failure.listing(problems)
}

/// The exit code of the other program, which has the same table.
fn exit_of(output: &Output) -> Exit {
    output
        .status
        .code()
        .and_then(Exit::of_code)
        .unwrap_or(Exit::Defect)
}
