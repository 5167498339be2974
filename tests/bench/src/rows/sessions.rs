//! The session catalog: one session, counted pages and texts in small and big catalogs, changes of state, heartbeats,
//! the start on a million.

use std::time::{Duration, Instant};

use futures::future::join_all;
use prost::Message as _;

use super::{Plan, SMALL, echo_floor};
use crate::catalog_sessions::{biggest_workspace, session_id};
use crate::child::measure_statements;
use crate::cpu::resident_bytes;
use crate::load;
use crate::measured::{Measured, Row};
use crate::server::{Engines, Server};
use crate::wire_sessions::SessionWire;

const IN_FLIGHT: usize = 16;
const LIMIT: i32 = 50;
/// Bytes of a request that names an id, or a workspace.
const REQUEST_LENGTH: usize = 24;
const BIG: usize = 1_000_000;
/// Texts, and how many of the names of a million hold each: `session number 1234...`.
const TEXTS: [(&str, usize); 4] = [
    ("number 1234", 111),
    ("number 123", 1_111),
    ("number 12", 11_111),
    ("number 1", 111_112),
];
/// Pages of 100 before page 1,000 of 50.
const PAGES_BEFORE: usize = 500;
const MANY: usize = 64;
const EACH: usize = 60;
const ALONE: usize = 600;
const CONNECTIONS: usize = 16;
const LEASES: usize = 1_000;

pub(super) async fn measure(plan: &Plan, engines: &Engines, engine: &'static str) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut small = Server::with_sessions(engines, engine, SMALL).await;
    small.start().await;
    let wire = small.connect_to_sessions().await;
    rows.push(one(plan, &small, &wire, engine).await);
    let length = wire
        .list(Some(&biggest_workspace()), "", LIMIT, "")
        .await
        .encoded_len();
    let echo = echo_floor(plan, 1, REQUEST_LENGTH, length).await.cpu_per_call;
    let echo_name = format!("echo of {length} bytes");
    let small_page = page(plan, &small, &wire, "").await;
    small.stop();
    drop(small);

    let mut big = Server::with_sessions(engines, engine, BIG).await;
    let mut starts = Vec::new();
    for _ in 0..5 {
        big.stop();
        starts.push(big.start().await);
    }
    starts.sort_unstable();
    let wire = big.connect_to_sessions().await;
    let big_page = page(plan, &big, &wire, "").await;
    let cursor = cursor_of_page_1000(&wire).await;
    let far = page(plan, &big, &wire, &cursor).await;
    rows.extend([
        Row::of_load(
            "ListSessions, 50 of one workspace, 1,000 sessions",
            engine,
            small_page,
        )
        .against_cpu(&echo_name, echo)
        .at_most(4.0),
        Row::of_load("the same, 1,000,000 sessions", engine, big_page)
            .against_cpu(&echo_name, echo)
            .at_most(4.0),
        Row::of_load("the same, against 1,000 sessions", engine, big_page)
            .against_cpu("of 1,000", small_page.cpu_per_call)
            .at_most(2.0),
        Row::of_load("page 1,000 of that walk", engine, far)
            .against_cpu("page 1", big_page.cpu_per_call)
            .at_most(1.2),
    ]);
    for (text, matches) in TEXTS {
        rows.push(query(plan, &big, &wire, engine, (text, matches)).await);
    }
    for callers in [1, MANY] {
        rows.push(stops(plan, engines, &big, engine, callers).await);
    }
    let memory = resident_bytes(big.pid()) as f64 / 1024.0 / 1024.0;
    rows.extend([
        Row::of_figure(
            "start to SERVING, 1,000,000 sessions",
            engine,
            starts[starts.len() / 2].as_secs_f64() * 1e3,
            "ms",
        )
        .figure_at_most(500.0),
        Row::of_figure(
            "resident memory, 1,000,000 sessions, after all this",
            engine,
            memory,
            "MiB",
        )
        .figure_at_most(80.0),
    ]);
    rows.push(heartbeats(plan, &big, &wire, engine).await);
    rows
}

/// GetSession, against an echo of the same size; on Postgres with the bare statement.
async fn one(plan: &Plan, server: &Server, wire: &SessionWire, engine: &'static str) -> Row {
    let length = wire.get(session_id(1)).await.encoded_len();
    let callers = (0..IN_FLIGHT).map(|caller| {
        let (wire, mut number) = (wire.clone(), caller);
        move || {
            number = number % SMALL + 1;
            let (wire, id) = (wire.clone(), session_id(number));
            async move {
                std::hint::black_box(wire.get(id).await);
            }
        }
    });
    let load = load::for_a_while(server.pid(), plan.span(), callers.collect()).await;
    let echo = echo_floor(plan, IN_FLIGHT, REQUEST_LENGTH, length).await;
    let row = Row::of_load("GetSession, 16 in flight", engine, load);
    if engine == "SQLite" {
        return row
            .against_cpu(format!("echo of {length} bytes"), echo.cpu_per_call)
            .at_most(2.0);
    }
    let url = server.environment.database().url();
    let statement = measure_statements("postgres-find-session", &url, IN_FLIGHT, plan.span());
    row.against_cpu(
        format!("echo of {length} bytes and the bare statement"),
        echo.cpu_per_call + statement.cpu_per_call,
    )
    .at_most(2.0)
}

async fn page(plan: &Plan, server: &Server, wire: &SessionWire, cursor: &str) -> Measured {
    let workspace = biggest_workspace();
    let caller = || async {
        let page = wire.list(Some(&workspace), "", LIMIT, cursor).await;
        assert_eq!(page.sessions.len(), usize::try_from(LIMIT).unwrap());
    };
    load::for_a_while(server.pid(), plan.span(), vec![caller]).await
}

async fn cursor_of_page_1000(wire: &SessionWire) -> String {
    let workspace = biggest_workspace();
    let mut cursor = String::new();
    for _ in 0..PAGES_BEFORE {
        let page = wire.list(Some(&workspace), "", 100, &cursor).await.page;
        cursor = page.unwrap().next_cursor.unwrap();
    }
    cursor
}

/// A page of a text, counted anew each time: its 99th percentile, or, with many matches, against the bare count.
async fn query(
    plan: &Plan,
    server: &Server,
    wire: &SessionWire,
    engine: &'static str,
    (text, matches): (&'static str, usize),
) -> Row {
    let caller = || async {
        let page = wire.list(None, text, LIMIT, "").await.page.unwrap();
        assert_eq!(usize::try_from(page.total).unwrap(), matches, "{text}");
    };
    let load = load::for_a_while(server.pid(), plan.span(), vec![caller]).await;
    let name = format!("text query, 1,000,000 sessions, {matches} matches");
    if matches <= 20_000 {
        return Row::of_figure(format!("{name}, p99"), engine, load.p99.as_secs_f64() * 1e3, "ms")
            .figure_at_most(50.0);
    }
    let bare = bare_count(server, engine, text).await;
    Row::of_figure(name, engine, load.median.as_secs_f64() * 1e3, "ms")
        .against_figure("the bare count by the scan", bare.as_secs_f64() * 1e3)
        .at_most(1.5)
}

/// The median of a few counts of the same matches, without a server around them.
async fn bare_count(server: &Server, engine: &'static str, text: &str) -> Duration {
    let mut times = Vec::new();
    if engine == "SQLite" {
        let store = crate::catalog::open(&server.environment);
        for _ in 0..5 {
            let begun = Instant::now();
            let sql = "SELECT COUNT(*) FROM session WHERE hidden = 0 AND instr(search, ?1) > 0";
            let _count: i64 = store.query_row(sql, [text], |row| row.get(0)).unwrap();
            times.push(begun.elapsed());
        }
    } else {
        let url = server.environment.database().url();
        let pool = sqlx::postgres::PgPool::connect(&url).await.unwrap();
        for _ in 0..5 {
            let begun = Instant::now();
            let sql = "SELECT COUNT(*) FROM session WHERE hidden = 0 AND strpos(search, $1) > 0";
            let _count: i64 = sqlx::query_scalar(sql).bind(text).fetch_one(&pool).await.unwrap();
            times.push(begun.elapsed());
        }
    }
    times.sort_unstable();
    times[times.len() / 2]
}

/// Stops of active sessions without a runtime, each answered when it is durable.
async fn stops(plan: &Plan, engines: &Engines, server: &Server, engine: &'static str, callers: usize) -> Row {
    let each = plan.count(if callers == 1 { ALONE } else { EACH });
    // Every tenth is active; the two loads take different ones.
    let first = if callers == 1 { 1 } else { 10_000 };
    let mut all = Vec::new();
    for caller in 0..callers {
        let wire = server.connect_to_sessions().await;
        let jobs = (0..each).map(|number| {
            let (wire, id) = (wire.clone(), session_id((first + caller * each + number) * 10));
            async move { wire.stop(id).await }
        });
        all.push(jobs.collect::<Vec<_>>());
    }
    let load = load::to_the_end(server.pid(), all).await;
    let who = if callers == 1 {
        "1 client".to_owned()
    } else {
        format!("{callers} clients")
    };
    let row = Row::of_load(format!("stop a session, {who}"), engine, load);
    if engine == "SQLite" {
        let floor = Server::with_sessions(engines, "SQLite", 10_000).await;
        let store = compozy_e2e::utf8(floor.environment.home.join("compozy.db"));
        let bare = measure_statements("sqlite-stop", &store, callers, plan.span());
        return row
            .against_rate(format!("bare statements, {callers} a transaction"), bare.rate())
            .at_least(0.6);
    }
    let floor = Server::with_rows(engines, "Postgres", 0).await;
    let connections = callers.min(CONNECTIONS);
    let url = floor.environment.database().url();
    let bare = measure_statements("postgres-insert", &url, connections, plan.span());
    row.against_rate(format!("bare insert, {connections} connections"), bare.rate())
        .at_least(0.5)
}

/// A batch of a thousand leases again and again.
async fn heartbeats(plan: &Plan, server: &Server, wire: &SessionWire, engine: &'static str) -> Row {
    let directory = server.environment.make("runtimes");
    let mut leases = Vec::new();
    while leases.len() < LEASES {
        let creating = (0..MANY).map(|_| wire.create(&directory, Some("bench")));
        leases.extend(join_all(creating).await.into_iter().flatten());
    }
    leases.truncate(LEASES);
    let caller = || wire.beat(&leases);
    let load = load::for_a_while(server.pid(), plan.span(), vec![caller]).await;
    let rate = load.rate() * LEASES as f64;
    let mut row = Row::of_figure("heartbeats, batches of 1,000", engine, rate, "sessions/s");
    row.goal = Some((">= 20000 sessions/s".to_owned(), rate >= 20_000.0));
    row
}
