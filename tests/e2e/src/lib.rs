//! What the tests of the shipped binaries share: a home of their own, the daemon and the command line as
//! processes, a fresh database. Everything that a test starts or makes ends with it, also when it fails.
//!
//! The binaries are those beside the test binary; `cargo xtask test` builds them first.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a harness of tests: what goes wrong here ends the test, and its output is the test's"
)]

mod command;
mod daemon;
mod database;
mod draw;
mod environment;
mod mounts;
mod place;
mod requests;
mod server;
mod skipped;
mod wait;

pub use command::{Done, Run};
pub use daemon::Daemon;
pub use database::Database;
pub use draw::Draw;
pub use environment::{Engine, Environment, program};
pub use mounts::{Mounted, private_mounts};
pub use place::{fingerprint, identity_path, mode, names, utf8};
pub use requests::{by_id, by_name, by_path, list_all, register, request_id};
pub use server::PostgresServer;
pub use skipped::skip;
pub use wait::{until, until_async};
