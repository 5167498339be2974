//! Where agents and skills lie: bases of every layer, tiers, links, limits, and who wins a name.
//!
//! Everything is looked at in the order in which it wins: bases from the highest tier to the lowest, and in each of
//! them paths by their bytes. So the first of a name wins, and those that come later are its losers in their order.
//! A directory is read once, whatever leads to it: through the first way by which it is met.

mod agents;
mod bases;
mod bundled;
mod findings;
mod links;
mod locate;
mod marketplace;
mod names;
mod read;
mod settle;
mod skills;
mod sources;
mod tell;
mod walk;

use compozy_domain::{Diagnostic, Layer};

use crate::AllowedRoots;
use crate::definition::{Agent, Skill};
use crate::watched::Reader;

pub use bundled::Bundled;
pub use sources::{Bearings, sources};

/// Agents, or skills, of one base at most.
pub const SKILLS_MAX: usize = 2_000;
/// Entries that may lie before something, in the order of the bytes of the paths, so that it is still looked at.
pub const ENTRIES_MAX: usize = 20_000;
/// Directories in one another at most. Each that is being walked through is held open.
pub const DEPTH_MAX: usize = 100;

/// The places in which to look, for one workspace and one active profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// `$COMPOZY_HOME`, canonical.
    pub home: String,
    /// The operator's home directory, for `~`; `None` if there is none.
    pub operator_home: Option<String>,
    /// The root of the workspace, canonical.
    pub root: String,
    /// Additional roots in the order of their registration.
    pub additional: Vec<String>,
    /// The active profile; `None` for `default`, which has no directories.
    pub profile: Option<String>,
    /// Presets and custom sources of skills, as the configuration has them.
    pub sources: Sources,
    /// `skills.disabled_skills`.
    pub disabled_skills: Vec<String>,
    /// What may be read for a caller over the network; everything for the others.
    pub allowed: AllowedRoots,
}

/// `skills.sources` and `skills.custom_sources`, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sources {
    /// `.agents/skills`.
    pub agents: bool,
    /// `.claude/skills`.
    pub claude: bool,
    /// Custom ones, absolute, in the order of the configuration.
    pub custom: Vec<CustomSource>,
}

/// A custom source of skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomSource {
    /// Absolute path.
    pub path: String,
    /// The file that names it.
    pub named_in: String,
    /// Line in it.
    pub line: Option<u32>,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scanned {
    /// Agents by bytes of the name of their directory.
    pub agents: Vec<Agent>,
    /// Skills by bytes of their name; those that are disabled for everybody are not among them.
    pub skills: Vec<Skill>,
    /// Skills of the own directories of winning agents, by the name of the agent. They hide those of the same name
    /// in `skills` from this agent; what they hide is not among their losers here.
    pub agent_skills: Vec<(String, Vec<Skill>)>,
    /// Directories of skills, highest tier first.
    pub sources: Vec<SkillSource>,
    /// Everything worth knowing that is about no agent or skill, and everything that is.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether something was too much to read whole.
    pub truncated: bool,
}

/// A directory of skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillSource {
    /// compozy, agents, claude, or the base name of a custom one.
    pub name: String,
    /// Its tier.
    pub layer: Layer,
    /// The directory.
    pub path: String,
    /// Whether it could be read.
    pub readable: bool,
    /// Whether there was more in it than is read.
    pub truncated: bool,
    /// How many skills it has.
    pub skill_count: usize,
}

/// Where one scan may read, and how.
#[derive(Clone, Copy)]
struct Scope<'s> {
    reader: &'s Reader<'s>,
    /// What may be read for the caller, in the layer that is being looked at.
    allowed: &'s AllowedRoots,
    /// The canonical paths of all bases: links may lead to them and below them.
    trusted: &'s [String],
}

impl Scope<'_> {
    /// The same for what lies in this layer.
    fn of(self, layer: Layer) -> Self {
        Self {
            allowed: locate::allowed_for(self.allowed, layer),
            ..self
        }
    }
}

/// Finds the agents and skills of a workspace. What can't be read is told, never left out.
#[must_use]
pub fn scan(reader: &Reader<'_>, places: &Places) -> Scanned {
    scan_with(reader, places, bundled::BUNDLED)
}

/// The same with other bundled skills than those of this build.
#[must_use]
pub fn scan_with(reader: &Reader<'_>, places: &Places, bundled: &[Bundled]) -> Scanned {
    let mut scanned = Scanned::default();
    let additional = locate::additional_roots(reader, places, &mut scanned.diagnostics);
    let agents = locate::locate(reader, places, bases::of_agents(places, &additional));
    let skills = locate::locate(reader, places, bases::of_skills(places, &additional));
    let scope = Scope {
        reader,
        allowed: &places.allowed,
        trusted: &locate::canonical_paths(agents.iter().chain(&skills)),
    };
    let disabled = places.disabled_skills.iter().map(String::as_str).collect();
    agents::scan(scope, &agents, &disabled, &mut scanned);
    skills::scan(scope, &skills, bundled, &disabled, &mut scanned);
    Diagnostic::sort(&mut scanned.diagnostics);
    scanned
}
