//! `skills.sources` and `skills.custom_sources`.

use compozy_domain::{Diagnostic, Layer, Severity};
use compozy_resolver::config::{self, LayerFiles, SourceFile};
use compozy_resolver::scan::{Bearings, Scanned, Sources, sources};
use compozy_resolver::{AllowedRoots, Disk};

use crate::world::{World, skill, skill_names};

/// What the configuration of a world says, with these lines in `[skills]` of user and workspace.
fn read(world: &World, user: &str, workspace: &str) -> Result<Sources, Vec<Diagnostic>> {
    let layer = |layer, path: String, lines: &str| LayerFiles {
        layer,
        config: Some(SourceFile {
            path,
            bytes: format!("# the table is in line 2\n[skills]\n{lines}\n").into_bytes(),
        }),
        mcp: None,
    };
    let layers = [
        layer(Layer::User, world.place.at("h/config.toml"), user),
        layer(Layer::Workspace, workspace_file(world), workspace),
    ];
    let config = config::resolve(&layers, "")?;
    let bearings = Bearings {
        root: &world.places.root,
        operator_home: world.places.operator_home.as_deref(),
        allowed: &world.places.allowed,
    };
    sources(&Disk::new(), &config, bearings)
}

fn workspace_file(world: &World) -> String {
    world.place.at("r/.compozy/config.toml")
}

fn scan(world: &mut World, user: &str, workspace: &str) -> Scanned {
    world.places.sources = read(world, user, workspace).unwrap();
    world.scan()
}

/// The one problem of these lines of the workspace.
fn problem(world: &World, workspace: &str) -> Diagnostic {
    let problems = read(world, "", workspace).unwrap_err();
    let [problem] = problems.as_slice() else {
        panic!("{problems:?}")
    };
    assert_eq!(problem.path, workspace_file(world));
    assert_eq!(
        (problem.severity, problem.layer),
        (Severity::Error, Some(Layer::Workspace))
    );
    assert_eq!(problem.line, Some(3));
    assert!(!problem.remedy.is_empty());
    problem.clone()
}

fn with_presets() -> World {
    let world = World::new();
    for directory in ["r/.agents", "o/.agents", "r/.claude", "o/.claude"] {
        world.skill(&format!("{directory}/skills/x"), &directory.replace("/.", "-"));
    }
    world.skill("r/.compozy/skills/x", "r-compozy");
    world.skill("h/skills/x", "h-compozy");
    world
}

#[test]
fn r175_without_the_key_agents_is_on_and_claude_off() {
    let mut world = with_presets();
    let scanned = scan(&mut world, "", "");
    assert_eq!(
        skill_names(&scanned),
        ["h-compozy", "o-agents", "r-agents", "r-compozy"]
    );
    assert_eq!(skill(&scanned, "o-agents").layer, Layer::User);
    assert_eq!(skill(&scanned, "r-agents").layer, Layer::Workspace);
    assert_eq!(skill(&scanned, "r-agents").source, "agents");
}

#[test]
fn r176_both_presets_can_be_on() {
    let mut world = with_presets();
    let scanned = scan(&mut world, "", r#"sources = ["agents", "claude"]"#);
    assert_eq!(scanned.skills.len(), 6);
    assert_eq!(skill(&scanned, "o-claude").source, "claude");
    let scanned = scan(&mut world, "", r#"sources = ["claude", "compozy"]"#);
    assert_eq!(
        skill_names(&scanned),
        ["h-compozy", "o-claude", "r-claude", "r-compozy"]
    );
}

#[test]
fn r177_an_empty_list_leaves_the_products_own() {
    let mut world = with_presets();
    let scanned = scan(&mut world, r#"sources = ["agents"]"#, "sources = []");
    assert_eq!(skill_names(&scanned), ["h-compozy", "r-compozy"]);
}

#[test]
fn r178_an_unknown_source_is_told_with_the_one_that_was_meant() {
    let world = World::new();
    let told = problem(&world, r#"sources = ["claude", "agnets"]"#);
    assert_eq!(told.code, "unknown_skill_source");
    assert!(
        told.message.contains("entry 2") && told.message.contains("`agents`"),
        "{told:?}"
    );
    assert!(!told.message.contains("agnets"), "no value of a file is repeated");
    for (written, meant) in [
        (".claude/skills", "claude"),
        ("Agents", "agents"),
        ("compzy", "compozy"),
    ] {
        let told = problem(&world, &format!("sources = [\"{written}\"]"));
        assert!(told.remedy.contains(&format!("`{meant}`")), "{written}: {told:?}");
    }
    let told = problem(&world, r#"sources = ["tools/skills"]"#);
    assert!(
        told.message.contains("`agents`") && told.remedy.contains("custom_sources"),
        "{told:?}"
    );
}

#[test]
fn r179_a_source_that_is_named_twice_is_told() {
    let told = problem(&World::new(), r#"sources = ["agents", "agents"]"#);
    assert_eq!(told.code, "duplicate_skill_source");
}

#[test]
fn r180_a_workspaces_custom_source_is_relative_to_its_root() {
    let mut world = World::new();
    world.skill("r/tools/skills/x", "x");
    world.skill("r/tools/skills/.agents/skills/y", "y");
    let scanned = scan(&mut world, "", r#"custom_sources = ["./tools//skills/"]"#);
    assert_eq!(skill_names(&scanned), ["x"]);
    let found = skill(&scanned, "x");
    assert_eq!(
        (found.layer, found.source.as_str()),
        (Layer::Additional, "skills")
    );
    let source = &scanned.sources[0];
    assert_eq!(
        (source.name.as_str(), source.layer),
        ("skills", Layer::Additional)
    );
    assert_eq!(world.below(&source.path), "r/tools/skills");
    let custom = &world.places.sources.custom[0];
    assert_eq!(
        (&custom.named_in, custom.line),
        (&workspace_file(&world), Some(3))
    );
}

#[test]
fn r181_a_users_custom_source_is_not_relative() {
    let world = World::new();
    let problems = read(&world, r#"custom_sources = ["tools/skills"]"#, "").unwrap_err();
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].code, "invalid_source_path");
    assert_eq!(
        (problems[0].line, problems[0].layer),
        (Some(3), Some(Layer::User))
    );
    assert_eq!(world.below(&problems[0].path), "h/config.toml");
}

#[test]
fn r182_only_the_operators_own_home_is_expanded() {
    let mut world = World::new();
    world.skill("o/kit/x", "x");
    let scanned = scan(&mut world, r#"custom_sources = ["~/kit"]"#, "");
    assert_eq!(skill(&scanned, "x").source, "kit");
    for bad in ["~bob/kit", "", "  ", "a\\u0007b"] {
        let told = problem(&world, &format!("custom_sources = [\"{bad}\"]"));
        assert_eq!(told.code, "invalid_source_path", "{bad}");
    }
    world.places.operator_home = None;
    assert_eq!(
        problem(&world, r#"custom_sources = ["~/kit"]"#).code,
        "invalid_source_path"
    );
}

#[test]
fn r183_one_directory_is_named_once_in_whatever_spelling() {
    let world = World::new();
    world.place.make("r/kit");
    world.place.link("kit", "r/link");
    for twin in ["kit", "./kit/", "link", "../r/kit"] {
        let told = problem(&world, &format!("custom_sources = [\"kit\", \"{twin}\"]"));
        assert_eq!(told.code, "duplicate_skill_source", "{twin}");
        assert!(
            told.message.contains("entry 2") && told.message.contains("entry 1"),
            "{told:?}"
        );
    }
    let told = problem(&world, r#"custom_sources = ["none", "none"]"#);
    assert_eq!(told.code, "duplicate_skill_source", "also one that is not there");
    assert!(read(&world, "", r#"custom_sources = ["kit", "kit-2"]"#).is_ok());
}

#[test]
fn for_a_caller_over_the_network_no_answer_depends_on_what_lies_outside() {
    let mut world = World::new();
    world.place.make("x");
    world.place.link("x", "same");
    let lines = format!(
        "custom_sources = [\"{}\", \"{}\"]",
        world.place.at("x"),
        world.place.at("same")
    );
    assert_eq!(problem(&world, &lines).code, "duplicate_skill_source");
    world.places.allowed = AllowedRoots::Only(vec![world.place.at("r")]);
    assert_eq!(read(&world, "", &lines).unwrap().custom.len(), 2);
}

#[test]
fn every_problem_of_both_keys_is_told_at_once() {
    let world = World::new();
    let lines = "sources = [\"nonsense\", \"agents\", \"agents\"]\ncustom_sources = [\"\", \"~bob\"]";
    let problems = read(&world, "", lines).unwrap_err();
    let codes: Vec<&str> = problems.iter().map(|problem| problem.code).collect();
    assert_eq!(
        codes,
        [
            "unknown_skill_source",
            "duplicate_skill_source",
            "invalid_source_path",
            "invalid_source_path"
        ]
    );
}
