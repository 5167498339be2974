//! Resolution as its callers see it: a real server and a generated client over the service, a real disk in temporary
//! directories, a store in memory and, where storage matters, on Postgres. The world is that of the registry's cases.

#![allow(
    clippy::cloned_ref_to_slice_refs,
    clippy::large_futures,
    clippy::print_stderr,
    clippy::result_large_err,
    clippy::unwrap_used,
    reason = "cases are read, not run a million times"
)]

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
#[path = "../registry/world.rs"]
#[allow(dead_code, reason = "shared with the registry's cases")]
mod world;

mod place;

mod cache;
mod definitions;
mod first;
mod readers;
mod requested;
mod retargeted;
mod secrets;
mod selected;
