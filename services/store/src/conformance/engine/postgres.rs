//! Postgres: a database for each test, on a server that the environment names.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::str::FromStr as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use super::Engine;
use crate::open::StoreAddress;

/// A superuser's URL.
const URL: &str = "COMPOZY_TEST_POSTGRES_URL";
/// The folder with the programs of Postgres.
const PROGRAMS: &str = "COMPOZY_TEST_POSTGRES_BIN";
/// A file for the names of tests that ended early.
const SKIPPED: &str = "COMPOZY_TEST_SKIPPED";

static DATABASES: AtomicU32 = AtomicU32::new(0);
static SKIPPED_TESTS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// A database of its own.
#[derive(Debug)]
pub struct Postgres {
    server: PgConnectOptions,
    database: String,
    url: String,
}

impl Postgres {
    /// The URL of the database.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The password of the URL; empty if it has none.
    #[must_use]
    pub fn password(&self) -> String {
        let (_, rest) = self.url.split_once("//").unwrap_or_default();
        let (user, _) = rest.split_once('@').unwrap_or_default();
        user.split_once(':')
            .map_or("", |(_, password)| password)
            .to_owned()
    }

    /// The name of the database.
    #[must_use]
    pub fn database(&self) -> &str {
        &self.database
    }

    /// How to connect to the database.
    #[must_use]
    pub fn options(&self) -> PgConnectOptions {
        self.server.clone().database(&self.database)
    }

    /// Connections of a test's own, which say so to the server.
    pub async fn connections(&self) -> PgPool {
        PgPoolOptions::new()
            .max_connections(8)
            .acquire_timeout(Duration::from_secs(20))
            .connect_with(self.options().application_name("test"))
            .await
            .expect("the test's database is there")
    }
}

#[async_trait]
impl Engine for Postgres {
    const MOVES: usize = 600;
    const ENTRIES: u64 = 2_000_000;

    async fn begin(test: &str) -> Option<Self> {
        let Some(url) = std::env::var(URL).ok().filter(|url| !url.trim().is_empty()) else {
            skip(test, "postgres", URL);
            return None;
        };
        let server = PgConnectOptions::from_str(&url).expect("the environment names a Postgres URL");
        let number = DATABASES.fetch_add(1, Ordering::Relaxed);
        let database = format!("compozy_test_{}_{number}", std::process::id());
        let url = with_database(&url, &database);
        let engine = Self {
            server,
            database,
            url,
        };
        engine.create().await;
        Some(engine)
    }

    fn address(&self) -> StoreAddress {
        StoreAddress::Postgres {
            url: self.url.clone(),
            pooler: false,
        }
    }

    async fn end(&self) {
        self.drop_database(&mut self.administrator().await).await;
    }
}

impl Postgres {
    async fn administrator(&self) -> PgConnection {
        PgConnection::connect_with(&self.server)
            .await
            .expect("the Postgres that the environment names is there")
    }

    /// Makes the database, with an order of texts that differs from that of their bytes where the server
    /// offers one: the catalog must not depend on it.
    async fn create(&self) {
        let mut connection = self.administrator().await;
        self.drop_database(&mut connection).await;
        let database = &self.database;
        let foreign =
            format!("CREATE DATABASE {database} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'");
        let plain = format!("CREATE DATABASE {database}");
        if let Err(_unknown) = sqlx::query(AssertSqlSafe(foreign)).execute(&mut connection).await {
            sqlx::query(AssertSqlSafe(plain))
                .execute(&mut connection)
                .await
                .expect("a superuser can make a database");
        }
    }

    async fn drop_database(&self, connection: &mut PgConnection) {
        let sql = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.database);
        sqlx::query(AssertSqlSafe(sql))
            .execute(connection)
            .await
            .expect("a superuser can drop a database");
    }
}

/// The folder with `initdb`, `postgres`, `pg_dump` and the rest, for a test that has servers of its own; `None` when
/// it is not known, which is noted as the test's reason to end.
#[must_use]
pub fn postgres_programs(test: &str) -> Option<PathBuf> {
    let named = std::env::var_os(PROGRAMS).map(PathBuf::from);
    let found = named.filter(|folder| folder.join("initdb").is_file());
    if found.is_none() {
        skip(test, "the folder of postgres' programs", PROGRAMS);
    }
    found
}

/// Notes, once for each test, that it ends early. Not so in CI, where nothing may be left out.
pub(super) fn skip(test: &str, what: &str, variable: &str) {
    assert!(
        std::env::var_os("CI").is_none(),
        "{test} needs {what}, and in CI it must be there: set {variable}"
    );
    if !SKIPPED_TESTS.lock().unwrap().insert(test.to_owned()) {
        return;
    }
    let Some(path) = std::env::var_os(SKIPPED) else {
        eprintln!("{test}: {what} is not there");
        return;
    };
    use std::io::Write as _;
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .expect("the file for skipped tests can be written");
    writeln!(file, "{test}: {what} is not there").expect("the file for skipped tests can be written");
}

/// The URL with another database. The path is what stands between the first slash behind `//` and a `?`.
fn with_database(url: &str, database: &str) -> String {
    let (address, parameters) = url.split_once('?').map_or((url, None), |(a, p)| (a, Some(p)));
    let host_start = address.find("//").map_or(0, |at| at + 2);
    let host_end = address[host_start..]
        .find('/')
        .map_or(address.len(), |at| host_start + at);
    let parameters = parameters.map(|text| format!("?{text}")).unwrap_or_default();
    format!("{}/{database}{parameters}", &address[..host_end])
}

#[cfg(test)]
mod tests {
    use super::with_database;

    #[test]
    fn a_url_gets_another_database() {
        assert_eq!(
            with_database("postgres://u:p@h:1/a?x=y", "b"),
            "postgres://u:p@h:1/b?x=y"
        );
        assert_eq!(with_database("postgres://h", "b"), "postgres://h/b");
    }
}
