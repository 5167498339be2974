//! The suite that every engine has to pass. Each promise of a store trait is a function over a fresh
//! [`Catalog`], one topic a file; [`conformance!`](crate::conformance!) stamps all of them for an engine.
//!
//! It is compiled with the feature `conformance` only, together with the hooks that a test needs and the
//! product must not have: statements of a test's own, a writer that is held, commits that fail.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "all of this is test code, outside of a tests folder so that other crates can stamp it too"
)]

mod engine;
mod fixture;
mod hooks;
mod numbers;
mod requests;
mod stamp;

pub mod catalog;
pub mod change_log;
pub mod concurrency;
pub mod counted;
pub mod failing_commits;
pub mod identity;
pub mod intents;
pub mod keyset;
pub mod list;
pub mod list_filters;
pub mod logged;
pub mod names;
pub mod observations;
pub mod observed_status;
pub mod order;
pub mod order_spread;
pub mod profile_pages;
pub mod profile_races;
pub mod profile_rows;
pub mod profile_selections;
pub mod profiles;
pub mod prune;
pub mod register;
pub mod relink;
pub mod remove;
pub mod reopened;
pub mod request_ids;
pub mod request_races;
pub mod rows;
pub mod shared;
pub mod trim;
pub mod update;
pub mod visibility;

pub use engine::{
    Account, Engine, POOL_SIZE, PooledPostgres, Pooler, Postgres, SqliteFile, SqliteMemory,
    postgres_programs, run, run_unopened,
};
pub use fixture::{BINARY, Catalog, HOST, START, fresh, open, rejection};
pub use hooks::{HeldWriter, append_entries, execute, hold_writer, rows as raw_rows};
pub use numbers::{Numbers, Seeded};
pub use requests::Request;
