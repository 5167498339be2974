//! `daemon stop`: asks for an orderly end, and waits for it.

use std::time::{Duration, Instant};

use clap::Args;
use compozy_client::{Client, Endpoint, ErrorKind, ErrorReason};
use rustix::process::{Pid, test_kill_process};

use crate::app::{App, Server};
use crate::duration;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::launch;
use crate::output::StoppedView;

/// Pause between two looks.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Let the daemon finish its calls, and stop it
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  compozy daemon stop --timeout 1m")]
pub(crate) struct StopArguments {
    /// How long to wait for the end
    #[arg(long, value_name = "SPAN", default_value = "30s", value_parser = duration::parse)]
    timeout: Duration,
}

pub(crate) async fn run(app: &App, arguments: &StopArguments) -> Result<Exit, Failure> {
    let endpoint = match app.server()? {
        Server::Named(endpoint) => endpoint,
        Server::OfHome(home) => {
            if !launch::listens(&home.socket_path()).await {
                app.printer.answer(&StoppedView {
                    stopped: false,
                    pid: None,
                })?;
                return Ok(Exit::Ok);
            }
            Endpoint::of_home(&home)
        }
    };
    let client = app.connect(endpoint.clone())?;
    let pid = app.wait("asking the daemon to stop", ask(&client)).await?;
    let ended = app
        .wait(
            "waiting for the daemon to end",
            end(&client, &endpoint, pid, arguments.timeout),
        )
        .await;
    if !ended {
        let message = format!("the daemon at {endpoint} was asked to stop and still runs");
        return Err(Failure::too_late(
            message,
            "it finishes its calls; wait longer with --timeout",
        ));
    }
    app.printer.answer(&StoppedView { stopped: true, pid })?;
    Ok(Exit::Ok)
}

/// Asks for the end, and answers the process id. One that is ending already does not tell it, and one that waits
/// for its store does not know it yet.
async fn ask(client: &Client) -> Result<Option<i64>, Failure> {
    let pid = match client.get_server_info().await {
        Ok(info) => Some(info.process_id),
        Err(error) if error.reason() == ErrorReason::Draining => return Ok(None),
        Err(error) if error.reason() == ErrorReason::StoreUnavailable => None,
        Err(error) => return Err(error.into()),
    };
    match client.shutdown().await {
        Ok(_) => Ok(pid),
        // It was quicker than its answer, or somebody else has asked meanwhile.
        Err(error) if error.kind() == ErrorKind::Transport || error.reason() == ErrorReason::Draining => {
            Ok(pid)
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether the daemon ended in time: the process if it is of this machine, else the listener.
async fn end(client: &Client, endpoint: &Endpoint, pid: Option<i64>, timeout: Duration) -> bool {
    let started = Instant::now();
    loop {
        let ended = match endpoint.socket_path() {
            Some(socket) => !pid.is_some_and(process_runs) && !launch::listens(socket).await,
            None => {
                matches!(client.check_health("").await, Err(error) if error.kind() == ErrorKind::Transport)
            }
        };
        if ended {
            return true;
        }
        if started.elapsed() >= timeout {
            return false;
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

fn process_runs(pid: i64) -> bool {
    let Some(raw) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return false;
    };
    // A process of another user exists too, although it may not be signalled.
    !matches!(test_kill_process(raw), Err(rustix::io::Errno::SRCH)) && !is_zombie(pid)
}

/// Whether a process has ended and its parent has not asked how: in a container nobody may ever do
/// so. Systems without /proc have a first process that does.
fn is_zombie(pid: i64) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    // The state follows the program's name in parentheses, which may hold any letter.
    stat.rsplit(')')
        .next()
        .is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_process_that_ended_does_not_run_although_nobody_asked_for_its_status() {
        assert!(process_runs(i64::from(std::process::id())));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        while process_runs(i64::from(child.id())) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(!process_runs(i64::from(child.id())));
    }
}
