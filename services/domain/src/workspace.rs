//! The record of one registration and the rules of its fields.

use crate::change::{ChangeReason, stored_words};
use crate::clock::Timestamp;
use crate::error::CatalogError;
use crate::id::{DurableId, Etag, HostId, WorkspaceId, is_ulid};
use crate::limits;
use crate::name::WorkspaceName;
use crate::path::FileIdentity;
use crate::rank::Rank;

/// One registration, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// Its id.
    pub id: WorkspaceId,
    /// The identity of its directory.
    pub durable_id: DurableId,
    /// Whose disk the root lies on.
    pub host_id: HostId,
    /// Canonical absolute path of the root.
    pub root_dir: String,
    /// Device and inode of the root when it was last written.
    pub root_file: FileIdentity,
    /// Canonical absolute paths in registration order.
    pub additional_dirs: Vec<String>,
    /// The unique handle.
    pub name: WorkspaceName,
    /// Display text.
    pub title: String,
    /// Agent of new sessions, or empty.
    pub default_agent: String,
    /// Whether the first start made it for the operator's home. Such a one owns its root only.
    pub is_default: bool,
    /// Place in the manual order.
    pub rank: Rank,
    /// Number of change entries about this record.
    pub version: i64,
    /// Number of states of the record; the etag is made of it.
    pub state_number: i64,
    /// When it was registered.
    pub created_at: Timestamp,
    /// When the record itself last changed.
    pub updated_at: Timestamp,
    /// Ids of the other registrations with the same durable id that the reader may see, ascending.
    pub shares_identity_with: Vec<WorkspaceId>,
    /// Exact numbers of its sessions.
    pub session_counts: SessionCounts,
    /// What is wrong with the stored row, if anything is.
    pub defect: Option<String>,
}

/// Exact numbers of the sessions of a workspace, without internal ones. Archived ones count in their state, too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SessionCounts {
    /// In state starting.
    pub starting: i64,
    /// In state active.
    pub active: i64,
    /// In state stopping.
    pub stopping: i64,
    /// In state stopped.
    pub stopped: i64,
    /// In state orphaned.
    pub orphaned: i64,
    /// How many of these are archived.
    pub archived: i64,
}

/// What a look at a root shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WorkspaceStatus {
    /// There, with the identity of the row.
    Ok,
    /// The path does not exist.
    RootMissing,
    /// The path is no directory.
    RootNotDirectory,
    /// The path can't be read.
    RootUnreadable,
    /// No identity file.
    IdentityMissing,
    /// The identity file is not valid.
    IdentityInvalid,
    /// The identity file can't be read.
    IdentityUnreadable,
    /// The identity file carries another durable id than the row.
    IdentityChanged,
    /// The root lies on another host's disk.
    OtherHost,
}

stored_words!(WorkspaceStatus {
    Ok = "ok",
    RootMissing = "root_missing",
    RootNotDirectory = "root_not_directory",
    RootUnreadable = "root_unreadable",
    IdentityMissing = "identity_missing",
    IdentityInvalid = "identity_invalid",
    IdentityUnreadable = "identity_unreadable",
    IdentityChanged = "identity_changed",
    OtherHost = "other_host",
});

/// What becomes of a copy of a registered directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentityPolicy {
    /// A second registration with the same durable id.
    Share,
    /// The copy gets a durable id of its own.
    Fork,
    /// The registration is refused.
    Reject,
}

/// The order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WorkspaceOrder {
    /// By rank, then path, then id.
    Manual,
    /// By the key of the name.
    Name,
    /// Newest registration first, then path, then id.
    Created,
    /// Latest change first, then path, then id.
    Updated,
}

/// Which workspaces a list holds. Conditions are joined by AND; an empty one holds all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkspaceFilter {
    /// The name's key starts with this key.
    pub name_prefix: Option<String>,
    /// The folded search text occurs in id, name, title or root.
    pub query: Option<String>,
    /// Any of these statuses, as the observer last saw them.
    pub statuses: Vec<WorkspaceStatus>,
    /// Also (or, without statuses, only) those that the observer has not looked at.
    pub not_observed: bool,
}

/// A place in a list: the sort key of the last row seen, by value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspacePlace {
    /// The leading key.
    pub key: WorkspaceSortKey,
    /// The row's root.
    pub root_dir: String,
    /// The row's id.
    pub id: WorkspaceId,
}

/// The leading key of a list's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkspaceSortKey {
    /// Of [`WorkspaceOrder::Manual`].
    Rank(Rank),
    /// Of [`WorkspaceOrder::Name`].
    Name(String),
    /// Of [`WorkspaceOrder::Created`] and [`WorkspaceOrder::Updated`].
    Time(Timestamp),
}

/// The registration that a caller wants; everything about paths is canonical already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewWorkspace {
    /// Its id, drawn by the caller.
    pub id: WorkspaceId,
    /// The identity of its directory.
    pub durable_id: DurableId,
    /// Whose disk the root lies on.
    pub host_id: HostId,
    /// Canonical root.
    pub root_dir: String,
    /// Device and inode of the root.
    pub root_file: FileIdentity,
    /// Clean list, see [`clean_dirs`].
    pub additional_dirs: Vec<String>,
    /// The handle.
    pub name: NewName,
    /// Display text.
    pub title: String,
    /// Agent of new sessions, or empty.
    pub default_agent: String,
    /// Whether this is the operator's home, registered by the first start.
    pub is_default: bool,
    /// When.
    pub at: Timestamp,
}

/// The handle of a new registration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewName {
    /// This one or none.
    Explicit(WorkspaceName),
    /// This one, or the first free with a number behind it.
    Derived(WorkspaceName),
}

/// A change of some fields. What is `None` stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkspaceUpdate {
    /// The handle.
    pub name: Option<WorkspaceName>,
    /// Display text.
    pub title: Option<String>,
    /// Agent of new sessions; empty clears it.
    pub default_agent: Option<String>,
    /// The additional directories.
    pub dirs: DirsUpdate,
}

/// A change of the additional directories, in canonical paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum DirsUpdate {
    /// They stay.
    #[default]
    Keep,
    /// These instead.
    Replace(Vec<String>),
    /// First some are taken away, then some are added at the end.
    Delta {
        /// Directories to add.
        add: Vec<String>,
        /// Directories to take away.
        remove: Vec<RemovedDir>,
    },
}

/// A directory to take away from the additional ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedDir {
    /// As the caller spelled it, for the error.
    pub given: String,
    /// In canonical form.
    pub canonical: String,
}

impl Workspace {
    /// The etag of the record's state.
    #[must_use]
    pub fn etag(&self) -> Etag {
        Etag::of_state(self.state_number)
    }

    /// Its place in a list of the given order.
    #[must_use]
    pub fn place(&self, order: WorkspaceOrder) -> WorkspacePlace {
        let key = match order {
            WorkspaceOrder::Manual => WorkspaceSortKey::Rank(self.rank.clone()),
            WorkspaceOrder::Name => WorkspaceSortKey::Name(self.name.key().to_owned()),
            WorkspaceOrder::Created => WorkspaceSortKey::Time(self.created_at),
            WorkspaceOrder::Updated => WorkspaceSortKey::Time(self.updated_at),
        };
        WorkspacePlace {
            key,
            root_dir: self.root_dir.clone(),
            id: self.id.clone(),
        }
    }

    /// Checks that a caller's etag, if it gave one, is that of this state.
    ///
    /// # Errors
    /// [`CatalogError::EtagMismatch`].
    pub fn check_etag(&self, etag: Option<&Etag>) -> Result<(), CatalogError> {
        match etag {
            Some(given) if *given != self.etag() => Err(CatalogError::EtagMismatch {
                id: self.id.to_string(),
            }),
            _ => Ok(()),
        }
    }

    /// Checks that this release understands the row, as every change needs.
    ///
    /// # Errors
    /// [`CatalogError::RecordNotUnderstood`].
    pub fn check_understood(&self) -> Result<(), CatalogError> {
        match &self.defect {
            None => Ok(()),
            Some(defect) => Err(CatalogError::RecordNotUnderstood {
                id: self.id.to_string(),
                defect: defect.clone(),
            }),
        }
    }

    /// The record after an update, with the reason of its change entry; `None` if nothing differs.
    ///
    /// # Errors
    /// [`CatalogError::InvalidField`] for a directory to take away that is not there, or for too many.
    pub fn updated(
        &self,
        update: &WorkspaceUpdate,
        now: Timestamp,
    ) -> Result<Option<(Self, ChangeReason)>, CatalogError> {
        let mut next = self.clone();
        let WorkspaceUpdate {
            name,
            title,
            default_agent,
            dirs,
        } = update;
        if let Some(name) = name {
            next.name = name.clone();
        }
        if let Some(title) = title {
            next.title.clone_from(title);
        }
        if let Some(agent) = default_agent {
            next.default_agent.clone_from(agent);
        }
        next.additional_dirs = self.updated_dirs(dirs)?;
        if next == *self {
            return Ok(None);
        }
        let reason = if next.name == self.name {
            ChangeReason::Updated
        } else {
            ChangeReason::Renamed
        };
        Ok(Some((next.next_state(now), reason)))
    }

    /// This record as its next state: version, etag and `updated_at` move.
    #[must_use]
    pub fn next_state(mut self, now: Timestamp) -> Self {
        self.version += 1;
        self.state_number += 1;
        self.updated_at = now;
        self
    }

    fn updated_dirs(&self, update: &DirsUpdate) -> Result<Vec<String>, CatalogError> {
        match update {
            DirsUpdate::Keep => Ok(self.additional_dirs.clone()),
            DirsUpdate::Replace(dirs) => clean_dirs(&self.root_dir, dirs, "workspace.additional_dirs"),
            DirsUpdate::Delta { add, remove } => {
                let mut dirs = self.additional_dirs.clone();
                for (at, RemovedDir { given, canonical }) in remove.iter().enumerate() {
                    let Some(found) = dirs.iter().position(|dir| dir == canonical) else {
                        return Err(CatalogError::invalid_field(
                            format!("remove_dirs[{at}]"),
                            format!("'{given}' is no additional directory of this workspace"),
                        ));
                    };
                    dirs.remove(found);
                }
                dirs.extend(add.iter().cloned());
                clean_dirs(&self.root_dir, &dirs, "add_dirs")
            }
        }
    }
}

/// Canonical additional directories without duplicates and without the root, in their order.
///
/// # Errors
/// [`CatalogError::InvalidField`] naming `field` when more than 64 are left.
pub fn clean_dirs(root: &str, dirs: &[String], field: &str) -> Result<Vec<String>, CatalogError> {
    let mut clean: Vec<String> = Vec::new();
    for dir in dirs {
        if dir != root && !clean.contains(dir) {
            clean.push(dir.clone());
        }
    }
    if clean.len() > limits::ADDITIONAL_DIRS_MAX {
        return Err(CatalogError::invalid_field(
            field,
            "must hold at most 64 directories",
        ));
    }
    Ok(clean)
}

/// What is wrong with the stored values of a row, if anything is: written by hand or by a newer release.
#[must_use]
pub fn defect_of_row(
    id: &str,
    durable_id: &str,
    root_dir: &str,
    rank: &[u8],
    dirs_readable: bool,
) -> Option<String> {
    if WorkspaceId::parse(id).is_none() {
        return Some("its id is not well formed".to_owned());
    }
    if !is_ulid(durable_id) {
        return Some("its durable id is no ULID".to_owned());
    }
    if !root_dir.starts_with('/') {
        return Some("its root is no absolute path".to_owned());
    }
    if rank.is_empty() {
        return Some("it has no place in the order".to_owned());
    }
    if !dirs_readable {
        return Some("its additional directories can't be read".to_owned());
    }
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn workspace() -> Workspace {
        Workspace {
            id: WorkspaceId::parse("ws_0123456789abcdef").unwrap(),
            durable_id: DurableId::parse("01HXJ9YR4QZ0V7M3T5B8N2C6KD").unwrap(),
            host_id: HostId::from_stored("h1".into()),
            root_dir: "/w/a".into(),
            root_file: FileIdentity { device: 1, inode: 2 },
            additional_dirs: vec!["/w/x".into(), "/w/y".into()],
            name: WorkspaceName::parse("a").unwrap(),
            title: "a".into(),
            default_agent: String::new(),
            is_default: false,
            rank: Rank::front(1),
            version: 1,
            state_number: 1,
            created_at: Timestamp::from_nanos(1),
            updated_at: Timestamp::from_nanos(1),
            shares_identity_with: Vec::new(),
            session_counts: SessionCounts::default(),
            defect: None,
        }
    }

    fn now() -> Timestamp {
        Timestamp::from_nanos(9)
    }

    #[test]
    fn w187_an_equal_update_is_no_update() {
        let update = WorkspaceUpdate {
            title: Some("a".into()),
            dirs: DirsUpdate::Replace(vec!["/w/x".into(), "/w/y".into(), "/w/a".into()]),
            ..WorkspaceUpdate::default()
        };
        assert_eq!(workspace().updated(&update, now()).unwrap(), None);
    }

    #[test]
    fn w193_w195_deltas_of_directories() {
        let removed = |path: &str| RemovedDir {
            given: path.into(),
            canonical: path.into(),
        };
        let update = |remove: &str, add: &str| WorkspaceUpdate {
            dirs: DirsUpdate::Delta {
                add: vec![add.into()],
                remove: vec![removed(remove)],
            },
            ..WorkspaceUpdate::default()
        };
        let (next, reason) = workspace()
            .updated(&update("/w/x", "/w/z"), now())
            .unwrap()
            .unwrap();
        assert_eq!(next.additional_dirs, ["/w/y", "/w/z"]);
        assert_eq!(reason, ChangeReason::Updated);
        assert_eq!((next.version, next.updated_at), (2, now()));
        assert_ne!(next.etag(), workspace().etag());
        let error = workspace()
            .updated(&update("/w/none", "/w/z"), now())
            .unwrap_err();
        assert!(matches!(error, CatalogError::InvalidField { ref field, .. } if field == "remove_dirs[0]"));
    }

    #[test]
    fn w084_w330_directories_are_cleaned_and_bounded() {
        let dirs = ["/w/x", "/w/x", "/w/a", "/w/y"].map(str::to_owned);
        assert_eq!(
            clean_dirs("/w/a", &dirs, "additional_dirs").unwrap(),
            ["/w/x", "/w/y"]
        );
        let many: Vec<String> = (0..65).map(|n| format!("/d/{n}")).collect();
        assert!(clean_dirs("/w/a", &many[..64], "additional_dirs").is_ok());
        assert!(clean_dirs("/w/a", &many, "additional_dirs").is_err());
    }

    #[test]
    fn a_rename_says_so() {
        let update = WorkspaceUpdate {
            name: Some(WorkspaceName::parse("A").unwrap()),
            ..WorkspaceUpdate::default()
        };
        let (next, reason) = workspace().updated(&update, now()).unwrap().unwrap();
        assert_eq!((next.name.as_str(), reason), ("A", ChangeReason::Renamed));
    }
}
