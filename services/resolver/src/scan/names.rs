//! Names in the directories of agents and skills: which mean something, which almost do, and their order.

use std::cmp::Ordering;

use crate::files::{Kind, Named};

/// The file of an agent.
pub(super) const AGENT: &str = "AGENT.md";
/// The file of a skill.
pub(super) const SKILL: &str = "SKILL.md";
/// The servers of an agent or skill.
pub(super) const MCP: &str = "mcp.json";
/// What was installed from a marketplace has it.
pub(super) const META: &str = ".compozy-meta.json";
/// The own skills of an agent.
pub(super) const OWN_SKILLS: &str = "skills";

/// Whether a directory of this name is passed over.
pub(super) fn is_skipped(name: &str) -> bool {
    name.starts_with('.') || name == "node_modules"
}

/// Whether a file is called almost, but not quite, as it should.
pub(super) fn is_misspelled(entry: &Named, right: &str) -> bool {
    matches!(entry.kind, Kind::Regular | Kind::Link)
        && entry.name != right
        && entry.name.eq_ignore_ascii_case(right)
}

/// Puts names into the order of the bytes of the paths that begin with them: behind the name of a directory comes a
/// slash, so that `a-b/x` lies before `a/x`.
pub(super) fn sort_by_path(entries: &mut [Named]) {
    entries.sort_by(by_path);
}

/// Whether there is something of this name among names in the order of [`sort_by_path`] or any other.
pub(super) fn has(entries: &[Named], name: &str) -> bool {
    entries.iter().any(|entry| entry.name == name)
}

fn by_path(one: &Named, other: &Named) -> Ordering {
    path_bytes(one).cmp(path_bytes(other))
}

fn path_bytes(entry: &Named) -> impl Iterator<Item = u8> + '_ {
    let slash = matches!(entry.kind, Kind::Directory | Kind::Link).then_some(b'/');
    entry.name.bytes().chain(slash)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, kind: Kind) -> Named {
        Named {
            name: name.to_owned(),
            kind,
        }
    }

    #[test]
    fn the_order_of_names_is_that_of_the_paths_below_them() {
        let mut entries = [
            named("a", Kind::Directory),
            named("a-b", Kind::Directory),
            named("a.md", Kind::Regular),
            named("a0", Kind::Directory),
            named("Z", Kind::Link),
        ];
        sort_by_path(&mut entries);
        let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["Z", "a-b", "a.md", "a", "a0"]);
    }

    #[test]
    fn other_spellings_of_files_are_told_apart() {
        for name in ["skill.md", "SKILL.MD", "Skill.md"] {
            assert!(is_misspelled(&named(name, Kind::Regular), SKILL), "{name}");
        }
        assert!(!is_misspelled(&named("SKILL.md", Kind::Regular), SKILL));
        assert!(!is_misspelled(&named("skills.md", Kind::Regular), SKILL));
        assert!(!is_misspelled(&named("skill.md", Kind::Directory), SKILL));
    }
}
