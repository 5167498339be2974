//! GetWorkspace by id over TCP, 16 in flight, against an echo of the same size; on Postgres with the bare statement.

use prost::Message as _;

use super::{Plan, SMALL, echo_floor};
use crate::child::measure_statements;
use crate::load;
use crate::measured::Row;
use crate::server::{Engines, Server};

const IN_FLIGHT: usize = 16;
/// Bytes of a request that names an id.
const REQUEST_LENGTH: usize = 24;

pub(super) async fn measure(plan: &Plan, engines: &Engines, engine: &'static str) -> Vec<Row> {
    let mut server = Server::with_rows(engines, engine, SMALL).await;
    server.start().await;
    let wire = server.connect().await;
    let length = wire.get("ws_0000000000000001").await.encoded_len();
    let callers = (0..IN_FLIGHT).map(|caller| {
        let (wire, mut number) = (wire.clone(), caller);
        move || {
            number = number % SMALL + 1;
            let (wire, id) = (wire.clone(), format!("ws_{number:016x}"));
            async move {
                std::hint::black_box(wire.get(&id).await);
            }
        }
    });
    let load = load::for_a_while(server.pid(), plan.span(), callers.collect()).await;
    server.stop();
    let echo = echo_floor(plan, IN_FLIGHT, REQUEST_LENGTH, length).await;
    let row = Row::of_load("GetWorkspace, 16 in flight", engine, load);
    if engine == "SQLite" {
        return vec![
            row.against_cpu(format!("echo of {length} bytes"), echo.cpu_per_call)
                .at_most(2.0),
        ];
    }
    let url = server.environment.database().url();
    let statement = measure_statements("postgres-find", &url, IN_FLIGHT, plan.span());
    let floor = echo.cpu_per_call + statement.cpu_per_call;
    vec![
        row.against_cpu(format!("echo of {length} bytes and the bare statement"), floor)
            .at_most(2.0),
    ]
}
