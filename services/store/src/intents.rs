//! Intents: rows that are written before a file is made or changed, or a directory moved, so that a crash in between
//! can be undone. Only the same host recovers an intent, and only when its owner is gone.

use std::time::Duration;

use async_trait::async_trait;
use compozy_domain::{HostId, ProfileId, Timestamp};

use crate::error::Result;

/// Names an intent: a ULID.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IntentId(pub String);

/// How long an intent is safe from recovery on Postgres while its owner does not renew it.
pub const INTENT_LEASE: Duration = Duration::from_secs(60);

/// What its owner is about to do to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IntentWork {
    /// It makes the identity file of a root.
    CreateIdentity {
        /// The canonical root.
        root_dir: String,
        /// SHA-256 of the file's content.
        content: [u8; 32],
        /// Whether `.compozy` was not there before.
        makes_directory: bool,
    },
    /// It made or replaced the identity file of a root, and a registration has taken the root since: the file
    /// is not this work's to undo any more, only what a crash left half-written of it.
    TakenOver {
        /// The canonical root.
        root_dir: String,
        /// SHA-256 of the content that was written.
        content: [u8; 32],
    },
    /// It replaces the identity file of a root.
    ReplaceIdentity {
        /// The canonical root.
        root_dir: String,
        /// SHA-256 of the new content.
        content: [u8; 32],
        /// The old content, to put back.
        previous: Vec<u8>,
    },
    /// It moves the personal directory of a profile. What the row says afterwards decides where the directory belongs.
    RenameProfile {
        /// The profile.
        profile_id: ProfileId,
        /// The directory of its old name, absolute.
        from: String,
        /// The directory of its new name.
        to: String,
    },
}

/// An intent as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// Its id.
    pub id: IntentId,
    /// The host whose disk it is about.
    pub host_id: HostId,
    /// The process that made it: a ULID per start.
    pub owner: String,
    /// What it is about.
    pub work: IntentWork,
}

/// A lock on the canonical path of a host, held until it is dropped: within the process, and on Postgres
/// also against other replicas.
#[derive(Debug)]
pub struct PathLock {
    pub(crate) _local: crate::path_locks::LocalPathLock,
    pub(crate) _shared: Option<crate::sql::SharedLock>,
}

/// Intents and the locks that go with them.
#[async_trait]
pub trait IntentStore: Send + Sync {
    /// Waits for the lock on a path.
    async fn lock_path(&self, host: &HostId, path: &str) -> Result<PathLock>;

    /// Writes an intent, durably, before the file is touched.
    async fn begin_intent(&self, intent: &Intent, now: Timestamp) -> Result<()>;

    /// Deletes an intent whose work was undone or finished.
    async fn end_intent(&self, id: &IntentId) -> Result<()>;

    /// Renews the leases of all intents of an owner.
    async fn renew_intents(&self, owner: &str, now: Timestamp) -> Result<()>;

    /// The intents about a root, whoever made them. Whoever holds the lock on its path finds those of the dead only.
    async fn intents_at(&self, host: &HostId, root_dir: &str) -> Result<Vec<Intent>>;

    /// The intents of a host whose owner is gone: on SQLite every one of another owner, on Postgres those
    /// whose lease has lapsed.
    async fn abandoned_intents(&self, host: &HostId, owner: &str, now: Timestamp) -> Result<Vec<Intent>>;
}
