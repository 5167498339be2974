//! The daemon as a process of a test.

use std::fs::{self, OpenOptions};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use compozy_client::Client;
use rustix::process::{Pid, Signal, kill_process};

use crate::{Environment, until};

/// From the start of the process until it serves. Many tests start one at once, on few cores.
const START_LIMIT: Duration = Duration::from_secs(120);

/// A daemon that a test started itself. It is killed with this value.
#[derive(Debug)]
pub struct Daemon {
    child: Child,
    client: Client,
}

impl Daemon {
    /// Starts one and waits until it serves.
    pub async fn start(environment: &Environment) -> Self {
        Self::start_with(environment, &[]).await
    }

    /// Starts one with arguments and waits until it serves.
    pub async fn start_with(environment: &Environment, arguments: &[&str]) -> Self {
        let mut command = environment.command("compozyd");
        command.args(arguments);
        Self::start_command(environment, command).await
    }

    /// Starts one by this command and waits until it serves.
    pub async fn start_command(environment: &Environment, command: Command) -> Self {
        let mut child = Self::spawn(environment, command);
        let begun = Instant::now();
        // A socket that an earlier daemon left behind refuses; so connect anew until the new one is there.
        loop {
            let client = environment.client();
            match client.wait_until_serving(Duration::from_millis(50)).await {
                Ok(()) => {
                    until_announced(environment, child.id());
                    return Self { child, client };
                }
                Err(error) if begun.elapsed() > START_LIMIT => {
                    let _ = child.kill();
                    panic!("the daemon does not serve: {error}\n{}", output(environment));
                }
                Err(_) => {}
            }
            if let Some(status) = child.try_wait().unwrap() {
                panic!(
                    "the daemon ended at its start ({status}):\n{}",
                    output(environment)
                );
            }
        }
    }

    /// Starts one without waiting for anything.
    pub fn spawn(environment: &Environment, mut command: Command) -> Child {
        let output = OpenOptions::new()
            .create(true)
            .append(true)
            .open(output_path(environment))
            .unwrap();
        // A group of its own: ctrl-c in a terminal is for the tests, which then end their daemons.
        command.process_group(0).stdin(Stdio::null());
        command.stdout(output.try_clone().unwrap()).stderr(output);
        command.spawn().unwrap()
    }

    /// A client of it. Clones share one connection.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends it as loss of power would, and waits until it is gone.
    pub fn kill(&mut self) {
        // Fails only for a process that has ended already.
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }

    /// Asks it to end.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits for its own end.
    pub fn ended(&mut self) -> ExitStatus {
        let mut status = None;
        until("the daemon to end", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap()
    }

    /// Asks it to end and waits for an orderly end.
    pub fn stop(mut self) {
        self.signal(Signal::TERM);
        let status = self.ended();
        assert!(status.success(), "an orderly end is a success: {status}");
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The note about itself comes a moment after the first answer.
fn until_announced(environment: &Environment, pid: u32) {
    let home = environment.client_home();
    until("the daemon to write daemon.json", || {
        home.daemon_file().is_some_and(|note| note.pid == pid)
    });
}

fn output_path(environment: &Environment) -> std::path::PathBuf {
    environment.root().join("daemon-output")
}

/// What the daemon said, and the end of its log.
fn output(environment: &Environment) -> String {
    let said = fs::read_to_string(output_path(environment)).unwrap_or_default();
    let log = fs::read_to_string(environment.client_home().log_path()).unwrap_or_default();
    let lines: Vec<&str> = log.lines().rev().take(20).collect();
    let last: Vec<&str> = lines.into_iter().rev().collect();
    format!("{said}{}", last.join("\n"))
}
