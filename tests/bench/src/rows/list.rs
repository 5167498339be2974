//! A counted page of 50, in a small catalog and in a big one, and far into a walk.

use prost::Message as _;

use super::{BIG, Plan, SMALL, echo_floor};
use crate::load;
use crate::measured::{Measured, Row};
use crate::server::{Engines, Server};
use crate::wire::Wire;

const LIMIT: i32 = 50;
/// Pages of 100 before page 1,000 of 50.
const PAGES_BEFORE: usize = 500;
/// Bytes of a request that names a limit.
const REQUEST_LENGTH: usize = 4;

pub(super) async fn measure(plan: &Plan, engines: &Engines, engine: &'static str) -> Vec<Row> {
    let mut server = Server::with_rows(engines, engine, SMALL).await;
    server.start().await;
    let wire = server.connect().await;
    let length = wire.list(LIMIT, "").await.encoded_len();
    let small = load_of(plan, &server, &wire, "").await;
    server.stop();
    let mut server = Server::with_rows(engines, engine, BIG).await;
    server.start().await;
    let wire = server.connect().await;
    let big = load_of(plan, &server, &wire, "").await;
    let cursor = cursor_of_page_1000(&wire).await;
    let far = load_of(plan, &server, &wire, &cursor).await;
    server.stop();
    let echo = echo_floor(plan, 1, REQUEST_LENGTH, length).await.cpu_per_call;
    let echo_name = format!("echo of {length} bytes");
    vec![
        Row::of_load("ListWorkspaces, 50 of 1,000", engine, small)
            .against_cpu(&echo_name, echo)
            .at_most(4.0),
        Row::of_load("ListWorkspaces, 50 of 100,000", engine, big)
            .against_cpu(&echo_name, echo)
            .at_most(4.0),
        Row::of_load("the same, against the small catalog", engine, big)
            .against_cpu("of 1,000", small.cpu_per_call)
            .at_most(2.0),
        Row::of_load("page 1,000 of 100,000", engine, far)
            .against_cpu("page 1", big.cpu_per_call)
            .at_most(1.2),
    ]
}

async fn load_of(plan: &Plan, server: &Server, wire: &Wire, cursor: &str) -> Measured {
    let caller = || async {
        let page = wire.list(LIMIT, cursor).await;
        assert_eq!(page.workspaces.len(), usize::try_from(LIMIT).unwrap());
    };
    load::for_a_while(server.pid(), plan.span(), vec![caller]).await
}

async fn cursor_of_page_1000(wire: &Wire) -> String {
    let mut cursor = String::new();
    for _ in 0..PAGES_BEFORE {
        cursor = wire.list(100, &cursor).await.page.unwrap().next_cursor.unwrap();
    }
    cursor
}
