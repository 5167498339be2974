//! Skills that were installed from a marketplace.

use compozy_domain::{Layer, Severity};
use compozy_resolver::ContentHash;

use crate::world::{World, definition, only, skill};

/// Writes the description that fits the skill in this directory.
pub fn install(world: &World, directory: &str) {
    let hash = ContentHash::of(&world.place.read(&format!("{directory}/SKILL.md")));
    let digits: String = hash.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let meta = format!("{{\"slug\": \"@a/b\", \"version\": \"1.0.0\", \"sha256\": \"{digits}\"}}\n");
    world
        .place
        .write(&format!("{directory}/.compozy-meta.json"), meta);
}

#[test]
fn r225_an_installed_skill_that_was_changed_is_not_used() {
    let world = World::new();
    world.skill("h/skills/group/m", "m");
    install(&world, "h/skills/group/m");
    let scanned = world.scan();
    let found = skill(&scanned, "m");
    assert_eq!((found.layer, found.usable), (Layer::Marketplace, true));
    assert_eq!(scanned.diagnostics, []);

    let changed = definition("m").replace("Do m.", "Do n.");
    world.place.write("h/skills/group/m/SKILL.md", changed);
    let scanned = world.scan();
    let found = skill(&scanned, "m");
    assert_eq!((found.layer, found.usable), (Layer::Marketplace, false));
    let told = only(&scanned, "marketplace_mismatch");
    assert_eq!(
        (told.severity, told.layer),
        (Severity::Error, Some(Layer::Marketplace))
    );
    assert_eq!(told.path, found.path);
    assert_eq!(found.diagnostics, std::slice::from_ref(told));
}

#[test]
fn a_description_without_a_hash_keeps_the_skill_from_being_used() {
    let world = World::new();
    world.skill("h/skills/m", "m");
    for bad in ["", "{}", "[]", "{\"sha256\": 1}", "{\"sha256\": \"abc\"}"] {
        world.place.write("h/skills/m/.compozy-meta.json", bad);
        let scanned = world.scan();
        let found = skill(&scanned, "m");
        assert_eq!((found.layer, found.usable), (Layer::Marketplace, false), "{bad}");
        let told = only(&scanned, "marketplace_meta_invalid");
        assert_eq!(world.below(&told.path), "h/skills/m/.compozy-meta.json");
    }
    world.remove("h/skills/m");
    world.skill("h/skills/m", "m");
    world.place.make("h/skills/m/.compozy-meta.json");
    assert!(!skill(&world.scan(), "m").usable, "not a regular file");
}

#[test]
fn only_the_users_own_directory_holds_installed_skills() {
    let world = World::new();
    world.skill("r/.compozy/skills/m", "m");
    world
        .place
        .write("r/.compozy/skills/m/.compozy-meta.json", "nonsense");
    world.skill("o/.agents/skills/n", "n");
    world
        .place
        .write("o/.agents/skills/n/.compozy-meta.json", "nonsense");
    let scanned = world.scan();
    assert_eq!(skill(&scanned, "m").layer, Layer::Workspace);
    assert_eq!(skill(&scanned, "n").layer, Layer::User);
    assert_eq!(scanned.diagnostics, []);
}
