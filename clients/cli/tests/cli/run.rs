//! Running the real binary, with nothing of this machine's environment.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// One run of `compozy` in the making.
pub struct Run {
    command: Command,
}

/// What a run did.
pub struct Done {
    pub exit: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    /// `compozy` on this home, in this directory, with these arguments.
    pub fn new(home: &Path, directory: &Path, arguments: &[&str]) -> Self {
        Self::of(
            Path::new(env!("CARGO_BIN_EXE_compozy")),
            home,
            directory,
            arguments,
        )
    }

    /// Another copy of the binary.
    pub fn of(binary: &Path, home: &Path, directory: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(binary);
        command
            .env_clear()
            .env("COMPOZY_HOME", home)
            .env("HOME", home)
            .env("TZ", "UTC0")
            .env("PATH", "/usr/bin:/bin");
        command
            .current_dir(directory)
            .args(arguments)
            .stdin(Stdio::null());
        Self { command }
    }

    pub fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub fn without(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// The command itself, for a test that wants its streams.
    pub fn command(self) -> Command {
        self.command
    }

    pub fn done(mut self) -> Done {
        Done::from(self.command.output().unwrap())
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
    /// The data of a run that succeeded.
    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(self.exit, 0, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// The error object of a run that ended with this code.
    #[track_caller]
    pub fn error(&self, exit: i32) -> Value {
        assert_eq!(
            self.exit, exit,
            "stdout: {}\nstderr: {}",
            self.stdout, self.stderr
        );
        let object: Value = serde_json::from_str(&self.stdout).unwrap();
        assert_eq!(object.as_object().unwrap().keys().collect::<Vec<_>>(), ["error"]);
        object["error"].clone()
    }

    /// The lines of a jsonl run that succeeded.
    #[track_caller]
    pub fn lines(&self) -> Vec<Value> {
        assert_eq!(self.exit, 0, "{}", self.stderr);
        self.stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// Waits for a condition that another process brings about.
#[track_caller]
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let started = std::time::Instant::now();
    while !condition() {
        assert!(started.elapsed().as_secs() < 30, "waited in vain for: {what}");
        std::thread::yield_now();
    }
}

pub fn text(path: impl Into<PathBuf>) -> String {
    path.into().into_os_string().into_string().unwrap()
}
