//! The registry as its callers see it: a real server and a generated client over the service, a real disk in
//! temporary directories, a store in memory and, where storage matters, on Postgres. Time, randomness and failing
//! files are injected. Tests run without root's file privileges and under a narrow umask.

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
#[allow(dead_code, reason = "shared with the cases of resolution")]
mod client;
mod daemon;
mod doubles;
#[path = "../handed_on/mod.rs"]
mod handed_on;
#[allow(dead_code, reason = "shared with the cases of resolution")]
mod requests;
mod tree;
mod watched_store;
mod world;

mod callers;
mod case_blind;
mod changes_of_identity;
mod crashes;
mod cursors;
mod discovery;
mod discovery_cost;
mod home;
mod hosts;
mod identity_files;
mod identity_refused;
mod lists;
mod model;
mod mounts;
mod moved;
mod names;
mod observer;
mod order;
mod paths;
mod picker;
mod profile_renames;
mod profiles;
mod prune;
mod references;
mod registration;
mod relink;
mod remove;
mod retries;
mod selections;
mod statuses;
mod updates;
