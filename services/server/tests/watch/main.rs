//! The change stream as its callers see it: real servers with their own accept loops and layers in this process, a
//! generated client over the socket or TCP, and a store on SQLite and on Postgres. Entries that
//! no call would write just so are put into the log by hand. Of a quiet stream nothing is awaited but the next
//! message: a marker that is committed afterwards has to be it.

#![allow(
    clippy::cloned_ref_to_slice_refs,
    clippy::large_futures,
    clippy::print_stderr,
    clippy::result_large_err,
    clippy::unwrap_used,
    reason = "cases are read, not run a million times"
)]

#[macro_use]
mod cases;
mod client;
mod clock;
mod entries;
#[path = "../handed_on/mod.rs"]
mod handed_on;
mod server;
mod watched_store;
mod world;

mod agents;
mod behind;
mod callers;
mod epochs;
mod filters;
mod heartbeats;
mod limits;
mod moves;
mod numbers;
mod order;
mod pages;
mod profiles;
mod replicas;
mod restarts;
mod restored;
mod retention;
mod rows;
mod session_rows;
mod sessions;
mod slow;
mod small_frames;
mod snapshots;
mod starting;
mod store_away;
mod tokens;
mod versions;
