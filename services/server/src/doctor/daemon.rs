//! Whether a daemon runs, and whether what it says about itself is true.

use std::os::unix::net::UnixStream;

use super::{Check, Context, Report};
use crate::daemon_file::DaemonFile;
use crate::failure::Failure;
use crate::lock;

#[derive(Debug)]
pub(super) struct LockCheck;

#[tonic::async_trait]
impl Check for LockCheck {
    fn name(&self) -> &'static str {
        "daemon"
    }

    async fn run(&self, context: &Context) -> Result<Vec<Report>, Failure> {
        let (holder, file) = (lock::holder(&context.home), DaemonFile::read(&context.home));
        let path = context.home.daemon_file_path();
        let start = "start compozyd again";
        Ok(vec![match (holder, file) {
            (Some(pid), Some(file)) if file.pid == pid => Report::ok(
                self.name(),
                format!(
                    "version {} runs with pid {pid} since {}",
                    file.version, file.started_at
                ),
            ),
            (Some(pid), _) => {
                let message = format!(
                    "a daemon with pid {pid} runs, and {} does not speak of it",
                    path.display()
                );
                Report::warning(
                    self.name(),
                    message,
                    "wait until it has started, or stop and start it",
                )
            }
            (None, Some(file)) => {
                let message = format!(
                    "{} is left over from a daemon with pid {}",
                    path.display(),
                    file.pid
                );
                Report::warning(self.name(), message, start)
            }
            (None, None) if path.exists() => Report::warning(
                self.name(),
                format!("{} can't be read as what it should be", path.display()),
                start,
            ),
            (None, None) => Report::ok(self.name(), "no daemon runs"),
        }])
    }
}

#[derive(Debug)]
pub(super) struct SocketCheck;

#[tonic::async_trait]
impl Check for SocketCheck {
    fn name(&self) -> &'static str {
        "socket"
    }

    async fn run(&self, context: &Context) -> Result<Vec<Report>, Failure> {
        let Some(file) = DaemonFile::of_running(&context.home) else {
            return Ok(vec![Report::ok(
                self.name(),
                "no daemon runs, so nobody should listen",
            )]);
        };
        let path = file.socket;
        Ok(vec![match UnixStream::connect(&path) {
            Ok(_) => Report::ok(self.name(), format!("{} answers", path.display())),
            Err(error) => {
                let message = format!("{} does not answer ({error})", path.display());
                Report::error(self.name(), message, "stop and start the daemon")
            }
        }])
    }
}
