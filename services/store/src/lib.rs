//! Durable state of the catalog, on SQLite and on Postgres behind the same traits.
//!
//! [`SqlStore`] implements one trait per entity. Its statements are written once; `sql/db.rs` alone knows
//! that there are two drivers. Every promise of a trait is a test in `conformance`, run on each engine.

mod call;
mod catalog;
mod change_log;
#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
mod intents;
mod observations;
mod open;
mod path_locks;
pub mod planted;
mod profiles;
mod sessions;
mod sql;
mod workspaces;

pub use call::{Answer, Call, Encode, Remember, Written};
pub use catalog::{CatalogKey, CatalogStore, Finding, StoreKind};
pub use change_log::{ChangeLog, LogHead, LogSlice, NUMBERED_AT_ONCE, Numbering};
pub use error::{Error, Result};
pub use intents::{INTENT_LEASE, Intent, IntentId, IntentStore, IntentWork, PathLock};
pub use observations::{LastObservation, Observation, ObservationStore};
pub use open::{Access, Durability, OpenOptions, SqlStore, StoreAddress};
pub use profiles::{
    CreateProfile, DeleteProfile, ListProfiles, ProfileStore, RenameProfile, SelectProfile, Selected,
    Selections, SetProfileState, UpdateProfile,
};
pub use sessions::{
    AttachSession, ChangeSession, CountSessions, CreateSession, CreatedSession, DeleteSession, DetachSession,
    FinishSession, HeartbeatCall, Heartbeats, ListSessions, MoveSession, MovedSession, Regrouped,
    SessionAnchor, SessionPage, SessionStore, SessionTotals, Sweep, Swept,
};
pub use workspaces::{
    ListWorkspaces, MoveBefore, Moved, Prune, Pruned, Register, Registered, Relink, Remove, Removed,
    SetDurableId, Update, WorkspaceStore,
};

/// Everything that the server asks of a store.
pub trait Store:
    WorkspaceStore
    + ProfileStore
    + SessionStore
    + IntentStore
    + ObservationStore
    + ChangeLog
    + CatalogStore
    + std::fmt::Debug
{
}

impl<T> Store for T where
    T: WorkspaceStore
        + ProfileStore
        + SessionStore
        + IntentStore
        + ObservationStore
        + ChangeLog
        + CatalogStore
        + std::fmt::Debug
{
}
