//! The session catalog's use cases: what the registry does with sessions, without the wire.

pub mod accounts;
pub mod change;
pub mod create;
mod defaults;
pub mod delete;
mod find;
pub mod inspect;
pub mod launch;
pub mod leases;
pub mod list;
pub mod place;
pub mod sweep;
pub mod sweep_metrics;
