//! Floors that are statements: what the drivers and the engines do without a server around them.

use std::path::Path;
use std::time::{Duration, Instant};

use futures::future::join_all;
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use sqlx::postgres::{PgPool, PgPoolOptions};

use crate::catalog;
use crate::cpu::Busy;
use crate::measured::Measured;

/// The statement of GetWorkspace, as the store has it.
const FIND: &str = "SELECT h.epoch, h.head, w.id IS NOT NULL, w.id, w.durable_id, w.host_id, w.root_dir, w.root_device, \
    w.root_inode, w.additional_dirs, w.name, w.name_key, w.title, w.default_agent, w.is_default, w.rank, w.version, \
    w.state_number, w.created_at, w.updated_at, (SELECT string_agg(o.id, ',') FROM workspace o WHERE \
    o.durable_id = w.durable_id AND o.id <> w.id) FROM change_head h LEFT JOIN workspace w ON w.id = $1 WHERE h.one = 1";

/// The statement of GetSession, with every column.
const FIND_SESSION: &str = "SELECT h.epoch, h.head, catalog_now(), s.*, w.name, w.root_dir, l.* FROM change_head h \
    LEFT JOIN session s ON s.id = $1 LEFT JOIN workspace w ON w.id = s.workspace_id \
    LEFT JOIN session_live l ON l.session_id = s.id WHERE h.one = 1";

/// The statements of one registration on SQLite's writer, in their order, without what the group adds. `?1` is a
/// number that no row has yet.
const REGISTRATION: [&str; 10] = [
    "INSERT INTO request (principal, method, request_id, hash, created_at) \
     VALUES ('local', 'Register', printf('%032d', ?1), x'00', ?1) ON CONFLICT DO NOTHING",
    "SELECT epoch, head FROM change_head WHERE one = ?1 * 0 + 1",
    "SELECT id FROM workspace WHERE host_id = 'bench' AND root_dir = '/floor/' || ?1",
    "SELECT name_key FROM workspace WHERE name_key IN ('floor-' || ?1)",
    "UPDATE workspace_front SET number = number + 1 WHERE one = ?1 * 0 + 1 RETURNING number",
    catalog::INSERT_ONE,
    "UPDATE change_head SET head = head + 1 WHERE one = ?1 * 0 + 1",
    "INSERT INTO change (position, kind, op, reason, host_id, workspace_id, version, session_count, at) \
     SELECT head, 'workspace', 'upserted', 'created', 'bench', printf('ws_f%015x', ?1), 1, 0, ?1 \
     FROM change_head WHERE one = 1",
    "SELECT id, durable_id, root_dir, name, title, rank FROM workspace WHERE id = printf('ws_f%015x', ?1)",
    "UPDATE request SET answer = zeroblob(400) \
     WHERE principal = 'local' AND method = 'Register' AND request_id = printf('%032d', ?1)",
];
/// What a new identity file adds, of which the first runs in a transaction of its own.
const INTENT: [&str; 2] = [
    "INSERT INTO intent (id, kind, host_id, owner, lease_until, root_dir, content, makes_directory, previous, created_at) \
     VALUES (printf('%026d', ?1), 'create_identity', 'bench', 'floor', ?1, '/floor/' || ?1, zeroblob(32), 1, NULL, ?1)",
    "DELETE FROM intent WHERE id = printf('%026d', ?1)",
];

/// The statements of one stop on SQLite's writer, in their order, on one of ten thousand sessions.
const STOP: [&str; 9] = [
    "INSERT INTO request (principal, method, request_id, hash, created_at) \
     VALUES ('local', 'Stop', printf('%032d', ?1), x'00', ?1) ON CONFLICT DO NOTHING",
    "SELECT epoch, head FROM change_head WHERE one = ?1 * 0 + 1",
    "SELECT * FROM session WHERE id = printf('sess-%016x', 1 + ?1 % 10000)",
    "UPDATE session SET state = 'stopped', version = version + 1, updated_at = ?1 \
     WHERE id = printf('sess-%016x', 1 + ?1 % 10000)",
    "INSERT INTO session_count (scope, hidden, state, type, agent, count) \
     VALUES ('*', 0, 'active', 'user', 'a', ?1 * 0 - 1), ('*', 0, 'stopped', 'user', 'a', 1), \
     ('', 0, 'active', 'user', 'a', -1), ('', 0, 'stopped', 'user', 'a', 1) \
     ON CONFLICT (scope, hidden, state, type, agent) DO UPDATE SET count = count + excluded.count",
    "INSERT INTO session_transition (session_id, number, state, at, cause, by_whom) \
     VALUES (printf('sess-%016x', 1 + ?1 % 10000), 10 + ?1, 'stopped', ?1, 'completed', 'local')",
    "UPDATE change_head SET head = head + 1 WHERE one = ?1 * 0 + 1",
    "INSERT INTO change (position, kind, op, reason, host_id, session_id, version, session_count, at) \
     SELECT head, 'session', 'upserted', 'state', 'bench', printf('sess-%016x', 1 + ?1 % 10000), 1, 0, ?1 \
     FROM change_head WHERE one = 1",
    "UPDATE request SET answer = zeroblob(600) \
     WHERE principal = 'local' AND method = 'Stop' AND request_id = printf('%032d', ?1)",
];

/// Measures one kind of statement. `place` is a URL or a file, `workers` how many at once.
pub(crate) fn measure(kind: &str, place: &str, workers: usize, span: Duration) -> Measured {
    match kind {
        "sqlite-adopt" => on_sqlite(Path::new(place), workers, span, &[&REGISTRATION]),
        "sqlite-fresh" => {
            let end = [&REGISTRATION[..], &INTENT[1..]].concat();
            on_sqlite(Path::new(place), workers, span, &[&INTENT[..1], &end])
        }
        "sqlite-stop" => on_sqlite(Path::new(place), workers, span, &[&STOP]),
        "postgres-find" | "postgres-find-session" | "postgres-insert" => {
            // The daemon's kind of runtime; on one core it is one worker.
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(on_postgres(kind, place, workers, span))
        }
        _ => panic!("no such statements: {kind}"),
    }
}

/// Operations of one or more `steps`, each step of all `members` in one transaction, without savepoints, synced.
fn on_sqlite(file: &Path, members: usize, span: Duration, steps: &[&[&str]]) -> Measured {
    let connection = Connection::open(file).unwrap();
    // Without it the bundled SQLite plans a statement anew for every other value that is bound to it.
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    connection.pragma_update(None, "synchronous", "FULL").unwrap();
    let (begun, before) = (Instant::now(), Busy::of(std::process::id()));
    let (mut calls, mut number) = (Vec::new(), 0_i64);
    while begun.elapsed() < span {
        let started = Instant::now();
        let numbers = number..number + i64::try_from(members).unwrap();
        number = numbers.end;
        for statements in steps {
            in_one_transaction(&connection, numbers.clone(), statements);
        }
        calls.extend(std::iter::repeat_n(started.elapsed(), members));
    }
    Measured::of(
        calls,
        begun.elapsed(),
        Busy::of(std::process::id()).since(&before),
    )
}

fn in_one_transaction(connection: &Connection, numbers: std::ops::Range<i64>, statements: &[&str]) {
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    for number in numbers {
        for sql in statements {
            let mut statement = connection.prepare_cached(sql).unwrap();
            let mut rows = statement.query([number]).unwrap();
            while rows.next().unwrap().is_some() {}
        }
    }
    connection.execute_batch("COMMIT").unwrap();
}

async fn on_postgres(kind: &str, url: &str, workers: usize, span: Duration) -> Measured {
    let connections = u32::try_from(workers).unwrap();
    // Without the look at a connection before each use, which would be a round trip of its own.
    let pool = PgPoolOptions::new()
        .min_connections(connections)
        .max_connections(connections)
        .test_before_acquire(false)
        .connect(url)
        .await
        .unwrap();
    let of_sessions = kind == "postgres-find-session";
    let ids = if of_sessions {
        "SELECT id FROM session"
    } else {
        "SELECT id FROM workspace"
    };
    let ids: Vec<String> = sqlx::query_scalar(ids).fetch_all(&pool).await.unwrap();
    let (begun, before) = (Instant::now(), Busy::of(std::process::id()));
    let loops = (0..workers).map(|worker| {
        let (pool, ids) = (&pool, &ids);
        async move {
            let (mut calls, mut number) = (Vec::new(), worker);
            while begun.elapsed() < span {
                let started = Instant::now();
                match kind {
                    "postgres-find" => find(pool, FIND, &ids[number % ids.len()]).await,
                    "postgres-find-session" => find(pool, FIND_SESSION, &ids[number % ids.len()]).await,
                    _ => insert(pool, number).await,
                }
                calls.push(started.elapsed());
                number += workers;
            }
            calls
        }
    });
    let calls = join_all(loops).await.concat();
    Measured::of(
        calls,
        begun.elapsed(),
        Busy::of(std::process::id()).since(&before),
    )
}

async fn find(pool: &PgPool, sql: &'static str, id: &str) {
    let row = sqlx::query(sql).bind(id).fetch_one(pool).await.unwrap();
    std::hint::black_box(row);
}

async fn insert(pool: &PgPool, number: usize) {
    let number = i64::try_from(number).unwrap();
    sqlx::query(catalog::INSERT_ONE_POSTGRES)
        .bind(number)
        .execute(pool)
        .await
        .unwrap();
}
