//! The user's `config.toml` as the daemon reads it. Which keys there are, and what they may be, the resolver's table
//! says, as for every other layer; here it is settled what a file, a flag or a variable says, and what only makes sense
//! together. All problems are told at once. Nothing of it changes while the process lives.

mod edit;
mod settings;
mod settle;
mod told;
mod values;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use compozy_domain::{Diagnostic, HostId};
use compozy_resolver::config::read_user_file;

use self::values::Values;
use crate::failure::Failure;
use crate::home::Home;
use crate::small_file::{self, Links};

pub use self::edit::{Check, EditDone, EditFault, EditWanted, edit};
pub use self::settings::{Setting, needs_restart};

/// Bytes of `config.toml` at most.
pub const CONFIG_BYTES_MAX: u64 = 1024 * 1024;
/// The variable that names the store.
pub const STORE_VARIABLE: &str = "COMPOZY_STORE_URL";

/// Everything that the daemon was told, with defaults filled in.
#[derive(Debug, Clone)]
pub struct Config {
    /// `daemon.socket`, if it was set.
    pub socket: Option<PathBuf>,
    /// `daemon.host_id`, if it was set.
    pub host_id: Option<HostId>,
    /// `daemon.drain_timeout`: from the signal to the end of the process.
    pub drain_timeout: Duration,
    /// `--listen`, `grpc.listen` or `http.port`; `None` is the socket only.
    pub listen: Option<Listen>,
    /// `grpc.tls.*`.
    pub tls: Option<TlsFiles>,
    /// `http.allowed_origins`.
    pub allowed_origins: Vec<String>,
    /// `store.*`.
    pub store: StoreConfig,
    /// `workspaces.*`.
    pub workspaces: WorkspacesConfig,
    /// `changes.retain`.
    pub changes_retain: Duration,
    /// `changes.retain_entries`.
    pub changes_retain_entries: u64,
    /// `session.*` and `agents.heartbeat.*`.
    pub sessions: SessionsConfig,
    /// `memory.workspace.auto_create`.
    pub memory_auto_create: bool,
    /// `limits.*` and the connection settings of `grpc.*`.
    pub limits: Limits,
    /// `log.*`.
    pub log: LogConfig,
    /// `telemetry.listen`.
    pub telemetry_listen: Option<Listen>,
    /// `auth.tokens_file`.
    pub tokens_file: Option<PathBuf>,
    /// Everything, as it may be shown, by key.
    pub settings: Vec<Setting>,
    /// Unknown keys that `config.unknown_keys = "warn"` let pass, for the log.
    pub warnings: Vec<String>,
}

/// An address to listen on, and who asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listen {
    /// `host:port`; the host may be a name.
    pub address: String,
    /// The key or flag, for errors.
    pub key: &'static str,
}

/// How long things about sessions may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionsConfig {
    /// `session.start_timeout`.
    pub start_timeout: Duration,
    /// `session.runtime_ttl`.
    pub runtime_ttl: Duration,
    /// `agents.heartbeat.session_health_stale_after`.
    pub stale_after: Duration,
    /// Calls at once that wait for a stop: half of `limits.calls`, so that runtimes find room for what they report.
    pub stop_waits: usize,
}

impl Default for SessionsConfig {
    fn default() -> Self {
        Self {
            start_timeout: Duration::from_secs(60),
            runtime_ttl: Duration::from_secs(30),
            stale_after: Duration::from_secs(120),
            stop_waits: 512,
        }
    }
}

/// The files of TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// PEM chain of the server.
    pub cert: PathBuf,
    /// PEM private key of the server.
    pub key: PathBuf,
    /// PEM authorities of clients; set, every client has to show a certificate.
    pub client_ca: Option<PathBuf>,
}

/// Where the catalog lies.
#[derive(Clone, PartialEq, Eq)]
pub struct StoreConfig {
    /// `sqlite://<path>` or `postgres://...`. May hold a password: never logged.
    pub url: String,
    /// `store.durability = "full"`.
    pub full_durability: bool,
    /// `store.pooler = "transaction"`.
    pub transaction_pooler: bool,
}

impl StoreConfig {
    /// Whether the catalog lies on Postgres.
    #[must_use]
    pub fn is_postgres(&self) -> bool {
        !self.url.starts_with("sqlite:")
    }
}

impl fmt::Debug for StoreConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = self.url.split(':').next().unwrap_or_default();
        formatter
            .debug_struct("StoreConfig")
            .field("scheme", &scheme)
            .field("full_durability", &self.full_durability)
            .field("transaction_pooler", &self.transaction_pooler)
            .finish_non_exhaustive()
    }
}

/// Which directories may be workspaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspacesConfig {
    /// Absolute; empty allows everything to the socket's caller and nothing to others.
    pub allowed_roots: Vec<PathBuf>,
    /// Whether the first start registers the user's home directory.
    pub register_home: bool,
}

/// Bounds of connections and calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Connections of TCP, and as many of the socket.
    pub connections: usize,
    /// Streams of one connection.
    pub streams_per_connection: u32,
    /// Watches at once over TCP, and as many over the socket.
    pub watchers: usize,
    /// TLS handshakes at once.
    pub handshakes: usize,
    /// How long a handshake, or a silent beginning of a connection, may take.
    pub handshake_timeout: Duration,
    /// Unary calls at once over TCP, and as many over the socket.
    pub calls: usize,
    /// Calls a second of one caller; 0 is without limit.
    pub calls_per_second: u32,
    /// How old a TCP connection gets, +-10 %.
    pub connection_age: Duration,
    /// How long the streams of an old connection may go on.
    pub connection_age_grace: Duration,
    /// How often a silent connection is pinged.
    pub keepalive_interval: Duration,
    /// How long the answer to a ping may take.
    pub keepalive_timeout: Duration,
}

/// What is logged and how much is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogConfig {
    /// `error`, `warn`, `info`, `debug` or `trace`, or directives such as `info,compozy_store=debug`.
    pub level: String,
    /// Bytes after which the file is rotated.
    pub max_bytes: u64,
    /// Age after which the file is rotated.
    pub max_age: Duration,
    /// Rotated files that are kept.
    pub keep: usize,
    /// What goes to stderr besides.
    pub stderr: LogStderr,
}

/// What a foreground daemon writes to stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogStderr {
    /// Text if stderr is a terminal, else nothing.
    Auto,
    /// Text.
    Text,
    /// The same JSON lines as in the file, for containers.
    Json,
    /// Nothing.
    None,
}

/// What the command line and the environment add to the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `--listen`.
    pub listen: Option<String>,
    /// `COMPOZY_STORE_URL`; blank is unset.
    pub store_url: Option<String>,
}

impl Overrides {
    /// What the environment adds.
    #[must_use]
    pub fn from_environment() -> Self {
        let store_url = std::env::var(STORE_VARIABLE).ok();
        Self {
            listen: None,
            store_url: store_url.filter(|url| !url.trim().is_empty()),
        }
    }
}

impl Config {
    /// Reads the home's `config.toml`, if there is one.
    ///
    /// # Errors
    /// One failure that names the file and every problem in it.
    pub fn load(home: &Home, overrides: &Overrides) -> Result<Self, Failure> {
        let path = home.config_path();
        let bytes = small_file::read_bytes(&path, CONFIG_BYTES_MAX, Links::Refuse)
            .map_err(|fault| Failure::config(format!("{} {fault}", path.display())))?;
        let read = Self::check(home, &bytes.unwrap_or_default(), overrides);
        read.map_err(|problems| told::failure(&path, &problems))
    }

    /// Reads the text of a `config.toml`.
    ///
    /// # Errors
    /// One failure that names the file and every problem in it.
    pub fn parse(home: &Home, text: &str, overrides: &Overrides) -> Result<Self, Failure> {
        let read = Self::check(home, text.as_bytes(), overrides);
        read.map_err(|problems| told::failure(&home.config_path(), &problems))
    }

    /// Reads the content of a `config.toml`.
    ///
    /// # Errors
    /// Every problem in it, sorted.
    pub fn check(home: &Home, bytes: &[u8], overrides: &Overrides) -> Result<Self, Vec<Diagnostic>> {
        let path = home.config_path();
        let (file, warnings) = read_user_file(&path.to_string_lossy(), bytes)?;
        let mut config = settle::settle(home, Values(file), overrides).map_err(|mut problems| {
            Diagnostic::sort(&mut problems);
            problems
        })?;
        let told = warnings.iter();
        config.warnings = told
            .map(|warning| format!("config.toml {}", told::with_line(warning)))
            .collect();
        Ok(config)
    }
}

#[cfg(test)]
mod tests;
