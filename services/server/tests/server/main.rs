//! The server's frame over real connections: a server in this process, or the real binary, on a home of its own.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    unreachable_pub
)]

mod bare;
mod binary;
mod callers;
mod calls;
mod connections;
mod ending;
mod files;
mod health;
mod namespace;
mod process;
mod reflection;
mod running;
mod script;
mod telemetry;
mod tls;
mod traces;
