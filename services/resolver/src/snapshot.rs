//! The snapshot: what a session in a workspace would see, and how it is made.

mod fingerprint;
mod layers;
mod overlay;
mod resolve;
mod root;
mod text;
mod weight;

use compozy_domain::{CatalogError, Diagnostic, Timestamp};

pub use self::overlay::Overlay;
pub use self::resolve::{resolve, resolve_sealed};
pub use self::text::{Text, TextFault, TextKind, definition_text};
use crate::config::EffectiveConfig;
use crate::definition::{Agent, Skill};
use crate::files::{ContentHash, Stamp};
use crate::scan::SkillSource;

/// Everything that decides what a snapshot holds, besides the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// `$COMPOZY_HOME`, canonical.
    pub home: String,
    /// The operator's home directory.
    pub operator_home: Option<String>,
    /// The root as the record has it.
    pub root_dir: String,
    /// Additional roots as the record has them.
    pub additional_dirs: Vec<String>,
    /// `default_agent` of the record; empty if none.
    pub default_agent: String,
    /// The durable id of the record, to compare the identity file with.
    pub durable_id: Option<String>,
    /// The active profile; `None` for `default`.
    pub profile: Option<String>,
    /// The names of all profiles of the catalog: whose directories are not orphaned.
    pub profile_names: Vec<String>,
    /// What may be read for this caller.
    pub allowed: crate::AllowedRoots,
}

/// What the files say. Immutable once it is made; without secrets in anything that can be shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// The root that was read, canonical.
    pub root: String,
    /// State of the root when it was read.
    pub root_stamp: Stamp,
    /// The configuration.
    pub config: EffectiveConfig,
    /// Agents by bytes of the name of their directory.
    pub agents: Vec<Agent>,
    /// Skills by name, as no agent in particular would see them.
    pub skills: Vec<Skill>,
    /// Skills of the own directories of winning agents, by the name of the agent.
    pub agent_skills: Vec<(String, Vec<Skill>)>,
    /// Directories of skills.
    pub sources: Vec<SkillSource>,
    /// Everything worth knowing, sorted.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether something was too much to read whole.
    pub truncated: bool,
    /// Names everything but the skills, which depend on the agent.
    pub content_hash: ContentHash,
    /// When the files were read.
    pub resolved_at: Timestamp,
    /// Names the content as no agent in particular sees it, without secrets: equal for equal content, also over
    /// restarts. See [`Snapshot::for_agent`] for that of an agent.
    pub fingerprint: String,
}

/// Why there is no snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResolveFault {
    /// The root can't be used.
    Root(compozy_domain::error::RootFault),
    /// The root, as opened, lies outside the allowed roots.
    NotAllowed,
    /// The configuration is broken: every problem, sorted.
    Config(Vec<Diagnostic>),
    /// The identity file is there and breaks a rule, or can't be read.
    Identity(Box<CatalogError>),
    /// Files changed during each of the attempts.
    Changing,
}
