//! The command line as a person or a script runs it.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

use crate::Environment;

/// No command takes longer, unless it hangs.
const LIMIT: Duration = Duration::from_secs(180);

/// One run of a shipped program in the making.
#[derive(Debug)]
pub struct Run {
    command: Command,
}

/// What a run did.
#[derive(Debug, Clone)]
pub struct Done {
    /// Exit code; -1 after a signal.
    pub exit: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Run {
    /// `compozy` with these arguments and JSON as its output.
    pub fn compozy(environment: &Environment, arguments: &[&str]) -> Self {
        let mut run = Self::of(environment, "compozy", arguments);
        run.command.args(["-o", "json"]);
        run
    }

    /// A shipped program with these arguments and nothing else.
    pub fn of(environment: &Environment, program: &str, arguments: &[&str]) -> Self {
        let mut command = environment.command(program);
        command.args(arguments).stdin(Stdio::null());
        Self { command }
    }

    /// In this directory.
    #[must_use]
    pub fn within(mut self, directory: impl AsRef<Path>) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// With this variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Without this variable.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// The command itself, for a test that wants its streams.
    pub fn command(self) -> Command {
        self.command
    }

    /// Starts it; its streams are pipes.
    pub fn spawn(mut self) -> Child {
        self.command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Runs it to its end.
    #[track_caller]
    pub fn done(mut self) -> Done {
        let name = format!("{:?}", self.command);
        let (sender, receiver) = mpsc::channel();
        // A thread, so that a command that hangs fails the test instead of hanging it.
        std::thread::spawn(move || sender.send(self.command.output()));
        match receiver.recv_timeout(LIMIT) {
            Ok(output) => Done::from(output.unwrap()),
            Err(_) => panic!("{name} did not end"),
        }
    }
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        Self {
            exit: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Done {
    /// Asserts the exit code.
    #[track_caller]
    pub fn exits(&self, code: i32) -> &Self {
        assert_eq!(
            self.exit, code,
            "stdout: {}\nstderr: {}",
            self.stdout, self.stderr
        );
        self
    }

    /// The data of a run that succeeded.
    #[track_caller]
    pub fn json(&self) -> Value {
        self.exits(0).object()
    }

    /// The error object of a run that ended with this code.
    #[track_caller]
    pub fn error(&self, exit: i32) -> Value {
        self.exits(exit).object()["error"].clone()
    }

    /// Standard output as one object.
    #[track_caller]
    pub fn object(&self) -> Value {
        match serde_json::from_str(&self.stdout) {
            Ok(object) => object,
            Err(error) => panic!("{error}\nstdout: {}\nstderr: {}", self.stdout, self.stderr),
        }
    }
}
