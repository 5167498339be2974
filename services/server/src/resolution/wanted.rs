//! What callers ask for.

use compozy_resolver::snapshot::TextKind;

use crate::registry::Reference;
use crate::registry::profile::active::ProfileAsked;

/// A snapshot that a caller wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolveWanted {
    /// Of which workspace, and as whom.
    pub subject: Subject,
    /// What the caller has already.
    pub if_fingerprint: Option<String>,
    /// Read every file again, whatever is kept.
    pub anew: bool,
}

/// What a snapshot is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Which workspace.
    pub reference: Reference,
    /// What the caller says about the profile.
    pub profile: ProfileAsked,
    /// The agent whose view it is; `None` for no agent's in particular.
    pub agent: Option<String>,
}

/// A text of a snapshot that a caller wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionWanted {
    /// What the snapshot was of.
    pub subject: Subject,
    /// Which snapshot.
    pub fingerprint: String,
    /// Which text.
    pub kind: TextKind,
    /// Of which agent or skill.
    pub name: String,
}
