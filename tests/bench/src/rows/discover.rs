//! Which workspace owns a directory six levels below its root: the cost must not grow with the catalog.

use compozy_e2e::utf8;

use super::{BIG, Plan};
use crate::load;
use crate::measured::{Measured, Row};
use crate::server::{Engines, Server};

const FEW: usize = 10;

pub(super) async fn measure(plan: &Plan, engines: &Engines, engine: &'static str) -> Vec<Row> {
    let few = load_of(plan, engines, engine, FEW).await;
    let many = load_of(plan, engines, engine, BIG).await;
    vec![
        Row::of_load("DiscoverWorkspace at 10", engine, few),
        Row::of_load("DiscoverWorkspace at 100,000", engine, many)
            .against_cpu("at 10", few.cpu_per_call)
            .at_most(2.0),
    ]
}

async fn load_of(plan: &Plan, engines: &Engines, engine: &'static str, count: usize) -> Measured {
    // One of them really exists.
    let mut server = Server::with_rows(engines, engine, count - 1).await;
    server.start().await;
    let wire = server.connect().await;
    wire.register(server.environment.make("a")).await;
    let deep = utf8(server.environment.make("a/1/2/3/4/5/6"));
    let caller = || async {
        let found = wire.discover(deep.clone()).await;
        assert!(found.workspace.is_some());
    };
    load::for_a_while(server.pid(), plan.span(), vec![caller]).await
}
