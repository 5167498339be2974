//! What lies on the disk, found without the scanner that is to be judged.

use std::path::{Path, PathBuf};

use crate::Result;

/// Directories that no scan enters below a base.
const SKIPPED: [&str; 2] = [".git", "node_modules"];

/// The definitions of a repository and the places that it keeps them in.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Every `SKILL.md` and `AGENT.md`, links included.
    pub(crate) definitions: Vec<PathBuf>,
    /// Directories called `skills` that hold skills, the outermost of each nest.
    pub(crate) bases: Vec<PathBuf>,
    /// Directories other than the root whose `.compozy` holds agents.
    pub(crate) roots: Vec<PathBuf>,
}

/// Looks through a repository.
pub(crate) fn find(root: &Path) -> Result<Found> {
    let mut found = Found::default();
    walk(root, root, &mut found)?;
    found.definitions.sort();
    found.bases.sort();
    found.roots.sort();
    Ok(found)
}

impl Found {
    /// The definitions that a scan of these places has to find: skills below a base, agents of a `.compozy`.
    pub(crate) fn in_reach(&self, root: &Path) -> Vec<&PathBuf> {
        let definitions = self.definitions.iter();
        definitions.filter(|path| self.reaches(root, path)).collect()
    }

    fn reaches(&self, root: &Path, path: &Path) -> bool {
        if path.ends_with("AGENT.md") {
            let roots = std::iter::once(root).chain(self.roots.iter().map(PathBuf::as_path));
            let mut bases = roots.map(|root| root.join(".compozy/agents"));
            return bases.any(|base| path.parent().and_then(Path::parent) == Some(&base));
        }
        self.bases.iter().any(|base| {
            path.strip_prefix(base)
                .is_ok_and(|below| !below.iter().any(|name| is_skipped(&name.to_string_lossy())))
        })
    }
}

fn is_skipped(name: &str) -> bool {
    name.starts_with('.') || SKIPPED.contains(&name)
}

/// Adds what lies in a directory; answers whether a skill lies below it.
fn walk(root: &Path, directory: &Path, found: &mut Found) -> Result<bool> {
    let mut has_skill = false;
    let bases_before = found.bases.len();
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        if entry.file_type()?.is_dir() {
            if !SKIPPED.contains(&&*name.to_string_lossy()) {
                has_skill |= walk(root, &path, found)?;
            }
        } else if name == "SKILL.md" {
            has_skill = true;
            found.definitions.push(path);
        } else if name == "AGENT.md" {
            note_root(root, &path, found);
            found.definitions.push(path);
        }
    }
    if has_skill && directory.ends_with("skills") {
        // Those further in are covered by this one.
        found.bases.truncate(bases_before);
        found.bases.push(directory.to_owned());
    }
    Ok(has_skill)
}

/// Notes the directory whose `.compozy/agents/<name>` holds an agent.
fn note_root(root: &Path, agent: &Path, found: &mut Found) {
    let Some(base) = agent.ancestors().nth(2) else {
        return;
    };
    let Some(owner) = base.ancestors().nth(2) else {
        return;
    };
    let is_new = owner != root && !found.roots.iter().any(|known| known == owner);
    if base.ends_with(".compozy/agents") && is_new {
        found.roots.push(owner.to_owned());
    }
}
