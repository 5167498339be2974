//! The real `compozyd` on a home of its own.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Output, Stdio};
use std::time::Duration;

use compozy_server::daemon_file::DaemonFile;
use compozy_server::home::Home;
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tonic_health::pb::health_check_response::ServingStatus;

use crate::health::check;
use crate::running::{PATIENCE, socket_channel, until};

pub const COMPOZYD: &str = env!("CARGO_BIN_EXE_compozyd");

/// A home, below a directory that is the user's home directory.
pub struct Place {
    pub home: Home,
    directory: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self {
            home: Home::at(directory.path().join("compozy")),
            directory,
        }
    }

    /// A place whose home lies deeper.
    pub fn at(below: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self {
            home: Home::at(directory.path().join(below)),
            directory,
        }
    }

    /// `compozyd` with these arguments; a test may change more before it is started.
    pub fn command(&self, arguments: &[&str]) -> Command {
        self.dress(Command::new(COMPOZYD), arguments)
    }

    /// The daemon on the catalog at this URL.
    pub fn command_on(&self, store_url: &str) -> Command {
        let mut command = self.command(&["run"]);
        command.env("COMPOZY_STORE_URL", store_url);
        command
    }

    /// The same under another umask.
    pub fn command_with_umask(&self, umask: &str, arguments: &[&str]) -> Command {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("umask {umask}; exec \"$0\" \"$@\""), COMPOZYD]);
        self.dress(shell, arguments)
    }

    fn dress(&self, mut command: Command, arguments: &[&str]) -> Command {
        command
            .args(arguments)
            .env("HOME", self.directory.path())
            .env("COMPOZY_HOME", self.home.path())
            .env_remove("XDG_RUNTIME_DIR")
            .env_remove("COMPOZY_STORE_URL")
            .env_remove("OTEL_EXPORTER_OTLP_ENDPOINT")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    /// Runs a command that ends by itself.
    pub async fn run(&self, arguments: &[&str]) -> Output {
        output(self.command(arguments)).await
    }

    /// Starts the daemon and waits until it is SERVING.
    pub async fn daemon(&self) -> Daemon {
        self.serving(self.command(&["run"])).await
    }

    /// Waits until the daemon of this command is SERVING.
    pub async fn serving(&self, command: Command) -> Daemon {
        let mut daemon = Daemon::spawned(command, PathBuf::new());
        let pid = daemon.pid;
        until("the daemon serves", async || {
            if let Some(status) = daemon.child.try_wait().unwrap() {
                panic!("the daemon ended with {status}");
            }
            let Some(file) = DaemonFile::of_running(&self.home).filter(|file| file.pid == pid) else {
                return false;
            };
            daemon.socket = file.socket;
            check(&socket_channel(&daemon.socket).await, "").await == ServingStatus::Serving
        })
        .await;
        daemon
    }

    /// The lines of the log.
    pub fn log(&self) -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(self.home.log_path()).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// Runs a command to its end.
pub async fn output(mut command: Command) -> Output {
    tokio::time::timeout(PATIENCE, command.output())
        .await
        .expect("the command never ended")
        .unwrap()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

pub fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

/// A daemon that serves.
pub struct Daemon {
    child: Child,
    pub pid: u32,
    pub socket: PathBuf,
}

impl Daemon {
    /// Starts a daemon that will listen on this socket, and waits for nothing.
    pub fn spawned(mut command: Command, socket: PathBuf) -> Self {
        let child = command.spawn().unwrap();
        let pid = child.id().unwrap();
        Self { child, pid, socket }
    }

    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.pid).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    pub async fn wait(&mut self) -> ExitStatus {
        tokio::time::timeout(PATIENCE, self.child.wait())
            .await
            .expect("the daemon never ended")
            .unwrap()
    }

    /// Ends it in order.
    pub async fn stop(mut self) -> ExitStatus {
        self.signal(Signal::TERM);
        self.wait().await
    }

    /// Ends it at once.
    pub async fn kill(mut self) {
        self.signal(Signal::KILL);
        self.wait().await;
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }
}

/// How long an end without anything in flight may take.
pub const SOON: Duration = Duration::from_secs(10);
