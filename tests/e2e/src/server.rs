//! A Postgres server that a test may stop and start, from the programs in `COMPOZY_TEST_POSTGRES_BIN`.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::skipped::skip_postgres;
use crate::until;

/// The folder with `postgres` and `initdb`.
const PROGRAMS: &str = "COMPOZY_TEST_POSTGRES_BIN";

/// A process that is killed loses nothing that it gave to the system, so a test need not wait for the disk.
const WITHOUT_SYNC: [&str; 2] = ["fsync=off", "full_page_writes=off"];

/// A server with a data directory and a port of its own. It ends with this value.
#[derive(Debug)]
pub struct PostgresServer {
    child: Option<Child>,
    programs: PathBuf,
    port: u16,
    /// Who runs it instead of root, whom it refuses: user and group.
    account: Option<(u32, u32)>,
    settings: Vec<&'static str>,
    // Behind the process, which uses it.
    folder: TempDir,
}

impl PostgresServer {
    /// Makes and starts one; `None`, said aloud, where the programs are not known.
    pub fn start(test: &str) -> Option<Self> {
        Self::start_with(test, &[])
    }

    /// One that does not wait for the disk: it outlives its own crash, not the machine's. Nothing is measured on it.
    pub fn start_without_sync(test: &str) -> Option<Self> {
        Self::start_with(test, &WITHOUT_SYNC)
    }

    fn start_with(test: &str, settings: &[&'static str]) -> Option<Self> {
        let Some(programs) = std::env::var_os(PROGRAMS).filter(|folder| !folder.is_empty()) else {
            skip_postgres(test);
            return None;
        };
        let mut server = Self {
            child: None,
            programs: programs.into(),
            port: free_port(),
            account: account(),
            settings: [&["listen_addresses=127.0.0.1", "max_connections=200"], settings].concat(),
            folder: tempfile::Builder::new().prefix("cpzpg").tempdir().unwrap(),
        };
        server.make_data_directory();
        server.resume();
        Some(server)
    }

    /// The superuser's URL of the database `postgres`.
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// Stops it at once: every connection is cut, and what was committed is on disk.
    pub fn stop(&mut self) {
        self.end(Signal::INT);
    }

    /// Stops it as a crash would: no checkpoint, recovery at the next start.
    pub fn crash(&mut self) {
        self.end(Signal::QUIT);
    }

    /// Starts it, and waits until it takes connections.
    pub fn resume(&mut self) {
        assert!(self.child.is_none());
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.folder.path().join("log"))
            .unwrap();
        let mut command = Command::new(self.programs.join("postgres"));
        command
            .args(["-D", "data", "-p", &self.port.to_string(), "-k"])
            .arg(self.folder.path());
        for setting in &self.settings {
            command.args(["-c", setting]);
        }
        self.apply_account(&mut command);
        command
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        self.child = Some(command.spawn().unwrap());
        let pid_file = self.folder.path().join("data/postmaster.pid");
        until("Postgres to take connections", || {
            let state = fs::read_to_string(&pid_file).unwrap_or_default();
            state.lines().nth(7).is_some_and(|line| line.trim() == "ready")
        });
    }

    fn make_data_directory(&self) {
        self.hand_over();
        let mut command = Command::new(self.programs.join("initdb"));
        command.args([
            "--username=postgres",
            "--encoding=UTF8",
            "--locale=C",
            "--auth=trust",
            "--pgdata=data",
        ]);
        self.apply_account(&mut command);
        let output = command.output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    fn hand_over(&self) {
        if let Some((user, group)) = self.account {
            chown(self.folder.path(), Some(user), Some(group)).unwrap();
        }
    }

    fn apply_account(&self, command: &mut Command) {
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("LC_ALL", "C")
            .current_dir(self.folder.path());
        if let Some((user, group)) = self.account {
            command.uid(user).gid(group);
        }
    }

    fn end(&mut self, signal: Signal) {
        let Some(mut child) = self.child.take() else {
            return;
        };
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        let _ = kill_process(pid, signal);
        child.wait().unwrap();
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        self.end(Signal::QUIT);
    }
}

/// The system's choice. Somebody else may take it first; the start then fails.
fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

fn account() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let accounts = fs::read_to_string("/etc/passwd").unwrap();
    for wanted in ["postgres", "nobody"] {
        for line in accounts.lines() {
            let fields: Vec<&str> = line.split(':').collect();
            if let [name, _, user, group, ..] = fields[..]
                && name == wanted
            {
                return Some((user.parse().unwrap(), group.parse().unwrap()));
            }
        }
    }
    panic!("Postgres does not run as root, and there is neither a user postgres nor nobody");
}
