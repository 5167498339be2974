//! The server's frame over real connections: a server in this process, or the real binary, on a home of its own.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    unreachable_pub
)]

#[macro_use]
mod site;

mod bare;
mod binary;
mod callers;
mod calls;
mod commands;
mod connections;
mod daemon_end;
mod daemon_start;
mod draining;
mod ending;
mod epochs;
mod files;
mod health;
mod namespace;
mod numbering;
mod process;
mod proxy;
mod reflection;
mod running;
mod script;
mod sessions;
mod settings;
mod starting;
mod telemetry;
mod tls;
mod traces;
mod watches;
