//! Sessions on the wire.

pub mod account;
pub mod change;
pub mod create;
pub mod filter;
pub mod inspect;
pub mod launch;
pub mod lease;
pub mod list;
pub mod record;
pub mod report;
pub mod words;
