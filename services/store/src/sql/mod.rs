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
mod rank_spread;
mod reach;
mod remember;
mod select;
mod server_session;
mod session_above;
mod session_accounts;
mod session_apply;
mod session_belongings;
mod session_clock;
mod session_counts;
mod session_create;
mod session_documents;
mod session_examine;
mod session_filter;
mod session_fold;
mod session_heartbeats;
mod session_keys;
mod session_leases;
mod session_list;
mod session_live_rows;
mod session_order;
#[cfg(feature = "conformance")]
mod session_plans;
mod session_reads;
mod session_removal;
mod session_rows;
mod session_search;
mod session_sources;
mod session_store;
mod session_sweep;
mod session_sweep_pieces;
mod session_totals;
mod session_view;
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
pub(crate) use session_clock::load_newest_instant;
pub(crate) use sqlite::{Sqlite, SqliteFile};

#[cfg(feature = "conformance")]
pub(crate) use db::{Faults, Transaction, Tx, Value};
#[cfg(feature = "conformance")]
pub(crate) use dialect::Dialect;
#[cfg(feature = "conformance")]
pub(crate) use session_apply::{insert_session, remove_session};
#[cfg(feature = "conformance")]
pub(crate) use session_counts::count_stored;
#[cfg(feature = "conformance")]
pub(crate) use session_counts::{Cells, CellsOf, counted, counted_by};
#[cfg(feature = "conformance")]
pub(crate) use session_plans::ExplainList;
