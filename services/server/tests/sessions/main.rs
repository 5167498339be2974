//! Sessions as their callers see them: a real server and a generated client over the services, a real disk in temporary
//! directories, a store in memory and on Postgres. The world is that of the registry's cases, with the workspaces A and
//! B of the session cases in it where a case asks for them; time stands still on both engines until a case moves it.

#![allow(
    clippy::cloned_ref_to_slice_refs,
    clippy::large_futures,
    clippy::print_stderr,
    clippy::result_large_err,
    clippy::unwrap_used,
    reason = "cases are read, not run a million times"
)]

#[macro_use]
#[path = "../handed_on/mod.rs"]
mod handed_on;
#[macro_use]
#[path = "../registry/cases.rs"]
#[allow(unused_macros, reason = "shared with the registry's cases")]
mod cases;
#[path = "../registry/client.rs"]
#[allow(dead_code, reason = "shared with the registry's cases")]
mod client;
#[path = "../registry/daemon.rs"]
#[allow(dead_code, reason = "shared with the registry's cases")]
mod daemon;
#[path = "../registry/doubles.rs"]
#[allow(dead_code, reason = "shared with the registry's cases")]
mod doubles;
#[path = "../registry/requests.rs"]
#[allow(dead_code, reason = "shared with the registry's cases")]
mod requests;
#[path = "../registry/tree.rs"]
#[allow(dead_code, reason = "shared with the registry's cases")]
mod tree;
#[path = "../registry/watched_store.rs"]
#[allow(dead_code, reason = "shared with the registry's cases")]
mod watched_store;
#[path = "../registry/world.rs"]
#[allow(dead_code, reason = "shared with the registry's cases")]
mod world;

#[path = "../watch/watched_store.rs"]
#[allow(dead_code, reason = "shared with the cases of watches")]
mod away_store;

#[allow(dead_code, reason = "each topic takes what it needs")]
mod asked;
#[allow(dead_code, reason = "each topic takes what it needs")]
mod leases_place;
#[allow(dead_code, reason = "each topic takes what it needs")]
mod pages;
#[allow(dead_code, reason = "each topic takes what it needs")]
mod place;

mod accounts;
mod attach;
mod away;
mod callers;
mod counts;
mod create;
mod cursors;
mod disk;
mod fields;
mod filters;
mod health;
mod heartbeats;
mod ids;
mod inspect;
mod launch;
mod leases;
mod leases_finish;
mod leases_resume;
mod lineage;
mod lists;
mod records;
mod removal;
mod resolved;
mod retries;
mod sorts;
mod stops;
mod sweep;
mod walks;
