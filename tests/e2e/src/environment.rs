//! Where a daemon under test lives: its home, its user's home directory, a place for projects, its store.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use compozy_client::{Client, Endpoint, Home};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::{Database, until};

/// What holds the catalog.
#[derive(Debug)]
pub enum Engine {
    /// A file in the home.
    Sqlite,
    /// A database of the test's own.
    Postgres(Database),
}

/// Everything that one daemon needs. Homes that share a store or a disk are made by [`Environment::beside`].
#[derive(Debug)]
pub struct Environment {
    /// `$COMPOZY_HOME`.
    pub home: PathBuf,
    /// The user's home directory.
    pub user: PathBuf,
    /// Projects go here; canonical.
    pub work: PathBuf,
    /// Variables besides those that every process gets.
    pub variables: Vec<(OsString, OsString)>,
    engine: Option<Engine>,
    // Last, so that it is removed when everything else has ended.
    directory: TempDir,
}

impl Environment {
    /// A fresh one on SQLite whose first start registers nothing.
    pub fn new() -> Self {
        Self::on(Engine::Sqlite)
    }

    /// A fresh one on this engine whose first start registers nothing.
    pub fn on(engine: Engine) -> Self {
        let environment = Self::bare(engine);
        environment.configure("[workspaces]\nregister_home = false\n");
        environment
    }

    /// A fresh one without a home: the first start makes it.
    pub fn bare(engine: Engine) -> Self {
        let directory = tempfile::Builder::new().prefix("cpz").tempdir().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap();
        let (user, work) = (root.join("user"), root.join("work"));
        fs::create_dir(&user).unwrap();
        fs::create_dir(&work).unwrap();
        let mut variables = Vec::new();
        if let Engine::Postgres(database) = &engine {
            variables.push(("COMPOZY_STORE_URL".into(), database.url().into()));
        }
        Self {
            home: root.join("home"),
            user,
            work,
            variables,
            engine: Some(engine),
            directory,
        }
    }

    /// Another home for a daemon on the same disk and the same store, with this configuration.
    pub fn beside(&self, config: &str) -> Self {
        let mut other = Self::bare(Engine::Sqlite);
        other.engine = None;
        other.variables.clone_from(&self.variables);
        other.work.clone_from(&self.work);
        other.configure(config);
        other
    }

    /// The test's own directory, which holds all the others.
    pub fn root(&self) -> &Path {
        self.directory.path()
    }

    /// The database, for an environment that was made on Postgres.
    pub fn database(&self) -> &Database {
        match &self.engine {
            Some(Engine::Postgres(database)) => database,
            _ => panic!("this environment has no database of its own"),
        }
    }

    /// Writes the home's `config.toml`, and makes the home if need be.
    pub fn configure(&self, text: &str) {
        fs::create_dir_all(&self.home).unwrap();
        fs::write(self.home.join("config.toml"), text).unwrap();
    }

    /// The home as a client sees it.
    pub fn client_home(&self) -> Home {
        Home::at(&self.home)
    }

    /// A client of this home's daemon, over its socket.
    pub fn client(&self) -> Client {
        let home = self.client_home();
        Client::builder()
            .endpoint(Endpoint::of_home(&home))
            .home(home)
            .build()
            .unwrap()
    }

    /// Makes a directory below the place for projects and answers its path.
    pub fn make(&self, below: &str) -> PathBuf {
        let path = self.work.join(below);
        fs::create_dir_all(&path).unwrap();
        path
    }

    /// One of the shipped programs in this environment, with nothing of this machine's.
    pub fn command(&self, name: &str) -> Command {
        let mut command = Command::new(program(name));
        self.apply(&mut command);
        command
    }

    /// Gives any command this environment.
    pub fn apply(&self, command: &mut Command) {
        command.env_clear();
        command
            .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
            .env("TZ", "UTC0");
        command.env("HOME", &self.user).env("COMPOZY_HOME", &self.home);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.current_dir(&self.work);
    }

    /// Sets a variable for every process that is started from now on.
    pub fn set(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) {
        self.variables
            .push((name.as_ref().to_owned(), value.as_ref().to_owned()));
    }

    /// The process that holds the home's lock, by the note that it left; it may be gone.
    pub fn noted_pid(&self) -> Option<u32> {
        fs::read_to_string(self.home.join("daemon.lock"))
            .ok()?
            .trim()
            .parse()
            .ok()
    }

    /// The daemons that run on this home, whoever started them.
    pub fn running_daemons(&self) -> Vec<u32> {
        let mut running = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            if self.is_daemon(&entry.path()) {
                running.push(pid);
            }
        }
        running
    }

    /// A zombie has no command line any more, and so is none.
    fn is_daemon(&self, process: &Path) -> bool {
        let Ok(command_line) = fs::read(process.join("cmdline")) else {
            return false;
        };
        let program = command_line.split(|byte| *byte == 0).next().unwrap_or_default();
        if !program.ends_with(b"compozyd") {
            return false;
        }
        let variable = [b"COMPOZY_HOME=", self.home.as_os_str().as_encoded_bytes()].concat();
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|one| one == variable)
    }
}

impl Default for Environment {
    fn default() -> Self {
        Self::new()
    }
}

/// Ends daemons that a command started in the background.
impl Drop for Environment {
    fn drop(&mut self) {
        for pid in self.running_daemons() {
            if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        if !std::thread::panicking() {
            until("the daemons of a test to be gone", || {
                self.running_daemons().is_empty()
            });
        }
    }
}

/// A shipped program: it lies beside this executable, or beside the folder of this test.
pub fn program(name: &str) -> PathBuf {
    let executable = std::env::current_exe().unwrap();
    let mut folders = executable.ancestors().skip(1).take(2);
    let found = folders.find_map(|folder| Some(folder.join(name)).filter(|path| path.is_file()));
    found.unwrap_or_else(|| {
        panic!(
            "{name} is not there: run `cargo build --workspace --bins`, or the tests with `cargo xtask test`"
        )
    })
}
