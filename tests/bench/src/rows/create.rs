//! Durable registrations: of directories that carry an identity (one write), and of new ones (an intent, the file,
//! the write), with one caller and with 64.

use std::fs;

use compozy_e2e::identity_path;

use super::{BIG, Plan};
use crate::child::measure_statements;
use crate::load;
use crate::measured::{Measured, Row};
use crate::server::{Engines, Server};

const MANY: usize = 64;
/// Registrations of each of 64 callers, and of one alone.
const EACH: usize = 60;
const ALONE: usize = 600;
/// In a big catalog, where one registration may take a while.
const FEW: usize = 100;
/// Connections of the bare insert.
const CONNECTIONS: usize = 16;

pub(super) async fn measure(plan: &Plan, engines: &Engines, engine: &'static str) -> Vec<Row> {
    let mut rows = Vec::new();
    for (callers, each) in [(1, plan.count(ALONE)), (MANY, plan.count(EACH))] {
        for with_identity in [true, false] {
            let load = load_of(engines, engine, 0, callers, each, with_identity).await;
            let what = if with_identity { "with an identity" } else { "new" };
            let who = if callers == 1 {
                "1 client".to_owned()
            } else {
                format!("{callers} clients")
            };
            let row = Row::of_load(format!("register a directory {what}, {who}"), engine, load);
            rows.push(if engine == "SQLite" {
                against_sqlite(plan, engines, row, callers, with_identity).await
            } else {
                against_postgres(plan, engines, row, callers).await
            });
        }
    }
    let (small, big) = (
        load_of(engines, engine, 0, 1, FEW, true).await,
        load_of(engines, engine, BIG, 1, FEW, true).await,
    );
    let row = Row::of_load("the first of these at 100,000 workspaces", engine, big);
    rows.push(
        row.against_cpu("in an empty catalog", small.cpu_per_call)
            .at_most(2.0),
    );
    rows
}

async fn load_of(
    engines: &Engines,
    engine: &'static str,
    catalog: usize,
    callers: usize,
    each: usize,
    with_identity: bool,
) -> Measured {
    let mut server = Server::with_rows(engines, engine, catalog).await;
    server.start().await;
    let mut all = Vec::new();
    for caller in 0..callers {
        let wire = server.connect().await;
        let mut jobs = Vec::new();
        for number in 0..each {
            let root = server
                .environment
                .make(&format!("c{caller}/project-{caller}-{number}"));
            if with_identity {
                write_identity(&root, caller * each + number);
            }
            let wire = wire.clone();
            jobs.push(async move {
                assert!(wire.register(root).await.created);
            });
        }
        all.push(jobs);
    }
    load::to_the_end(server.pid(), all).await
}

fn write_identity(root: &std::path::Path, number: usize) {
    let file = identity_path(root);
    fs::create_dir(file.parent().unwrap()).unwrap();
    let text = format!(
        "workspace_id = \"01HXJ9YR4S{number:016}\"\ncreated_at = \"2026-05-04T14:30:00Z\"\n\
         realpath_at_creation = \"/elsewhere\"\n"
    );
    fs::write(file, text).unwrap();
}

/// The very statements of the registration, bare, in transactions of as many as there are callers.
async fn against_sqlite(
    plan: &Plan,
    engines: &Engines,
    row: Row,
    callers: usize,
    with_identity: bool,
) -> Row {
    let server = Server::with_rows(engines, "SQLite", 0).await;
    let kind = if with_identity {
        "sqlite-adopt"
    } else {
        "sqlite-fresh"
    };
    let store = compozy_e2e::utf8(server.environment.home.join("compozy.db"));
    let floor = measure_statements(kind, &store, callers, plan.span());
    row.against_rate(format!("bare statements, {callers} a transaction"), floor.rate())
        .at_least(0.6)
}

async fn against_postgres(plan: &Plan, engines: &Engines, row: Row, callers: usize) -> Row {
    let server = Server::with_rows(engines, "Postgres", 0).await;
    let connections = callers.min(CONNECTIONS);
    let url = server.environment.database().url();
    let floor = measure_statements("postgres-insert", &url, connections, plan.span());
    row.against_rate(format!("bare insert, {connections} connections"), floor.rate())
        .at_least(0.5)
}
