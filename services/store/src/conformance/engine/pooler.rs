//! PgBouncer in transaction mode, with so few server connections that those who use it really share them.

use std::fs::{self, File};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::str::FromStr as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection as _, PgConnection, Row as _};
use tempfile::TempDir;

use super::account::Account;
use super::postgres::{Postgres, skip};

/// The program; without it, where packages put it.
const PROGRAM: &str = "COMPOZY_TEST_PGBOUNCER";
/// Server connections of one database. A path lock keeps one, whoever waits for it another one.
pub const POOL_SIZE: usize = 3;
/// From the start to the first connection.
const START_LIMIT: Duration = Duration::from_secs(20);
/// Of the socket's name; nobody listens on a port.
const SOCKET_NUMBER: u16 = 6432;

/// What of a session is left to the next one that gets the server connection. The pooler itself hands a session's
/// name, encoding, and forms of dates and strings on.
const LEFT_BEHIND: &str = "SELECT \
     (SELECT COUNT(*) FROM pg_prepared_statements WHERE name <> '') AS statements, \
     (SELECT COUNT(*) FROM pg_listening_channels()) AS channels, \
     (SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) AS locks, \
     (SELECT COUNT(*) FROM pg_settings WHERE source = 'session' AND lower(name) NOT IN ('application_name', \
       'client_encoding', 'datestyle', 'timezone', 'standard_conforming_strings')) AS settings";

/// A running pooler; it ends with its owner.
#[derive(Debug)]
pub struct Pooler {
    child: Mutex<Child>,
    folder: TempDir,
}

impl Pooler {
    /// The program; `None` when it is not there, which is noted as the test's reason to end.
    #[must_use]
    pub fn find(test: &str) -> Option<PathBuf> {
        let named = std::env::var_os(PROGRAM).map(PathBuf::from);
        let on_path = std::env::var_os("PATH").into_iter().flat_map(|path| {
            let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
            folders
        });
        let usual = on_path
            .chain([PathBuf::from("/usr/sbin")])
            .map(|folder| folder.join("pgbouncer"));
        let found = named.into_iter().chain(usual).find(|program| program.is_file());
        if found.is_none() {
            skip(test, "the pooler of postgres (pgbouncer)", PROGRAM);
        }
        found
    }

    /// Starts one before the server of a database.
    pub async fn start(program: &Path, postgres: &Postgres) -> Self {
        let folder = TempDir::new().expect("a temporary directory can be made");
        let account = Account::find();
        write_configuration(folder.path(), postgres);
        for path in ["", "pgbouncer.ini", "users.txt"] {
            account.own(&folder.path().join(path));
        }
        let log = File::create(folder.path().join("log")).expect("a file can be made");
        let mut command = account.command(program);
        command
            .arg("pgbouncer.ini")
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a file can be shared"))
            .stderr(log);
        let child = command.spawn().expect("the pooler starts");
        let pooler = Self {
            child: Mutex::new(child),
            folder,
        };
        pooler.wait_until_ready().await;
        pooler
    }

    /// A database through the pooler.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        let folder = self.folder.path().display();
        format!("postgres://postgres@localhost/{database}?host={folder}&port={SOCKET_NUMBER}")
    }

    /// Ends it at once.
    pub fn stop(&self) {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        // It may have ended by itself.
        let _killed = child.kill();
        let _reaped = child.wait();
    }

    /// Fails if anything outlives a transaction on one of the server connections.
    pub async fn check(&self, database: &str) {
        let options = PgConnectOptions::from_str(&self.url(database))
            .expect("it is a URL")
            .extra_float_digits(None);
        let mut clients = Vec::new();
        // A transaction of each keeps its server connection from the next, so that all of them are seen.
        for _ in 0..POOL_SIZE {
            let mut client = PgConnection::connect_with(&options).await.expect("it answers");
            sqlx::raw_sql("BEGIN")
                .execute(&mut client)
                .await
                .expect("it begins");
            clients.push(client);
        }
        for client in &mut clients {
            let row = sqlx::raw_sql(LEFT_BEHIND)
                .fetch_one(client)
                .await
                .expect("it answers");
            for what in ["statements", "channels", "locks", "settings"] {
                let count: i64 = row.try_get(what).expect("it counts");
                assert_eq!(count, 0, "{what} outlive a transaction");
            }
        }
        for client in clients {
            client.close().await.expect("it says good-bye");
        }
    }

    async fn wait_until_ready(&self) {
        let socket = self.folder.path().join(format!(".s.PGSQL.{SOCKET_NUMBER}"));
        let started = Instant::now();
        while UnixStream::connect(&socket).is_err() {
            let ended = self
                .child
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .try_wait();
            let log = || fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            assert!(
                matches!(ended, Ok(None)),
                "the pooler ended at its start:\n{}",
                log()
            );
            assert!(
                started.elapsed() < START_LIMIT,
                "the pooler does not start:\n{}",
                log()
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        self.stop();
    }
}

fn write_configuration(folder: &Path, postgres: &Postgres) {
    let options = postgres.options();
    let password = postgres.password();
    let server = match options.get_socket() {
        Some(socket) => socket.display().to_string(),
        None => options.get_host().to_owned(),
    };
    let configuration = format!(
        "[databases]\n* = host={server} port={} user={user} password={password}\n\
         [pgbouncer]\nunix_socket_dir = {}\nlisten_port = {SOCKET_NUMBER}\nauth_type = trust\n\
         auth_file = users.txt\npool_mode = transaction\ndefault_pool_size = {POOL_SIZE}\n\
         max_client_conn = 500\n",
        options.get_port(),
        folder.display(),
        user = options.get_username(),
    );
    let users = "\"postgres\" \"\"\n";
    fs::write(folder.join("pgbouncer.ini"), configuration).expect("a file can be written");
    fs::write(folder.join("users.txt"), users).expect("a file can be written");
}
