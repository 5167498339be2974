//! A home, an operator, a workspace and additional roots below one fresh directory.

use compozy_domain::{Diagnostic, Layer};
use compozy_resolver::definition::{Agent, Shadowed, Skill};
use compozy_resolver::scan::{self, Bundled, CustomSource, Places, Scanned, Sources};
use compozy_resolver::watched::{Reader, Watched};
use compozy_resolver::{AllowedRoots, Disk};

use crate::support::Place;

/// Directories below the place: `$H`, the operator's home, `$R`, `$X1`, `$X2`.
pub struct World {
    pub place: Place,
    pub places: Places,
}

impl World {
    pub fn new() -> Self {
        let place = Place::new();
        for directory in ["h", "o", "r"] {
            place.make(directory);
        }
        let places = Places {
            home: place.at("h"),
            operator_home: Some(place.at("o")),
            root: place.at("r"),
            additional: Vec::new(),
            profile: None,
            sources: Sources {
                agents: true,
                claude: false,
                custom: Vec::new(),
            },
            disabled_skills: Vec::new(),
            allowed: AllowedRoots::Everything,
        };
        Self { place, places }
    }

    /// With `p` as the active profile.
    pub fn with_profile() -> Self {
        let mut world = Self::new();
        world.places.profile = Some("p".to_owned());
        world
    }

    /// Makes additional roots.
    pub fn add_roots(&mut self, below: &[&str]) {
        for root in below {
            self.place.make(root);
            self.places.additional.push(self.place.at(root));
        }
    }

    pub fn add_custom(&mut self, below: &str) {
        self.places.sources.custom.push(CustomSource {
            path: self.place.at(below),
            named_in: self.place.at("r/.compozy/config.toml"),
            line: Some(1),
        });
    }

    /// A good agent in this directory, of this name.
    pub fn agent(&self, directory: &str, name: &str) {
        self.place
            .write(&format!("{directory}/AGENT.md"), definition(name));
    }

    /// An agent whose front matter can't be read.
    pub fn broken_agent(&self, directory: &str) {
        self.place
            .write(&format!("{directory}/AGENT.md"), "---\nname: x\n");
    }

    /// A good skill in this directory, of this name.
    pub fn skill(&self, directory: &str, name: &str) {
        self.place
            .write(&format!("{directory}/SKILL.md"), definition(name));
    }

    pub fn remove(&self, below: &str) {
        std::fs::remove_dir_all(self.place.at(below)).unwrap();
    }

    pub fn scan(&self) -> Scanned {
        self.scan_watched().0
    }

    pub fn scan_watched(&self) -> (Scanned, Watched) {
        let disk = Disk::new();
        let reader = Reader::new(&disk);
        let scanned = scan::scan(&reader, &self.places);
        (scanned, reader.into_watched())
    }

    pub fn scan_with(&self, bundled: &[Bundled]) -> Scanned {
        let disk = Disk::new();
        scan::scan_with(&Reader::new(&disk), &self.places, bundled)
    }

    /// A path of the answer, as it is called below the place.
    pub fn below<'p>(&self, path: &'p str) -> &'p str {
        path.strip_prefix(&format!("{}/", self.place.path))
            .unwrap_or(path)
    }

    /// Codes and paths of what is told, in its order.
    pub fn told(&self, scanned: &Scanned) -> Vec<(&'static str, String)> {
        let diagnostics = scanned.diagnostics.iter();
        diagnostics
            .map(|found| (found.code, self.below(&found.path).to_owned()))
            .collect()
    }

    /// Layers and paths of losers.
    pub fn losers(&self, shadowed: &[Shadowed]) -> Vec<(Layer, String)> {
        shadowed
            .iter()
            .map(|loser| (loser.layer, self.below(&loser.path).to_owned()))
            .collect()
    }
}

pub fn definition(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}\n---\nDo {name}.\n")
}

pub fn agent<'s>(scanned: &'s Scanned, name: &str) -> &'s Agent {
    let found: Vec<&Agent> = scanned.agents.iter().filter(|agent| agent.name == name).collect();
    assert_eq!(found.len(), 1, "one agent {name} in {:?}", agent_names(scanned));
    found[0]
}

pub fn skill<'s>(scanned: &'s Scanned, name: &str) -> &'s Skill {
    let found: Vec<&Skill> = scanned.skills.iter().filter(|skill| skill.name == name).collect();
    assert_eq!(found.len(), 1, "one skill {name} in {:?}", skill_names(scanned));
    found[0]
}

pub fn agent_names(scanned: &Scanned) -> Vec<&str> {
    scanned.agents.iter().map(|agent| agent.name.as_str()).collect()
}

pub fn skill_names(scanned: &Scanned) -> Vec<&str> {
    scanned.skills.iter().map(|skill| skill.name.as_str()).collect()
}

/// The one diagnostic with this code.
pub fn only<'s>(scanned: &'s Scanned, code: &str) -> &'s Diagnostic {
    let found: Vec<&Diagnostic> = scanned
        .diagnostics
        .iter()
        .filter(|found| found.code == code)
        .collect();
    assert_eq!(found.len(), 1, "one {code} in {:?}", scanned.diagnostics);
    found[0]
}
