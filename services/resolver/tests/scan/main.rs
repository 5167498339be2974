//! Where agents and skills are found, and who wins a name. Every test has real directories of its own.

#![allow(clippy::unwrap_used, unreachable_pub)]

mod agents;
mod cost;
mod limits;
mod links;
mod marketplace;
mod network;
mod permissions;
mod roots;
mod skills;
mod sources;
#[path = "../support/mod.rs"]
mod support;
mod tiers;
mod world;
