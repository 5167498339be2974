//! Directories of profiles that nobody knows.

use compozy_domain::{Layer, Severity};
use compozy_resolver::files::faulty::Operation;
use compozy_resolver::testing::drop_file_privileges;

use crate::world::{World, codes};

const CODE: &str = "config_profile_layer_orphaned";

#[test]
fn r113_a_dormant_profile_says_nothing() {
    let mut world = World::with_profile();
    world.request.profile_names.push("q".to_owned());
    world.write("r/.compozy/profiles/q/config.toml", "[broken");
    assert_eq!(world.resolve().diagnostics, []);
}

#[test]
fn r114_r119_an_orphaned_layer_is_told_until_its_profile_exists() {
    let mut world = World::new();
    world.write(
        "h/profiles/ghost/config.toml",
        "[defaults]\nprovider = \"ghost\"\n",
    );
    world.write(
        "r/.compozy/profiles/ghost/mcp.json",
        "{\"mcpServers\": {\"s\": {\"command\": \"c\"}}}",
    );
    let snapshot = world.resolve();
    assert_eq!(codes(&snapshot.diagnostics), [CODE, CODE]);
    let [of_home, of_root] = &snapshot.diagnostics[..] else {
        panic!("two");
    };
    assert_eq!(of_home.path, world.at("h/profiles/ghost/config.toml"));
    assert_eq!(of_home.layer, Some(Layer::Profile));
    assert_eq!(of_root.path, world.at("r/.compozy/profiles/ghost/mcp.json"));
    assert_eq!(of_root.layer, Some(Layer::WorkspaceProfile));
    for diagnostic in [of_home, of_root] {
        assert_eq!(diagnostic.profile.as_deref(), Some("ghost"));
        assert_eq!(diagnostic.severity, Severity::Warning);
        assert!(diagnostic.remedy.contains("compozy profile create ghost"));
    }
    assert_eq!(snapshot.config.text("defaults.provider").unwrap_or_default(), "");
    assert!(snapshot.config.servers().is_empty());

    world.request.profile_names = vec!["ghost".to_owned()];
    assert_eq!(world.resolve().diagnostics, []);
    world.request.profile = Some("ghost".to_owned());
    let adopted = world.resolve();
    assert_eq!(adopted.config.text("defaults.provider"), Some("ghost"));
    assert_eq!(adopted.config.servers().len(), 1);
}

#[test]
fn r115_an_orphaned_file_is_never_opened() {
    drop_file_privileges();
    let world = World::new();
    world.write("h/profiles/ghost/mcp.json", "{}");
    let _mode = world.place.set_mode("h/profiles/ghost/mcp.json", 0o000);
    assert_eq!(codes(&world.resolve().diagnostics), [CODE]);
    for operation in [
        Operation::ReadFile,
        Operation::Open,
        Operation::Enter,
        Operation::Names,
    ] {
        let paths = world.files.paths(operation);
        assert!(
            paths.iter().all(|path| !path.contains("ghost")),
            "{operation:?} {paths:?}"
        );
    }
}

#[test]
fn r116_r117_only_regular_files_of_the_configuration_make_an_orphan() {
    let world = World::new();
    world.agent("h/profiles/ghost", "a", "prompt");
    world.skill("r/.compozy/profiles/ghost/skills", "s", "text");
    world.write("good.toml", "");
    world
        .place
        .link(&world.at("good.toml"), "h/profiles/ghost/config.toml");
    std::fs::create_dir(world.at("h/profiles/ghost/mcp.json")).unwrap();
    world.write("h/profiles/file", "not a directory");
    world.place.make("elsewhere");
    world.write("elsewhere/config.toml", "");
    world.place.link("../../elsewhere", "h/profiles/linked");
    let snapshot = world.resolve();
    assert_eq!(snapshot.diagnostics, []);
    assert!(snapshot.agents.is_empty() && snapshot.skills.is_empty());
}

#[test]
fn r118_the_directory_of_an_archived_profile_is_its_own() {
    let mut world = World::new();
    world.write("h/profiles/old/config.toml", "");
    world.request.profile_names = vec!["old".to_owned()];
    assert_eq!(world.resolve().diagnostics, []);
}

#[test]
fn a_name_that_no_profile_can_have_is_told_with_another_remedy() {
    let world = World::new();
    for name in ["My Profile", "all"] {
        world.write(&format!("h/profiles/{name}/config.toml"), "");
    }
    let snapshot = world.resolve();
    assert_eq!(codes(&snapshot.diagnostics), [CODE, CODE]);
    for diagnostic in &snapshot.diagnostics {
        assert!(!diagnostic.remedy.contains("create"), "{}", diagnostic.remedy);
    }
}

#[test]
fn the_home_below_the_root_has_its_orphans_once() {
    let mut world = World::new();
    world.write("o/.compozy/profiles/ghost/config.toml", "");
    world.request.home = world.at("o/.compozy");
    world.request.root_dir = world.at("o");
    world.request.durable_id = None;
    let snapshot = world.resolve();
    assert_eq!(codes(&snapshot.diagnostics), [CODE]);
    assert_eq!(snapshot.diagnostics[0].layer, Some(Layer::Profile));
}
