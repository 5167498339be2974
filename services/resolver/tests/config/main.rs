//! Configuration in layers, as whoever resolves a workspace sees it.
#![allow(clippy::unwrap_used)]

mod edits;
mod files;
mod keys;
mod layers;
mod merge;
mod properties;
mod provenance;
mod secrets;
mod support;
