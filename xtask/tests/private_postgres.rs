//! `cargo xtask postgres` as a person uses it: it starts, answers, and leaves nothing behind.
#![allow(clippy::unwrap_used)]

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

/// What the task prints when the server takes connections.
struct Started {
    child: Child,
    output: BufReader<ChildStdout>,
    folder: PathBuf,
    programs: PathBuf,
    url: String,
}

impl Started {
    /// Nothing on a machine without Postgres: the test is then skipped, and says so.
    fn new(test: &str) -> Option<Self> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        command
            .args(["postgres", "--no-install"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (mut folder, mut programs, mut url) = (None, None, None);
        let mut line = String::new();
        while output.read_line(&mut line).unwrap() > 0 {
            let text = line.trim_end();
            if let Some(path) = text.strip_prefix("COMPOZY_TEST_POSTGRES_BIN=") {
                programs = Some(PathBuf::from(path));
            } else if let Some(value) = text.strip_prefix("COMPOZY_TEST_POSTGRES_URL=") {
                url = Some(value.to_owned());
            } else if let Some(path) = text.strip_prefix("COMPOZY_TEST_PGBOUNCER=") {
                assert!(PathBuf::from(path).is_file(), "{path}");
            } else if let Some((_, path)) = text.split_once(" in ") {
                folder = Some(PathBuf::from(path));
            } else if text == "running until ctrl-c" {
                let (folder, programs, url) = (folder.unwrap(), programs.unwrap(), url.unwrap());
                return Some(Self {
                    child,
                    output,
                    folder,
                    programs,
                    url,
                });
            }
            line.clear();
        }
        let mut errors = String::new();
        child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        child.wait().unwrap();
        assert!(errors.contains("no Postgres"), "{errors}");
        note_skipped(test, errors.trim());
        None
    }

    fn query(&self, sql: &str) -> String {
        let mut command = Command::new(self.programs.join("psql"));
        let output = command
            .args([&self.url, "--no-psqlrc", "-Atc", sql])
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn port(&self) -> u16 {
        let (_, rest) = self.url.rsplit_once(':').unwrap();
        rest.split_once('/').unwrap().0.parse().unwrap()
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }
}

fn note_skipped(test: &str, why: &str) {
    if let Some(path) = std::env::var_os("COMPOZY_TEST_SKIPPED") {
        let mut file = OpenOptions::new().append(true).open(path).unwrap();
        writeln!(file, "{test}: {}", why.replace('\n', " ")).unwrap();
    }
}

#[test]
fn answers_as_superuser_and_leaves_nothing_behind() {
    let test = "answers_as_superuser_and_leaves_nothing_behind";
    let Some(mut started) = Started::new(test) else {
        return;
    };
    assert_eq!(
        started.query("SELECT rolsuper FROM pg_roles WHERE rolname = current_user"),
        "t"
    );
    assert_eq!(started.query("SHOW max_connections"), "200");
    let (folder, port) = (started.folder.clone(), started.port());
    assert!(folder.is_dir());
    started.signal(Signal::TERM);
    let mut rest = String::new();
    started.output.read_to_string(&mut rest).unwrap();
    assert!(started.child.wait().unwrap().success());
    assert_eq!(rest, "stopped, its files are removed\n");
    assert!(!folder.exists());
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}

#[test]
fn a_wrong_password_does_not_open_it() {
    let Some(mut started) = Started::new("a_wrong_password_does_not_open_it") else {
        return;
    };
    let url = format!("postgres://postgres:wrong@127.0.0.1:{}/postgres", started.port());
    let mut command = Command::new(started.programs.join("psql"));
    let output = command
        .args([&url, "--no-psqlrc", "-Atc", "SELECT 1"])
        .output()
        .unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("password authentication failed"));
    started.signal(Signal::INT);
    assert!(started.child.wait().unwrap().success());
}
