//! A private Postgres for tests: its own data directory, port and password, gone with its owner.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::{Result, commands, system};

use account::Account;

mod account;
mod programs;

/// From the start of the server to its first connection.
const START_LIMIT: Duration = Duration::from_secs(30);
/// For each of the server's ways to stop, from the politest on.
const STOP_LIMIT: Duration = Duration::from_secs(10);

/// Losing the data of a test costs nothing, so nothing waits for the disk. Connections: every test
/// has a pool of its own.
const SETTINGS: [&str; 5] = [
    "fsync=off",
    "full_page_writes=off",
    "max_connections=200",
    "shared_buffers=128MB",
    "listen_addresses=127.0.0.1",
];

/// A running server; dropping it stops the server and removes its files.
#[derive(Debug)]
pub(crate) struct Postgres {
    child: Child,
    programs: PathBuf,
    pooler: Option<PathBuf>,
    version: String,
    port: u16,
    password: String,
    // Behind `child`: the folder goes when the server has stopped.
    folder: TempDir,
}

impl Postgres {
    /// Finds the programs (with `install`, installs them when they are missing), makes a data
    /// directory and starts a server on it; returns when it takes connections.
    pub(crate) fn start(install: bool) -> Result<Self> {
        let programs = programs::find(install)?;
        let pooler = programs::pooler(install);
        let version = programs::version(&programs).ok_or("postgres does not tell its version")?;
        let account = Account::find()?;
        let folder = tempfile::Builder::new().prefix("compozy-postgres-").tempdir()?;
        account.own(folder.path())?;
        let password = random_password()?;
        make_data_directory(&programs, folder.path(), &account, &password)?;
        let port = free_port()?;
        let child = spawn_server(&programs, folder.path(), &account, port)?;
        let mut server = Self {
            child,
            programs,
            pooler,
            version,
            port,
            password,
            folder,
        };
        server.wait_until_ready()?;
        Ok(server)
    }

    /// The superuser's URL of the database `postgres`.
    pub(crate) fn url(&self) -> String {
        format!(
            "postgres://postgres:{}@127.0.0.1:{}/postgres",
            self.password, self.port
        )
    }

    /// The folder with `psql`, `pg_dump` and the rest.
    pub(crate) fn programs(&self) -> &Path {
        &self.programs
    }

    /// Data, log and Unix socket of the server.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// What the server calls itself.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// The server writes `ready` into the last line of its pid file when it takes connections.
    fn wait_until_ready(&mut self) -> Result<()> {
        let started = Instant::now();
        let pid_file = self.folder().join("data/postmaster.pid");
        while started.elapsed() < START_LIMIT {
            if let Some(status) = self.child.try_wait()? {
                return Err(format!("Postgres ended at its start ({status}):\n{}", self.log()).into());
            }
            let state = fs::read_to_string(&pid_file).unwrap_or_default();
            if state.lines().nth(7).is_some_and(|line| line.trim() == "ready") {
                return Ok(());
            }
            commands::tick()?;
        }
        Err(format!(
            "Postgres took no connection within {} s:\n{}",
            START_LIMIT.as_secs(),
            self.log()
        )
        .into())
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder().join("log")).unwrap_or_default()
    }

    fn ended_within(&mut self, limit: Duration) -> bool {
        let asked = Instant::now();
        while asked.elapsed() < limit {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }
}

/// Fast shutdown, then immediate shutdown, then by force: whatever clients still do.
impl Drop for Postgres {
    fn drop(&mut self) {
        let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) else {
            return;
        };
        for signal in [Signal::INT, Signal::QUIT] {
            if self.ended_within(Duration::from_millis(1)) {
                return;
            }
            let _ = kill_process(pid, signal);
            if self.ended_within(STOP_LIMIT) {
                return;
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The folder with the server's programs, for those that start one themselves; installed if need be.
pub(crate) fn find_programs() -> Result<PathBuf> {
    programs::find(true)
}

/// `cargo xtask postgres`: a server for a person, until ctrl-c.
pub(crate) fn run_until_signal(install: bool) -> Result<()> {
    let mut server = Postgres::start(install)?;
    println!("{} in {}", server.version(), server.folder().display());
    println!("COMPOZY_TEST_POSTGRES_BIN={}", server.programs().display());
    if let Some(pooler) = &server.pooler {
        println!("COMPOZY_TEST_PGBOUNCER={}", pooler.display());
    }
    println!("COMPOZY_TEST_POSTGRES_URL={}", server.url());
    println!("running until ctrl-c");
    while commands::tick().is_ok() {
        if let Some(status) = server.child.try_wait()? {
            return Err(format!("Postgres ended by itself ({status}):\n{}", server.log()).into());
        }
    }
    drop(server);
    println!("stopped, its files are removed");
    Ok(())
}

fn make_data_directory(programs: &Path, folder: &Path, account: &Account, password: &str) -> Result<()> {
    let password_file = folder.join("password");
    fs::write(&password_file, password)?;
    account.own(&password_file)?;
    let mut command = Command::new(programs.join("initdb"));
    command.args([
        "--username=postgres",
        "--encoding=UTF8",
        "--locale=C",
        "--no-sync",
    ]);
    // `password`, not `scram-sha-256`: the exchange costs an unoptimised test binary far more than
    // the server's own check, and the line is this machine's loopback.
    command.args(["--auth=password", "--pwfile=password", "--pgdata=data"]);
    account.apply(&mut command, folder);
    // Its lines would only say that everything went well, and its errors go to standard error.
    commands::run(command.stdout(Stdio::null()))?;
    fs::remove_file(&password_file)?;
    Ok(())
}

fn spawn_server(programs: &Path, folder: &Path, account: &Account, port: u16) -> Result<Child> {
    let log = File::create(folder.join("log"))?;
    let mut command = tied_to_this_process(&programs.join("postgres"));
    command
        .args(["-D", "data", "-p", &port.to_string(), "-k"])
        .arg(folder);
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    account.apply(&mut command, folder);
    // A group of its own: ctrl-c in the terminal is for the tests; the server stops after them.
    command
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log);
    Ok(command.spawn()?)
}

/// Where the system can do it, the server ends even when this process is killed outright.
fn tied_to_this_process(program: &Path) -> Command {
    match system::on_path("setpriv").filter(|_| cfg!(target_os = "linux")) {
        Some(setpriv) => {
            let mut command = Command::new(setpriv);
            command.args(["--pdeathsig", "INT", "--"]).arg(program);
            command
        }
        None => Command::new(program),
    }
}

/// The system's choice. Somebody else may take it before the server does; the start then fails.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Other users of this machine reach the port, and a superuser of a database runs programs.
fn random_password() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| format!("no random bytes: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
