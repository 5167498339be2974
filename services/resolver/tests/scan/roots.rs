//! Additional roots and custom sources that are not what they were.

use compozy_domain::{Layer, Severity};

use crate::world::{World, agent_names, only, skill_names};

#[test]
fn r192_r193_an_additional_root_that_is_gone_is_told_and_the_others_are_read() {
    let mut world = World::new();
    world.add_roots(&["x1", "x2"]);
    world.agent("r/.compozy/agents/a", "a");
    world.agent("x1/.compozy/agents/b", "b");
    world.agent("x2/.compozy/agents/c", "c");
    world.skill("x2/.compozy/skills/d", "d");
    world.remove("x1");
    let scanned = world.scan();
    assert_eq!(agent_names(&scanned), ["a", "c"]);
    assert_eq!(skill_names(&scanned), ["d"]);
    let told = only(&scanned, "additional_root_missing");
    assert_eq!(world.below(&told.path), "x1");
    assert_eq!(
        (told.severity, told.layer),
        (Severity::Warning, Some(Layer::Additional))
    );
    assert!(!told.remedy.is_empty());

    world.place.write("x1", "a file");
    let scanned = world.scan();
    assert_eq!(agent_names(&scanned), ["a", "c"]);
    assert_eq!(
        world.below(&only(&scanned, "additional_root_not_directory").path),
        "x1"
    );
    assert_eq!(scanned.diagnostics.len(), 1);
}

#[test]
fn a_file_on_the_way_to_a_base_is_the_same_as_nothing() {
    let mut world = World::new();
    world.add_roots(&["x1"]);
    world.place.write("x1/.compozy", "");
    world.place.write("r/.agents", "");
    assert_eq!(world.told(&world.scan()), []);
}

#[test]
fn r184_a_custom_source_that_is_missing_is_not_readable() {
    let mut world = World::new();
    world.add_custom("kit");
    world.skill("r/.compozy/skills/a", "a");
    let scanned = world.scan();
    assert_eq!(skill_names(&scanned), ["a"]);
    let source = &scanned.sources[1];
    assert_eq!((source.name.as_str(), source.layer), ("kit", Layer::Additional));
    assert!(!source.readable);
    let told = only(&scanned, "skill_source_missing");
    assert_eq!(told.severity, Severity::Warning);
    assert_eq!(world.below(&told.path), "kit");
}

#[test]
fn absent_bases_are_watched_so_that_the_first_definition_is_seen() {
    let mut world = World::with_profile();
    world.add_roots(&["x1"]);
    world.add_custom("kit");
    let (scanned, watched) = world.scan_watched();
    assert_eq!(scanned.sources.len(), 1, "only the custom one is listed");
    let paths: Vec<&str> = watched.paths().map(|path| world.below(path)).collect();
    for base in [
        "r/.compozy/profiles/p/agents",
        "r/.compozy/agents",
        "x1/.compozy/agents",
        "h/profiles/p/agents",
        "h/agents",
        "r/.compozy/profiles/p/skills",
        "r/.compozy/profiles/p/.agents/skills",
        "r/.compozy/skills",
        "r/.agents/skills",
        "x1/.compozy/skills",
        "x1/.agents/skills",
        "kit",
        "h/profiles/p/skills",
        "h/profiles/p/.agents/skills",
        "h/skills",
        "o/.agents/skills",
    ] {
        assert!(paths.contains(&base), "{base}");
    }
    assert!(
        !paths.iter().any(|path| path.contains(".claude")),
        "it is switched off"
    );
}
