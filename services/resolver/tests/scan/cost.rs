//! What a scan looks at.

use crate::world::World;

#[test]
fn a_thousand_skills_cost_a_directory_and_a_file_each() {
    let world = World::new();
    for number in 0..1_000 {
        world.skill(&format!("h/skills/s{number}"), &format!("s{number}"));
        world.place.write(&format!("h/skills/s{number}/LICENSE"), "");
    }
    let (scanned, watched) = world.scan_watched();
    assert_eq!(scanned.skills.len(), 1_000);
    let below = world.place.at("h/skills");
    let count = watched.paths().filter(|path| path.starts_with(&below)).count();
    assert_eq!(count, 2_001);
    assert!(watched.len() < 2_020, "{}", watched.len());
}

#[test]
fn files_beside_a_definition_are_not_looked_at_unless_they_mean_something() {
    let world = World::new();
    world.skill("h/skills/x", "x");
    for file in ["README.md", "mcp.json", "skill.yaml", "scripts/run.sh"] {
        world.place.write(&format!("h/skills/x/{file}"), "{}");
    }
    let (_, watched) = world.scan_watched();
    let mut paths: Vec<&str> = watched
        .paths()
        .map(|path| world.below(path))
        .filter(|path| path.starts_with("h/skills/x"))
        .collect();
    paths.sort_unstable();
    assert_eq!(
        paths,
        [
            "h/skills/x",
            "h/skills/x/SKILL.md",
            "h/skills/x/mcp.json",
            "h/skills/x/scripts"
        ]
    );
}
