//! Whatever happens to the files: what is kept is what would be read.

use std::path::Path;
use std::sync::Arc;

use compozy_domain::{Clock, Timestamp, WorkspaceId};
use compozy_resolver::AllowedRoots;
use compozy_resolver::cache::{Bounds, Cache, Key};
use compozy_resolver::snapshot::{ResolveFault, Snapshot};
use proptest::prelude::*;

use crate::support::{ID1, ID2, NOW, file};
use crate::world::{LONG, World, content, skill};

const PATHS: [&str; 26] = [
    "h/config.toml",
    "h/mcp.json",
    "h/agents/a/AGENT.md",
    "h/skills/s/SKILL.md",
    "h/profiles/p/config.toml",
    "h/profiles/p/skills/s/SKILL.md",
    "h/profiles/ghost/mcp.json",
    "o/.agents/skills/s/SKILL.md",
    "r/.env",
    "r/.compozy/workspace.toml",
    "r/.compozy/config.toml",
    "r/.compozy/mcp.json",
    "r/.compozy/agents/a/AGENT.md",
    "r/.compozy/agents/a/mcp.json",
    "r/.compozy/agents/a/skills/s/SKILL.md",
    "r/.compozy/agents/b/AGENT.md",
    "r/.compozy/skills/s/SKILL.md",
    "r/.compozy/skills/g/s/SKILL.md",
    "r/.compozy/skills/g/t/skill.md",
    "r/.compozy/profiles/p/mcp.json",
    "r/.compozy/profiles/ghost/config.toml",
    "r/.agents/skills/t/SKILL.md",
    "r/tools/t/SKILL.md",
    "x/.compozy/agents/a/AGENT.md",
    "x/.compozy/skills/s/SKILL.md",
    "y/SKILL.md",
];

#[derive(Debug, Clone)]
enum Edit {
    /// Puts the content of this number into a file.
    Write(usize, usize),
    /// Removes a path, or a directory above it.
    Remove(usize, usize),
    /// Puts a link to one path, or a directory above it, into the place of another.
    Link(usize, usize, usize),
    /// Moves what is at one path, or above it, to another.
    Move(usize, usize, usize),
    /// Lets some time pass.
    Age,
}

fn edits() -> impl Strategy<Value = Edit> {
    let path = || 0..PATHS.len();
    let up = || 0..3_usize;
    prop_oneof![
        6 => (path(), 0..8_usize).prop_map(|(path, content)| Edit::Write(path, content)),
        2 => (path(), up()).prop_map(|(path, up)| Edit::Remove(path, up)),
        1 => (path(), path(), up()).prop_map(|(from, to, up)| Edit::Link(from, to, up)),
        1 => (path(), path(), up()).prop_map(|(from, to, up)| Edit::Move(from, to, up)),
        2 => Just(Edit::Age),
    ]
}

/// A content for a file, mostly a good one.
fn text(path: &str, number: usize) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    match (name, number) {
        ("workspace.toml", 0) => file(ID2),
        ("workspace.toml", _) => file(ID1),
        (_, 7) => "[broken".to_owned(),
        ("AGENT.md" | "SKILL.md", 3) => "---\nbroken: [\n".to_owned(),
        ("config.toml", 0) => "[skills]\ncustom_sources = []\n".to_owned(),
        ("config.toml", 1) => "[defaults]\nprovider = \"x\"\n".to_owned(),
        ("config.toml", _) if path.starts_with("r/") => "[skills]\ncustom_sources = [\"tools\"]\n".to_owned(),
        ("mcp.json", 0) => "{}".to_owned(),
        ("mcp.json", number) => format!("{{\"mcpServers\": {{\"s\": {{\"command\": \"c{number}\"}}}}}}"),
        (".env", number) => format!("COMPOZY_HOME=/{number}\n"),
        ("AGENT.md", number) => format!("---\nname: a\ndescription: d\n---\nprompt {number}\n"),
        (_, number) => skill("s", &number.to_string()),
    }
}

/// A path and the directories above it, without the roots themselves.
fn above(path: &str, up: usize) -> &str {
    let mut path = path;
    for _ in 0..up {
        match path.rsplit_once('/') {
            Some((above, _)) if above.contains('/') => path = above,
            _ => break,
        }
    }
    path
}

/// Does what can be done; what can't (a directory in the way) is no edit.
fn apply(world: &World, edit: &Edit) {
    let at = |path: &str| world.at(path);
    let make_room = |path: &str| {
        let _ = std::fs::create_dir_all(Path::new(&at(path)).parent().unwrap());
    };
    match edit {
        Edit::Write(path, number) => {
            let path = PATHS[*path];
            make_room(path);
            let _ = std::fs::write(at(path), text(path, *number));
        }
        Edit::Remove(path, up) => {
            let path = at(above(PATHS[*path], *up));
            if std::fs::remove_file(&path).is_err() {
                let _ = std::fs::remove_dir_all(&path);
            }
        }
        Edit::Link(from, to, up) => {
            let (from, to) = (above(PATHS[*from], *up), above(PATHS[*to], *up));
            make_room(from);
            let _ = std::os::unix::fs::symlink(at(to), at(from));
        }
        Edit::Move(from, to, up) => {
            let (from, to) = (above(PATHS[*from], *up), above(PATHS[*to], *up));
            make_room(to);
            let _ = std::fs::rename(at(from), at(to));
        }
        Edit::Age => world.files.age(LONG),
    }
}

#[derive(Debug)]
struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        NOW
    }
}

fn outcome(result: Result<Arc<Snapshot>, ResolveFault>) -> Result<Snapshot, ResolveFault> {
    result.map(|snapshot| content(&snapshot))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn r198_r213_what_is_kept_is_what_would_be_read(
        edits in prop::collection::vec(edits(), 1..30),
        is_restricted in any::<bool>(),
    ) {
        let mut world = World::with_profile();
        world.request.additional_dirs = vec![world.at("x"), world.at("r/tools")];
        if is_restricted {
            world.request.allowed = AllowedRoots::Only(vec![world.at("r"), world.at("x/.compozy")]);
        }
        let cache = Cache::new(Arc::new(Still), Bounds::default());
        let key = Key {
            workspace_id: WorkspaceId::parse("ws_0000000000000001").unwrap(),
            profile: world.request.profile.clone(),
            is_restricted,
        };
        for edit in &edits {
            apply(&world, edit);
            let kept = outcome(cache.resolve(&world.files, &key, &world.request, false, &|| {}));
            let fresh = outcome(world.try_resolve().map(Arc::new));
            prop_assert_eq!(&kept, &fresh, "after {:?}", edit);
            if let (Ok(kept), Ok(fresh)) = (kept, fresh) {
                prop_assert_eq!(kept.fingerprint, fresh.fingerprint);
            }
        }
    }
}
