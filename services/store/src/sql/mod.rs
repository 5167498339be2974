//! The statements, written once for both engines.

mod append;
mod backup;
mod catalog;
mod change_log;
mod db;
mod dialect;
mod hints;
mod intents;
mod migrate;
#[cfg(feature = "planted-bugs")]
mod number_before_commit;
mod numbering;
mod observations;
mod origin;
mod postgres;
mod profile_list;
mod profile_rows;
mod profile_selections;
mod profile_writes;
mod reach;
mod remember;
mod select;
mod server_session;
mod session_accounts;
mod session_apply;
mod session_counts;
mod session_documents;
mod session_leases;
mod session_list;
mod session_reads;
mod session_rows;
mod session_store;
mod session_totals;
mod session_writes;
mod sqlite;
mod trim;
mod workspace_list;
mod workspace_order;
mod workspace_rows;
mod workspace_writes;

pub(crate) use db::Db;
pub(crate) use migrate::{Founding, Inspection, current_boot, inspect, migrate};
pub(crate) use postgres::{Postgres, SharedLock};
pub(crate) use sqlite::{Sqlite, SqliteFile};

#[cfg(feature = "conformance")]
pub(crate) use db::{Faults, Transaction, Tx, Value};
