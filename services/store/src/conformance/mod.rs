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
pub mod session_account_lists;
pub mod session_account_model;
pub mod session_accounts;
pub mod session_attach_lease;
pub mod session_badges;
pub mod session_bind;
pub mod session_change;
pub mod session_change_races;
pub mod session_change_resume;
pub mod session_clock;
mod session_copies;
pub mod session_counts;
pub mod session_counts_of_workspace;
pub mod session_create;
pub mod session_create_ids;
pub mod session_create_reopened;
pub mod session_create_shared;
pub mod session_delete;
pub mod session_examine;
pub mod session_filters;
pub mod session_finish;
mod session_fixture;
pub mod session_heartbeat;
mod session_leases_fixture;
pub mod session_list;
pub mod session_list_carried;
pub mod session_list_model;
pub mod session_list_plans;
mod session_list_planted;
mod session_list_random;
pub mod session_moves;
pub mod session_outage;
pub mod session_query;
pub mod session_query_reopened;
pub mod session_reads;
pub mod session_removal;
pub mod session_reopened;
pub mod session_replicas;
pub mod session_restarts;
pub mod session_sorts;
pub mod session_sweep;
pub mod session_walks;
pub mod shared;
pub mod trim;
pub mod update;
pub mod visibility;

pub use engine::{
    Account, Engine, POOL_SIZE, PooledPostgres, Pooler, Postgres, SqliteFile, SqliteMemory,
    postgres_programs, run, run_unopened,
};
pub use fixture::{BINARY, Catalog, HOST, START, fresh, open, rejection};
pub use hooks::{HeldWriter, append_entries, execute, hold_writer, rows as raw_rows, set_catalog_clock};
pub use numbers::{Numbers, Seeded};
pub use requests::Request;
pub use session_fixture::{STALE_AFTER, TTL, new_in, new_lease, new_lease_of, session_id, ungrouped};
