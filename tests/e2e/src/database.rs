//! A fresh Postgres database for one test, on the server that `COMPOZY_TEST_POSTGRES_URL` names.

use std::future::Future;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

use crate::skipped::skip_postgres;

/// A superuser's URL of a server for tests.
const URL: &str = "COMPOZY_TEST_POSTGRES_URL";

/// A database that is dropped with this value, whoever is still connected.
#[derive(Debug)]
pub struct Database {
    server: String,
    name: String,
}

impl Database {
    /// Makes one; `None`, said aloud, where no server is.
    pub fn fresh(test: &str) -> Option<Self> {
        let Some(server) = std::env::var(URL).ok().filter(|url| !url.trim().is_empty()) else {
            skip_postgres(test);
            return None;
        };
        Some(Self::on(&server))
    }

    /// Makes one on this server.
    pub fn on(server: &str) -> Self {
        let name = format!("compozy_e2e_{:016x}", getrandom::u64().unwrap());
        execute(server, &format!("CREATE DATABASE {name}"));
        Self {
            server: server.to_owned(),
            name,
        }
    }

    /// Its URL, password included.
    pub fn url(&self) -> String {
        let (server, _) = self.server.rsplit_once('/').unwrap();
        format!("{server}/{}", self.name)
    }

    /// Runs one statement in it, as its superuser.
    pub fn execute(&self, sql: &str) {
        execute(&self.url(), sql);
    }

    /// Runs one statement in it that may fail.
    ///
    /// # Errors
    /// What the server answers, or that it does not.
    pub fn try_execute(&self, sql: &str) -> Result<(), sqlx::Error> {
        try_execute(&self.url(), sql)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let sql = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        // Its server may have been stopped by the test; then the database went with it.
        let _ = try_execute(&self.server, &sql);
    }
}

fn execute(url: &str, sql: &str) {
    try_execute(url, sql).unwrap();
}

/// On a thread and a runtime of its own, so that it can be called from anywhere, `drop` included.
fn try_execute(url: &str, sql: &str) -> Result<(), sqlx::Error> {
    let work = async {
        let options: PgConnectOptions = url.parse()?;
        let mut connection: PgConnection = options.disable_statement_logging().connect().await?;
        sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))
            .execute(&mut connection)
            .await?;
        connection.close().await
    };
    std::thread::scope(|scope| scope.spawn(|| block_on(work)).join().unwrap())
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(work)
}
