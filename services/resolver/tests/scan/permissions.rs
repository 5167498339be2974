//! What the daemon's user may not read. Each test gives root's privileges over files up for its own thread.

use compozy_domain::{Layer, Severity};
use compozy_resolver::testing::drop_file_privileges;

use crate::world::{World, agent, only, skill, skill_names};

#[test]
fn r151_a_closed_file_or_directory_is_a_broken_agent_that_shadows() {
    drop_file_privileges();
    let world = World::new();
    for name in ["file", "directory"] {
        world.agent(&format!("r/.compozy/agents/{name}"), name);
        world.agent(&format!("h/agents/{name}"), name);
    }
    let _file = world.place.set_mode("r/.compozy/agents/file/AGENT.md", 0o000);
    let _directory = world.place.set_mode("r/.compozy/agents/directory", 0o000);
    let scanned = world.scan();
    for name in ["file", "directory"] {
        let found = agent(&scanned, name);
        assert_eq!((found.layer, found.usable), (Layer::Workspace, false), "{name}");
        assert_eq!(
            world.below(&found.path),
            format!("r/.compozy/agents/{name}/AGENT.md")
        );
        assert!(
            found
                .diagnostics
                .iter()
                .any(|told| told.severity == Severity::Error)
        );
        assert_eq!(found.shadowed.len(), 1);
    }
}

#[test]
fn r184_a_custom_source_that_is_closed_is_not_readable() {
    drop_file_privileges();
    let mut world = World::new();
    world.add_custom("kit");
    world.skill("kit/x", "x");
    world.skill("h/skills/a", "a");
    let _mode = world.place.set_mode("kit", 0o000);
    let scanned = world.scan();
    assert_eq!(skill_names(&scanned), ["a"]);
    assert!(!scanned.sources[0].readable);
    let told = only(&scanned, "directory_unreadable");
    assert_eq!(
        (told.severity, world.below(&told.path)),
        (Severity::Warning, "kit")
    );
}

#[test]
fn closed_directories_and_files_in_a_base_are_told_and_the_rest_is_found() {
    drop_file_privileges();
    let world = World::new();
    world.skill("h/skills/a", "a");
    world.skill("h/skills/group/b", "b");
    world.skill("h/skills/z", "z");
    let _group = world.place.set_mode("h/skills/group", 0o000);
    let _file = world.place.set_mode("h/skills/a/SKILL.md", 0o000);
    let scanned = world.scan();
    assert_eq!(skill_names(&scanned), ["a", "z"]);
    assert!(!skill(&scanned, "a").usable);
    let told = only(&scanned, "directory_unreadable");
    assert_eq!(world.below(&told.path), "h/skills/group");
    assert_eq!(told.severity, Severity::Error);
    assert!(scanned.sources[0].readable);
}

#[test]
fn a_closed_base_is_told() {
    drop_file_privileges();
    let world = World::new();
    world.skill("h/skills/a", "a");
    world.agent("h/agents/a", "a");
    let _skills = world.place.set_mode("h/skills", 0o000);
    let _agents = world.place.set_mode("h/agents", 0o000);
    let scanned = world.scan();
    assert!(!scanned.sources[0].readable);
    assert_eq!(
        world.told(&scanned),
        [
            ("directory_unreadable", "h/agents".to_owned()),
            ("directory_unreadable", "h/skills".to_owned()),
        ]
    );
}

#[test]
fn a_closed_directory_behind_a_link_matters_only_inside() {
    drop_file_privileges();
    let world = World::new();
    world.skill("h/skills/a", "a");
    world.place.make("outside");
    world.place.make("h/agents/closed");
    world.place.link(&world.place.at("outside"), "h/skills/out");
    world.place.link("../agents/closed", "h/skills/in");
    let _outside = world.place.set_mode("outside", 0o000);
    let _inside = world.place.set_mode("h/agents/closed", 0o000);
    let scanned = world.scan();
    assert_eq!(world.below(&only(&scanned, "escape").path), "h/skills/out");
    assert_eq!(
        world.below(&only(&scanned, "directory_unreadable").path),
        "h/skills/in"
    );
}

#[test]
fn a_link_to_a_closed_agent_is_a_broken_agent_that_shadows() {
    drop_file_privileges();
    let world = World::new();
    world.agent("h/agents/group/x", "x");
    world.agent("h/agents/x", "x");
    world.place.make("r/.compozy/agents");
    world
        .place
        .link(&world.place.at("h/agents/group/x"), "r/.compozy/agents/x");
    let _mode = world.place.set_mode("h/agents/group/x", 0o000);
    let scanned = world.scan();
    let found = agent(&scanned, "x");
    assert_eq!((found.layer, found.usable), (Layer::Workspace, false));
    assert_eq!(found.shadowed.len(), 1);
}
