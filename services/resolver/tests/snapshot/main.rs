//! Snapshots, what is remembered of the files that went into them, and the cache.

#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod cache;
mod findings;
mod layers;
mod orphans;
mod overlay;
mod property;
mod restart;
mod root;
mod text;
mod untouched;
mod watched;
mod world;
