//! Which files are the configuration, and what is in the way of one.

use compozy_domain::{Layer, Severity};
use compozy_resolver::snapshot::{ResolveFault, Snapshot};
use compozy_resolver::testing::drop_file_privileges;

use crate::support::make_pipe;
use crate::world::{World, agents, codes};

fn provider(snapshot: &Snapshot) -> Option<&str> {
    snapshot
        .config
        .text("defaults.provider")
        .filter(|text| !text.is_empty())
}

fn config(provider: &str) -> String {
    format!("[defaults]\nprovider = \"{provider}\"\n")
}

#[test]
fn r010_nothing_anywhere_is_the_built_in_defaults() {
    let snapshot = World::new().resolve();
    assert_eq!(snapshot.config.text("defaults.agent"), Some("general"));
    assert_eq!(snapshot.config.text("permissions.mode"), Some("approve-all"));
    assert_eq!(snapshot.diagnostics, []);
    assert!(snapshot.agents.is_empty() && snapshot.skills.is_empty() && !snapshot.truncated);
}

#[test]
fn r012_the_later_layer_wins_and_the_next_one_when_it_is_gone() {
    let world = World::with_profile();
    let layers = [
        ("h/config.toml", Layer::User),
        ("h/profiles/p/config.toml", Layer::Profile),
        ("r/.compozy/config.toml", Layer::Workspace),
        ("r/.compozy/profiles/p/config.toml", Layer::WorkspaceProfile),
    ];
    for (path, layer) in layers {
        world.write(path, &config(layer.as_str()));
    }
    for (path, layer) in layers.into_iter().rev() {
        let snapshot = world.resolve();
        assert_eq!(provider(&snapshot), Some(layer.as_str()));
        let origin = snapshot.config.origin("defaults.provider").unwrap();
        assert_eq!(
            (origin.layer, origin.path.as_deref()),
            (layer, Some(&*world.at(path)))
        );
        world.remove(path);
    }
    assert_eq!(provider(&world.resolve()), None);
}

#[test]
fn r013_r014_the_record_beats_every_file() {
    let mut world = World::with_profile();
    world.write(
        "r/.compozy/profiles/p/config.toml",
        "[defaults]\nagent = \"file\"\n",
    );
    world.request.default_agent = "row".to_owned();
    let snapshot = world.resolve();
    assert_eq!(snapshot.config.text("defaults.agent"), Some("row"));
    let origin = snapshot.config.origin("defaults.agent").unwrap();
    assert_eq!((origin.layer, &origin.path), (Layer::Registration, &None));
    world.request.default_agent = String::new();
    assert_eq!(world.resolve().config.text("defaults.agent"), Some("file"));
}

#[test]
fn r017_the_default_profile_has_no_directories() {
    let world = World::new();
    world.write("h/profiles/default/config.toml", &config("x"));
    world.write("r/.compozy/profiles/default/config.toml", &config("y"));
    let snapshot = world.resolve();
    assert_eq!(provider(&snapshot), None);
    assert_eq!(snapshot.diagnostics, []);
}

#[test]
fn r018_an_additional_root_gives_agents_and_no_configuration() {
    let mut world = World::new();
    world.write("x/.compozy/config.toml", "[broken");
    world.write(
        "x/.compozy/mcp.json",
        "{\"mcpServers\": {\"s\": {\"command\": \"c\"}}}",
    );
    world.agent("x/.compozy", "x", "prompt");
    world.request.additional_dirs = vec![world.at("x")];
    let snapshot = world.resolve();
    assert!(snapshot.config.servers().is_empty());
    assert_eq!(agents(&snapshot), ["x"]);
    assert_eq!(snapshot.agents[0].layer, Layer::Additional);
    assert_eq!(snapshot.diagnostics, []);
}

#[test]
fn r019_the_current_directory_is_not_looked_at() {
    let world = World::new();
    world.agent("elsewhere/.compozy", "y", "prompt");
    std::env::set_current_dir(world.at("elsewhere")).unwrap();
    let snapshot = world.resolve();
    std::env::set_current_dir("/").unwrap();
    assert!(snapshot.agents.is_empty());
}

#[test]
fn r020_the_home_below_the_root_is_the_user_layer_once() {
    for through_link in [false, true] {
        let mut world = World::with_profile();
        let home = if through_link { "kept" } else { "o/.compozy" };
        world.write(
            &format!("{home}/config.toml"),
            "[[automation.jobs]]\nname = \"j\"\n",
        );
        world.write(&format!("{home}/profiles/p/config.toml"), &config("of-p"));
        world.agent(home, "a", "prompt");
        world.skill(&format!("{home}/skills"), "s", "text");
        world.skill("o/.agents/skills", "t", "text");
        if through_link {
            world.place.link("../kept", "o/.compozy");
        }
        world.request.home = world.at(home);
        world.request.root_dir = world.at("o");
        world.request.durable_id = None;
        let snapshot = world.resolve();
        let jobs = snapshot.config.tree_with_secrets()["automation"]
            .as_table()
            .unwrap();
        let compozy_resolver::value::Value::List(jobs) = &jobs["jobs"] else {
            panic!("a list");
        };
        assert_eq!(jobs.len(), 1);
        let leaves = snapshot.config.leaves().iter();
        let origins: Vec<Layer> = leaves
            .filter(|leaf| leaf.key.starts_with("automation.jobs"))
            .map(|leaf| leaf.winner.layer)
            .collect();
        assert!(origins.iter().all(|layer| *layer == Layer::User) && !origins.is_empty());
        let profile = snapshot.config.origin("defaults.provider").unwrap();
        assert_eq!(profile.layer, Layer::Profile);
        assert_eq!(
            (snapshot.agents.len(), snapshot.agents[0].layer),
            (1, Layer::User)
        );
        assert_eq!(snapshot.agents[0].shadowed, []);
        let layers: Vec<Layer> = snapshot.skills.iter().map(|skill| skill.layer).collect();
        assert_eq!(layers, [Layer::User, Layer::User]);
        assert_eq!(snapshot.diagnostics, []);
    }
}

#[test]
fn r021_r022_the_env_file_of_a_root_moves_nothing() {
    let world = World::new();
    world.write("other/config.toml", &config("other"));
    world.write("h/config.toml", &config("home"));
    let other = world.at("other");
    world.write(
        "r/.env",
        &format!("COMPOZY_HOME={other}\nCOMPOZY_PROFILE=p\nKEY=s3cr3t\n"),
    );
    world.write("h/profiles/p/config.toml", &config("p"));
    let mut world = world;
    world.request.profile_names = vec!["p".to_owned()];
    let snapshot = world.resolve();
    assert_eq!(provider(&snapshot), Some("home"));
    let about: Vec<_> = snapshot.diagnostics.iter().collect();
    assert!(
        about
            .iter()
            .all(|diagnostic| diagnostic.path == world.at("r/.env"))
    );
    assert!(
        about
            .iter()
            .any(|diagnostic| diagnostic.message.contains("COMPOZY_HOME")
                || diagnostic.key.as_deref() == Some("COMPOZY_HOME"))
    );
    let text = format!("{:?}", snapshot.diagnostics);
    assert!(!text.contains("s3cr3t") && !text.contains(&other), "{text}");
}

#[test]
fn an_env_file_that_is_none_is_told() {
    let world = World::new();
    std::fs::create_dir(world.at("r/.env")).unwrap();
    let snapshot = world.resolve();
    assert_eq!(snapshot.diagnostics.len(), 1);
    assert_eq!(snapshot.diagnostics[0].path, world.at("r/.env"));
}

/// Every file of the configuration that a resolve with the profile `p` reads.
const FILES: [&str; 8] = [
    "h/config.toml",
    "h/mcp.json",
    "h/profiles/p/config.toml",
    "h/profiles/p/mcp.json",
    "r/.compozy/config.toml",
    "r/.compozy/mcp.json",
    "r/.compozy/profiles/p/config.toml",
    "r/.compozy/profiles/p/mcp.json",
];

fn with_directories() -> World {
    let world = World::with_profile();
    world.place.make("h/profiles/p");
    world.place.make("r/.compozy/profiles/p");
    world
}

#[test]
fn r023_r029_a_link_is_named_even_to_a_good_file() {
    for path in FILES {
        let world = with_directories();
        world.write("good.toml", "");
        world.write("good.json", "{}");
        let good = if path.ends_with("toml") {
            "good.toml"
        } else {
            "good.json"
        };
        world.place.link(&world.at(good), path);
        world.assert_only_problem(path);
    }
}

#[test]
fn r024_a_directory_and_a_pipe_that_nobody_writes_to_are_named() {
    for path in FILES {
        let world = with_directories();
        std::fs::create_dir(world.at(path)).unwrap();
        world.assert_only_problem(path);
        world.remove(path);
        make_pipe(&world.at(path));
        world.assert_only_problem(path);
    }
}

#[test]
fn r025_a_mebibyte_is_the_most() {
    for path in FILES.into_iter().filter(|path| path.ends_with("toml")) {
        let world = with_directories();
        let comments = "#234567\n".repeat(1024 * 1024 / 8);
        world.write(path, &comments);
        assert_eq!(world.resolve().diagnostics, []);
        world.write(path, &format!("{comments}\n"));
        world.assert_only_problem(path);
    }
}

#[test]
fn r026_what_may_not_be_read_is_not_absent() {
    drop_file_privileges();
    for path in FILES {
        let world = with_directories();
        world.write(path, if path.ends_with("toml") { "" } else { "{}" });
        assert_eq!(world.resolve().diagnostics, []);
        let _mode = world.place.set_mode(path, 0o000);
        world.assert_only_problem(path);
    }
    for directory in [
        "h",
        "h/profiles",
        "h/profiles/p",
        "r/.compozy/profiles",
        "r/.compozy/profiles/p",
    ] {
        let world = with_directories();
        let _mode = world.place.set_mode(directory, 0o000);
        world.assert_only_problem(directory);
    }
}

#[test]
fn r027_a_file_that_says_nothing_is_an_absent_layer_in_effect() {
    let empty = World::new().resolve();
    for text in ["", "# nothing\n# at all\n", "\r\n# nothing\r\n", "\n\n"] {
        let world = World::new();
        world.write("r/.compozy/config.toml", text);
        let snapshot = world.resolve();
        assert_eq!(snapshot.config.shown(), empty.config.shown(), "{text:?}");
        assert_eq!(snapshot.diagnostics, []);
    }
    let world = World::new();
    world.write("r/.compozy/config.toml", "[defaults]\r\nprovider = \"x\"\r\n");
    assert_eq!(provider(&world.resolve()), Some("x"));
}

#[test]
fn r028_what_is_in_the_place_of_the_directory_is_named() {
    let world = World::new();
    world.remove("r/.compozy");
    world.write("r/.compozy", "a file");
    world.assert_only_problem("r/.compozy");
    world.remove("r/.compozy");
    world.place.make("good");
    world.place.link("../good", "r/.compozy");
    world.assert_only_problem("r/.compozy");
    for directory in [
        "h/profiles",
        "h/profiles/p",
        "r/.compozy/profiles",
        "r/.compozy/profiles/p",
    ] {
        let mut world = with_directories();
        world.remove(directory);
        world.write(directory, "a file");
        world.assert_only_problem(directory);
        world.request.profile = None;
        assert_eq!(world.resolve().diagnostics, [], "it is not read");
    }
}

#[test]
fn r030_a_file_that_appears_is_read() {
    let world = World::new();
    assert_eq!(provider(&world.resolve()), None);
    world.write("r/.compozy/config.toml", &config("new"));
    assert_eq!(provider(&world.resolve()), Some("new"));
}

#[test]
fn r066_a_dormant_profile_is_not_read() {
    let mut world = World::with_profile();
    world.request.profile_names.push("q".to_owned());
    for path in ["h/profiles/q/config.toml", "r/.compozy/profiles/q/config.toml"] {
        world.write(path, "[http]\nport = 1\n");
    }
    assert_eq!(world.resolve().diagnostics, []);
    world.request.profile = Some("q".to_owned());
    assert_eq!(world.problems().len(), 2);
}

#[test]
fn r067_r190_every_problem_of_every_file_is_told_at_once_in_order() {
    let world = with_directories();
    world.write("h/config.toml", "[broken");
    world.write("h/profiles/p/mcp.json", "[]");
    world.write(
        "r/.compozy/config.toml",
        "\n[permisions]\nmode = 1\n[defaults]\nagent = 3\n",
    );
    world.place.link("nowhere", "r/.compozy/mcp.json");
    let problems = world.problems();
    let mut paths: Vec<&str> = problems.iter().map(|problem| problem.path.as_str()).collect();
    assert!(paths.is_sorted(), "{paths:?}");
    paths.dedup();
    let expected = [
        "h/config.toml",
        "h/profiles/p/mcp.json",
        "r/.compozy/config.toml",
        "r/.compozy/mcp.json",
    ];
    assert_eq!(paths, expected.map(|path| world.at(path)));
    assert!(problems.iter().all(|problem| problem.severity == Severity::Error));
    assert_eq!(world.problems(), problems, "the same every time");
}

#[test]
fn sources_that_are_wrong_are_told_with_the_files_that_are() {
    let world = with_directories();
    world.write("r/.compozy/config.toml", "[skills]\nsources = [\"agnets\"]\n");
    std::fs::create_dir(world.at("h/mcp.json")).unwrap();
    let problems = world.problems();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(codes(&problems).contains(&"unknown_skill_source"));
}

#[test]
fn r011_a_broken_workspace_is_its_own_trouble() {
    let world = World::new();
    world.write("other/.compozy/config.toml", "[broken");
    assert_eq!(world.resolve().diagnostics, []);
    let mut broken = world;
    broken.request.root_dir = broken.at("other");
    assert!(matches!(broken.try_resolve(), Err(ResolveFault::Config(_))));
}
