//! A home, a workspace and what is asked of them.

use std::path::Path;
use std::time::Duration;

use compozy_domain::{Diagnostic, Timestamp};
use compozy_resolver::files::faulty::Faulty;
use compozy_resolver::snapshot::{Request, ResolveFault, Snapshot, resolve};
use compozy_resolver::{AllowedRoots, Disk};

use crate::support::{ID1, NOW, Place, file};

/// So long ago that nothing is recent.
pub(crate) const LONG: Duration = Duration::from_secs(3600);

/// `$H` of the cases is `h`, `$R` is `r`, `$X` is `x`; the operator's home is `o`.
pub(crate) struct World {
    pub(crate) place: Place,
    pub(crate) files: Faulty,
    pub(crate) request: Request,
}

impl World {
    pub(crate) fn new() -> Self {
        let place = Place::new();
        place.make("h");
        place.make("o");
        place.make_with("r", file(ID1));
        let request = Request {
            home: place.at("h"),
            operator_home: Some(place.at("o")),
            root_dir: place.at("r"),
            additional_dirs: Vec::new(),
            default_agent: String::new(),
            durable_id: Some(ID1.to_owned()),
            profile: None,
            profile_names: Vec::new(),
            allowed: AllowedRoots::Everything,
        };
        Self {
            place,
            files: Faulty::over(Disk::new()),
            request,
        }
    }

    /// With the profile `p`, which is active.
    pub(crate) fn with_profile() -> Self {
        let mut world = Self::new();
        world.request.profile = Some("p".to_owned());
        world.request.profile_names = vec!["p".to_owned()];
        world
    }

    pub(crate) fn at(&self, below: &str) -> String {
        self.place.at(below)
    }

    pub(crate) fn write(&self, below: &str, content: &str) {
        self.place.write(below, content);
    }

    pub(crate) fn remove(&self, below: &str) {
        let path = self.at(below);
        if Path::new(&path).is_dir() {
            std::fs::remove_dir_all(path).unwrap();
        } else {
            std::fs::remove_file(path).unwrap();
        }
    }

    /// A usable agent below a base.
    pub(crate) fn agent(&self, base: &str, name: &str, text: &str) {
        let content = format!("---\nname: {name}\ndescription: an agent\n---\n{text}\n");
        self.write(&format!("{base}/agents/{name}/AGENT.md"), &content);
    }

    /// A usable skill below a directory of skills.
    pub(crate) fn skill(&self, base: &str, name: &str, text: &str) {
        self.write(&format!("{base}/{name}/SKILL.md"), &skill(name, text));
    }

    pub(crate) fn try_resolve(&self) -> Result<Snapshot, ResolveFault> {
        resolve(&self.files, &self.request, NOW).map(|(snapshot, _)| snapshot)
    }

    pub(crate) fn resolve(&self) -> Snapshot {
        self.try_resolve().unwrap()
    }

    /// The problems of a broken configuration.
    pub(crate) fn problems(&self) -> Vec<Diagnostic> {
        match self.try_resolve() {
            Err(ResolveFault::Config(problems)) => problems,
            other => panic!("a broken configuration: {other:?}"),
        }
    }

    /// That the only problem is about this file, and says nothing of its content.
    pub(crate) fn assert_only_problem(&self, below: &str) -> Diagnostic {
        let problems = self.problems();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(problems[0].path, self.at(below));
        assert!(!problems[0].message.is_empty() && !problems[0].remedy.is_empty());
        problems[0].clone()
    }
}

pub(crate) fn skill(name: &str, text: &str) -> String {
    format!("---\nname: {name}\ndescription: a skill\n---\n{text}\n")
}

pub(crate) fn codes(diagnostics: &[Diagnostic]) -> Vec<&str> {
    diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

pub(crate) fn agents(snapshot: &Snapshot) -> Vec<&str> {
    snapshot.agents.iter().map(|agent| agent.name.as_str()).collect()
}

pub(crate) fn skills(snapshot: &Snapshot) -> Vec<&str> {
    snapshot.skills.iter().map(|skill| skill.name.as_str()).collect()
}

/// The same content, whenever it was read. Of the root only which directory it is counts: what lies in it beside the
/// files that matter changes its times.
pub(crate) fn content(snapshot: &Snapshot) -> Snapshot {
    let mut content = snapshot.clone();
    content.resolved_at = Timestamp::from_nanos(0);
    content.root_stamp.size = 0;
    content.root_stamp.modified = 0;
    content.root_stamp.changed = 0;
    content
}
