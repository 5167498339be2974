//! `doctor`: the checks are the daemon's, which runs them as a command of its own, so that they work
//! while no daemon does.

use std::process::{Output, Stdio};
use std::time::Duration;

use clap::Args;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::launch;
use crate::output::DoctorView;

/// All checks together may take this long; a big catalog is read completely.
const DEADLINE: Duration = Duration::from_secs(15 * 60);

/// Check the home, and repair what is safe to repair
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  compozy doctor\n  compozy doctor --fix\n  compozy doctor -o json")]
pub(crate) struct DoctorArguments {
    /// Repair what is safe to repair
    #[arg(long)]
    fix: bool,
}

pub(crate) async fn run(app: &App, arguments: &DoctorArguments) -> Result<Exit, Failure> {
    app.own_home("doctor checks")?;
    let program = launch::program()?;
    let mut command = tokio::process::Command::new(&program);
    command
        .args(["doctor", "-o", "json"])
        .stdin(Stdio::null())
        .kill_on_drop(true);
    if arguments.fix {
        command.arg("--fix");
    }
    let hint = "try `compozyd doctor`";
    let finished = app
        .wait("checking", tokio::time::timeout(DEADLINE, command.output()))
        .await;
    let output = match finished {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => {
            return Err(Failure::no_daemon(
                format!("{} cannot be run: {error}", program.display()),
                hint,
            ));
        }
        Err(_) => {
            return Err(Failure::too_late(
                format!("the checks took more than {} min", DEADLINE.as_secs() / 60),
                hint,
            ));
        }
    };
    let report = read(&output)?;
    app.printer.answer(&report)?;
    Ok(if report.found_errors() {
        Exit::ChecksFailed
    } else {
        Exit::Ok
    })
}

/// The report, or what the program complained about instead.
fn read(output: &Output) -> Result<DoctorView, Failure> {
    serde_json::from_slice(&output.stdout).map_err(|error| {
        let complaint = String::from_utf8_lossy(&output.stderr);
        let last = complaint.lines().rev().find(|line| !line.trim().is_empty());
        Failure::defect(match last {
            Some(line) => format!("the checks gave no report: {}", line.trim()),
            None => format!("the checks gave no report ({}): {error}", output.status),
        })
    })
}
