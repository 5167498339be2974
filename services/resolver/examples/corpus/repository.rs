//! One repository. It is resolved twice over: as a whole, with everything switched on that it keeps skills in, to
//! see that no file is missing; and each of these places on its own, so that what one place has is not hidden by
//! another that has the same name, to see what becomes of each file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use compozy_domain::{Diagnostic, Severity, Timestamp};
use compozy_resolver::definition::{Shadowed, Skill};
use compozy_resolver::snapshot::{Request, Snapshot, resolve};
use compozy_resolver::{AllowedRoots, Disk};

use crate::Result;
use crate::disk::Found;
use crate::time::Times;

/// What became of the definitions of a repository. Paths are relative to it.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) name: String,
    /// On the disk.
    pub(crate) files: usize,
    /// Of those, below a place that is scanned.
    pub(crate) in_reach: usize,
    /// Of those, in the answer for the whole repository.
    pub(crate) in_answer: usize,
    /// In that answer behind another one of their name.
    pub(crate) shadowed: usize,
    /// On their own: without an error.
    pub(crate) usable: usize,
    /// Usable ones of which something had to be recovered.
    pub(crate) recovered: usize,
    /// On their own: those with an error.
    pub(crate) broken: BTreeMap<String, Vec<Diagnostic>>,
    /// On their own: behind another one of their name in the same place.
    pub(crate) repeated: usize,
    /// Findings about the whole repository by severity and code.
    pub(crate) findings: BTreeMap<(Severity, &'static str), usize>,
    /// In reach and in no answer.
    pub(crate) missing: Vec<String>,
    pub(crate) times: Times,
}

/// What an answer says about each file.
#[derive(Debug, Default)]
struct Verdicts {
    usable: BTreeSet<String>,
    broken: BTreeMap<String, Vec<Diagnostic>>,
    shadowed: BTreeSet<String>,
    recovered: BTreeSet<String>,
}

impl Report {
    /// Resolves a repository and looks its files up.
    pub(crate) fn of(root: &Path, found: &Found) -> Result<Self> {
        let home = tempfile::tempdir()?;
        let custom = found.bases.iter().filter(|base| !is_convention(root, base));
        let request = request(root, home.path(), custom, &found.roots)?;
        let whole = snapshot(&request)?;
        let of_whole = Verdicts::of(&whole);
        let alone = alone(root, found, &of_whole)?;
        let in_reach: Vec<String> = found.in_reach(root).into_iter().map(|path| text(path)).collect();
        let missing = in_reach
            .iter()
            .filter(|path| !of_whole.hold(path) || !alone.hold(path));
        let missing: Vec<String> = missing.map(|path| below(root, path)).collect();
        let mut findings = BTreeMap::new();
        for diagnostic in &whole.diagnostics {
            *findings
                .entry((diagnostic.severity, diagnostic.code))
                .or_default() += 1;
        }
        let name = root.file_name().map(|name| name.to_string_lossy().into_owned());
        let broken = alone.broken.into_iter();
        Ok(Self {
            name: name.unwrap_or_default(),
            files: found.definitions.len(),
            in_reach: in_reach.len(),
            in_answer: in_reach.iter().filter(|path| of_whole.hold(path)).count(),
            shadowed: in_reach
                .iter()
                .filter(|path| of_whole.shadowed.contains(*path))
                .count(),
            usable: alone.usable.len(),
            recovered: alone.recovered.intersection(&alone.usable).count(),
            repeated: alone.shadowed.len(),
            broken: broken
                .map(|(path, errors)| (below(root, &path), errors))
                .collect(),
            findings,
            missing,
            times: Times::measure(&request)?,
        })
    }
}

impl Verdicts {
    fn of(snapshot: &Snapshot) -> Self {
        let mut verdicts = Self::default();
        for agent in &snapshot.agents {
            verdicts.add(&agent.path, agent.usable, &agent.shadowed);
        }
        let own = snapshot.agent_skills.iter().flat_map(|(_, skills)| skills);
        for Skill {
            path,
            usable,
            shadowed,
            ..
        } in snapshot.skills.iter().chain(own)
        {
            verdicts.add(path, *usable, shadowed);
        }
        for diagnostic in &snapshot.diagnostics {
            if diagnostic.code == "front_matter_recovered" {
                verdicts.recovered.insert(diagnostic.path.clone());
            }
            if let Some(errors) = verdicts.broken.get_mut(&diagnostic.path)
                && diagnostic.severity == Severity::Error
            {
                errors.push(diagnostic.clone());
            }
        }
        verdicts
    }

    fn add(&mut self, path: &str, usable: bool, shadowed: &[Shadowed]) {
        if usable {
            self.usable.insert(path.to_owned());
        } else {
            self.broken.insert(path.to_owned(), Vec::new());
        }
        self.shadowed
            .extend(shadowed.iter().map(|loser| loser.path.clone()));
    }

    fn hold(&self, path: &str) -> bool {
        self.usable.contains(path) || self.broken.contains_key(path) || self.shadowed.contains(path)
    }

    /// Takes over what another answer says about files of one name.
    fn take(&mut self, other: Self, is_wanted: impl Fn(&str) -> bool) {
        let wanted = |paths: BTreeSet<String>| paths.into_iter().filter(|path| is_wanted(path));
        self.usable.extend(wanted(other.usable));
        self.shadowed.extend(wanted(other.shadowed));
        self.recovered.extend(wanted(other.recovered));
        let broken = other.broken.into_iter();
        self.broken.extend(broken.filter(|(path, _)| is_wanted(path)));
    }
}

/// The skills of each base as if there were no other; the agents as they are in the whole.
fn alone(root: &Path, found: &Found, whole: &Verdicts) -> Result<Verdicts> {
    let mut alone = Verdicts::default();
    for base in &found.bases {
        let (home, nowhere) = (tempfile::tempdir()?, tempfile::tempdir()?);
        let empty = nowhere.path().canonicalize()?;
        let request = request(&empty, home.path(), std::iter::once(base), &[])?;
        alone.take(Verdicts::of(&snapshot(&request)?), |_| true);
    }
    let agents = Verdicts {
        usable: whole.usable.clone(),
        broken: whole.broken.clone(),
        shadowed: whole.shadowed.clone(),
        recovered: whole.recovered.clone(),
    };
    alone.take(agents, |path| {
        path.ends_with("/AGENT.md") && Path::new(path).starts_with(root)
    });
    Ok(alone)
}

fn snapshot(request: &Request) -> Result<Snapshot> {
    match resolve(&Disk::new(), request, Timestamp::from_nanos(0)) {
        Ok((snapshot, _)) => Ok(snapshot),
        Err(fault) => Err(format!("{}: {fault:?}", request.root_dir).into()),
    }
}

/// A root, and a home whose configuration switches sources on.
fn request<'b>(
    root: &Path,
    home: &Path,
    bases: impl Iterator<Item = &'b PathBuf>,
    additional: &[PathBuf],
) -> Result<Request> {
    let home = home.canonicalize()?;
    let sources: String = bases.map(|base| format!("  {:?},\n", text(base))).collect();
    let config = format!(
        "[config]\nunknown_keys = \"warn\"\n\n[skills]\nsources = [\"agents\", \"claude\"]\ncustom_sources = [\n{sources}]\n"
    );
    std::fs::write(home.join("config.toml"), config)?;
    Ok(Request {
        home: text(&home),
        operator_home: None,
        root_dir: text(root),
        additional_dirs: additional.iter().map(|root| text(root)).collect(),
        default_agent: String::new(),
        durable_id: None,
        profile: None,
        profile_names: Vec::new(),
        allowed: AllowedRoots::Everything,
    })
}

/// Whether a base is one that a workspace has without being told.
fn is_convention(root: &Path, base: &Path) -> bool {
    let bases = [".compozy/skills", ".agents/skills", ".claude/skills"];
    bases.iter().any(|convention| root.join(convention) == base)
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn below(root: &Path, path: &str) -> String {
    let path = Path::new(path);
    text(path.strip_prefix(root).unwrap_or(path))
}
