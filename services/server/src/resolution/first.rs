//! The first resolve of a directory: whether it may be registered as it is.

use compozy_domain::{Diagnostic, Layer, Severity, Timestamp};
use compozy_resolver::Files;
use compozy_resolver::config::EffectiveConfig;
use compozy_resolver::definition::Agent;
use compozy_resolver::scan;
use compozy_resolver::snapshot::{self, Request, ResolveFault};
use compozy_resolver::watched::Reader;

/// What a first look at a directory shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstLook {
    /// What keeps it from being registered: a broken configuration, broken agents of its own. Sorted.
    pub problems: Vec<Diagnostic>,
    /// What else is worth knowing, sorted.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether registering makes its identity file, if a layer above the user's says so: the daemon itself has what the
    /// user says.
    pub auto_create: Option<bool>,
}

/// Looks at a directory as a resolve does, and finds all of its problems at once.
pub(super) fn look(files: &dyn Files, request: &Request, now: Timestamp) -> Result<FirstLook, ResolveFault> {
    let mut auto_create = None;
    let (seen, mut problems) = match snapshot::resolve(files, request, now) {
        Ok((made, _)) => {
            auto_create = said_above_the_user(&made.config, "memory.workspace.auto_create");
            let seen = Seen {
                root: made.root,
                agents: made.agents,
                diagnostics: made.diagnostics,
            };
            (seen, Vec::new())
        }
        // Whoever mends the configuration should not be told about the agents only then.
        Err(ResolveFault::Config(problems)) => (agents_only(files, request), problems),
        Err(fault) => return Err(fault),
    };
    let is_complete = problems.is_empty();
    problems.extend(seen.problems_of_agents(request.profile.as_deref()));
    Diagnostic::sort(&mut problems);
    let mut diagnostics = seen.diagnostics;
    diagnostics.retain(|diagnostic| is_complete && !problems.contains(diagnostic));
    Ok(FirstLook {
        problems,
        diagnostics,
        auto_create,
    })
}

fn said_above_the_user(config: &EffectiveConfig, key: &str) -> Option<bool> {
    match config.origin(key)?.layer {
        Layer::Default | Layer::User => None,
        _ => config.flag(key),
    }
}

/// What the files of a root show.
struct Seen {
    root: String,
    agents: Vec<Agent>,
    diagnostics: Vec<Diagnostic>,
}

impl Seen {
    /// Why agents of the root itself can't be used, those included that another one of their name hides. Those of
    /// other layers are not the root's fault.
    fn problems_of_agents(&self, profile: Option<&str>) -> Vec<Diagnostic> {
        let own = format!("{}/.compozy", self.root.trim_end_matches('/'));
        let mut bases = vec![format!("{own}/agents/")];
        bases.extend(profile.map(|profile| format!("{own}/profiles/{profile}/agents/")));
        let is_file_of_agent = |path: &str| {
            let below = bases.iter().find_map(|base| path.strip_prefix(base.as_str()));
            below.is_some_and(|below| below.matches('/').count() == 1)
        };
        let of_files = self
            .diagnostics
            .iter()
            .filter(|found| is_file_of_agent(&found.path));
        // An agent behind a link has its file elsewhere.
        let of_winners = self.agents.iter().flat_map(|agent| &agent.diagnostics);
        let is_own = |layer| matches!(layer, Some(Layer::Workspace | Layer::WorkspaceProfile));
        let all = of_files.chain(of_winners);
        all.filter(|found| found.severity == Severity::Error && is_own(found.layer))
            .cloned()
            .collect()
    }
}

/// The agents, whatever the configuration says: none of it is about where agents lie.
fn agents_only(files: &dyn Files, request: &Request) -> Seen {
    let Ok(root) = files.directory(&request.root_dir) else {
        return Seen {
            root: request.root_dir.clone(),
            agents: Vec::new(),
            diagnostics: Vec::new(),
        };
    };
    let scanned = scan::scan(&Reader::new(files), &request.places(&root.path));
    Seen {
        root: root.path,
        agents: scanned.agents,
        diagnostics: scanned.diagnostics,
    }
}
