//! Grouped writes on SQLite, over sqlx and over a rusqlite thread: 64 members a transaction, each in its own
//! savepoint with six statements, as a registration has them. Prints operations a second, the median of
//! five runs, with `synchronous=FULL` (what a user gets) and OFF (what the driver costs).
//!
//! `cargo run --release --manifest-path tests/bench/sqlite-writer/Cargo.toml`

use std::time::{Duration, Instant};

use sqlx::Connection as _;
use sqlx::sqlite::SqliteConnectOptions;

const MEMBERS: i64 = 64;
const GROUPS: i64 = 50;
const RUNS: usize = 5;

const SCHEMA: &str = "CREATE TABLE head (one INTEGER PRIMARY KEY, head INTEGER NOT NULL) STRICT;
    INSERT INTO head VALUES (1, 0);
    CREATE TABLE change (position INTEGER PRIMARY KEY, id TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
    CREATE TABLE workspace (id TEXT PRIMARY KEY, root TEXT NOT NULL UNIQUE, name TEXT NOT NULL UNIQUE) STRICT;";

const BY_ROOT: &str = "SELECT id FROM workspace WHERE root = $1";
const BY_NAME: &str = "SELECT id FROM workspace WHERE name = $1";
const INSERT: &str = "INSERT INTO workspace (id, root, name) VALUES ($1, $2, $3)";
const HEAD: &str = "UPDATE head SET head = head + 1 WHERE one = 1";
const CHANGE: &str = "INSERT INTO change (position, id, at) SELECT head, $1, $2 FROM head WHERE one = 1";
const READ_BACK: &str = "SELECT name FROM workspace WHERE id = $1";

#[tokio::main]
async fn main() {
    println!("| synchronous | sqlx, operations/s | rusqlite thread, operations/s | ratio |");
    println!("| --- | --- | --- | --- |");
    for synchronous in ["FULL", "OFF"] {
        let mut rates = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            rates.0.push(rate(over_sqlx(synchronous).await));
            rates.1.push(rate(over_rusqlite(synchronous).await));
        }
        let (sqlx, rusqlite) = (median(rates.0), median(rates.1));
        println!("| {synchronous} | {sqlx:.0} | {rusqlite:.0} | {:.1} |", rusqlite / sqlx);
    }
}

async fn over_sqlx(synchronous: &'static str) -> Duration {
    let folder = tempfile::tempdir().expect("a folder");
    let options = SqliteConnectOptions::new().filename(folder.path().join("catalog.db")).create_if_missing(true);
    let options = options.pragma("journal_mode", "WAL").pragma("synchronous", synchronous);
    let mut connection = sqlx::SqliteConnection::connect_with(&options).await.expect("a database");
    sqlx::raw_sql(SCHEMA).execute(&mut connection).await.expect("the schema");
    let begun = Instant::now();
    for group in 0..GROUPS {
        run(&mut connection, "BEGIN IMMEDIATE").await;
        for member in 0..MEMBERS {
            let (id, root, name) = texts(group, member);
            run(&mut connection, "SAVEPOINT member").await;
            sqlx::query(BY_ROOT).bind(&root).fetch_optional(&mut connection).await.expect(BY_ROOT);
            sqlx::query(BY_NAME).bind(&name).fetch_optional(&mut connection).await.expect(BY_NAME);
            let insert = sqlx::query(INSERT).bind(&id).bind(&root).bind(&name);
            insert.execute(&mut connection).await.expect(INSERT);
            run(&mut connection, HEAD).await;
            sqlx::query(CHANGE).bind(&id).bind(member).execute(&mut connection).await.expect(CHANGE);
            sqlx::query(READ_BACK).bind(&id).fetch_optional(&mut connection).await.expect(READ_BACK);
            run(&mut connection, "RELEASE member").await;
        }
        run(&mut connection, "COMMIT").await;
    }
    begun.elapsed()
}

async fn run(connection: &mut sqlx::SqliteConnection, sql: &'static str) {
    sqlx::query(sql).execute(connection).await.expect(sql);
}

async fn over_rusqlite(synchronous: &'static str) -> Duration {
    let work = move || {
        let folder = tempfile::tempdir().expect("a folder");
        let connection = rusqlite::Connection::open(folder.path().join("catalog.db")).expect("a database");
        connection.pragma_update(None, "journal_mode", "WAL").expect("WAL");
        connection.pragma_update(None, "synchronous", synchronous).expect("synchronous");
        connection.execute_batch(SCHEMA).expect("the schema");
        let begun = Instant::now();
        for group in 0..GROUPS {
            connection.execute_batch("BEGIN IMMEDIATE").expect("BEGIN");
            for member in 0..MEMBERS {
                let (id, root, name) = texts(group, member);
                connection.execute_batch("SAVEPOINT member").expect("SAVEPOINT");
                find(&connection, BY_ROOT, &root);
                find(&connection, BY_NAME, &name);
                change(&connection, INSERT, rusqlite::params![id, root, name]);
                change(&connection, HEAD, []);
                change(&connection, CHANGE, rusqlite::params![id, member]);
                find(&connection, READ_BACK, &id);
                connection.execute_batch("RELEASE member").expect("RELEASE");
            }
            connection.execute_batch("COMMIT").expect("COMMIT");
        }
        begun.elapsed()
    };
    tokio::task::spawn_blocking(work).await.expect("the thread")
}

fn find(connection: &rusqlite::Connection, sql: &str, key: &str) {
    let mut statement = connection.prepare_cached(sql).expect(sql);
    statement.exists([key]).expect(sql);
}

fn change(connection: &rusqlite::Connection, sql: &str, binds: impl rusqlite::Params) {
    connection.prepare_cached(sql).expect(sql).execute(binds).expect(sql);
}

fn texts(group: i64, member: i64) -> (String, String, String) {
    let number = group * MEMBERS + member;
    (format!("ws_{number:016x}"), format!("/home/user/projects/number-{number}"), format!("number-{number}"))
}

fn rate(elapsed: Duration) -> f64 {
    (MEMBERS * GROUPS) as f64 / elapsed.as_secs_f64()
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}
