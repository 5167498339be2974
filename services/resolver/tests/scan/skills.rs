//! Skills: what is found below one base.

use compozy_domain::{Layer, Severity};

use crate::world::{World, only, skill, skill_names};

const BASE: &str = "r/.compozy/skills";

#[test]
fn r158_skills_lie_at_any_depth_and_groups_are_nothing() {
    let world = World::new();
    world.skill(&format!("{BASE}/a"), "a");
    world.skill(&format!("{BASE}/g/h/i/b"), "b");
    world.skill(&format!("{BASE}/a/more/c"), "c");
    world.skill(BASE, "top");
    let scanned = world.scan();
    assert_eq!(skill_names(&scanned), ["a", "b", "c", "top"]);
    assert_eq!(world.told(&scanned), []);
    let [source] = scanned.sources.as_slice() else {
        panic!("{:?}", scanned.sources)
    };
    assert_eq!(world.below(&source.path), BASE);
    assert_eq!(
        (source.name.as_str(), source.layer),
        ("compozy", Layer::Workspace)
    );
    assert_eq!(
        (source.readable, source.truncated, source.skill_count),
        (true, false, 4)
    );
}

#[test]
fn r159_r160_a_skill_is_called_as_its_front_matter_says_or_like_its_directory() {
    let world = World::new();
    world.place.write(
        &format!("{BASE}/foo/SKILL.md"),
        "---\ndescription: Does it\n---\nDo it.\n",
    );
    world.skill(&format!("{BASE}/other"), "bar");
    let scanned = world.scan();
    assert_eq!(skill_names(&scanned), ["bar", "foo"]);
    assert_eq!(
        world.below(&skill(&scanned, "bar").path),
        format!("{BASE}/other/SKILL.md")
    );
    assert!(skill(&scanned, "foo").usable);
    let told = &skill(&scanned, "foo").diagnostics;
    assert!(told.iter().any(|told| told.severity == Severity::Warning));
}

#[test]
fn r186_r188_skills_are_read_by_the_reader_of_agents() {
    let world = World::new();
    let lines = "---\r\nname: x\r\ndescription: Does it\r\n---\r\nDo it.\r\n";
    world.place.write(&format!("{BASE}/x/SKILL.md"), lines);
    let lines = "---\nname: y\ndescription: a: b\n---\nDo it.\n";
    world.place.write(&format!("{BASE}/y/SKILL.md"), lines);
    let scanned = world.scan();
    let found = skill(&scanned, "x");
    assert_eq!((found.description.as_str(), found.usable), ("Does it", true));
    let found = skill(&scanned, "y");
    assert_eq!((found.description.as_str(), found.usable), ("a: b", true));
    let told = &found.diagnostics[0];
    assert_eq!((told.severity, told.line), (Severity::Warning, Some(3)));
    assert!(told.message.contains(r#"description: "a: b""#), "{told:?}");
}

#[test]
fn r161_hidden_directories_and_those_of_tools_are_not_looked_into() {
    let world = World::new();
    for directory in [
        ".git/x",
        "node_modules/x",
        ".hidden/x",
        "a/.git/x",
        "a/node_modules/x",
    ] {
        world.skill(&format!("{BASE}/{directory}"), "x");
    }
    world.skill(&format!("{BASE}/a"), "a");
    let (scanned, watched) = world.scan_watched();
    assert_eq!(skill_names(&scanned), ["a"]);
    assert!(
        !watched
            .paths()
            .any(|path| path.contains("/node_modules") || path.contains("/.git"))
    );
}

#[test]
fn r162_r163_other_spellings_are_not_read_but_told() {
    let world = World::new();
    for file in ["x/skill.md", "y/SKILL.MD", "z/Skill.md", "w/skill.md"] {
        world
            .place
            .write(&format!("{BASE}/{file}"), crate::world::definition("no"));
    }
    world.skill(&format!("{BASE}/w"), "w");
    let scanned = world.scan();
    assert_eq!(skill_names(&scanned), ["w"]);
    let told = ["w/skill.md", "x/skill.md", "y/SKILL.MD", "z/Skill.md"];
    let told = told.map(|file| ("misspelled_name", format!("{BASE}/{file}")));
    assert_eq!(world.told(&scanned), told);
    for found in &scanned.diagnostics {
        assert_eq!(found.severity, Severity::Warning);
        assert_eq!(found.layer, Some(Layer::Workspace));
        assert!(found.message.contains("SKILL.md") && !found.message.contains(&world.place.path));
        assert!(!found.remedy.is_empty());
    }
    assert!(scanned.diagnostics[0].remedy.contains("remove"));
    assert!(scanned.diagnostics[1].remedy.contains("rename"));
}

#[test]
fn r170_in_one_base_the_first_path_in_byte_order_wins() {
    let world = World::new();
    world.skill(&format!("{BASE}/alpha/x"), "x");
    world.skill(&format!("{BASE}/Zeta/x"), "x");
    world.skill(&format!("{BASE}/a/y"), "y");
    world.skill(&format!("{BASE}/a-b/y"), "y");
    let scanned = world.scan();
    let expected = [("x", "Zeta/x", "alpha/x"), ("y", "a-b/y", "a/y")];
    for (name, winner, loser) in expected {
        let found = skill(&scanned, name);
        assert_eq!(world.below(&found.path), format!("{BASE}/{winner}/SKILL.md"));
        let losers = world.losers(&found.shadowed);
        assert_eq!(losers, [(Layer::Workspace, format!("{BASE}/{loser}/SKILL.md"))]);
    }
}

#[test]
fn r187_every_file_is_in_the_answer() {
    let world = World::new();
    for number in 0..9 {
        world.skill(&format!("{BASE}/s{number}"), &format!("s{number}"));
    }
    world
        .place
        .write(&format!("{BASE}/broken/SKILL.md"), "---\nname: broken\n");
    let scanned = world.scan();
    assert_eq!(scanned.skills.len(), 10);
    assert_eq!(scanned.skills.iter().filter(|skill| skill.usable).count(), 9);
    let found = skill(&scanned, "broken");
    let told = &found.diagnostics[0];
    assert_eq!((told.severity, &told.path), (Severity::Error, &found.path));
    assert!(told.line.is_some() && told.column.is_some(), "{told:?}");
    assert!(scanned.diagnostics.contains(told));
}

#[test]
fn r189_a_broken_skill_shadows() {
    let world = World::new();
    world.place.write(&format!("{BASE}/x/SKILL.md"), "---\nname: x\n");
    world.skill("h/skills/x", "x");
    let scanned = world.scan();
    let found = skill(&scanned, "x");
    assert_eq!((found.layer, found.usable), (Layer::Workspace, false));
    let losers = world.losers(&found.shadowed);
    assert_eq!(losers, [(Layer::User, "h/skills/x/SKILL.md".to_owned())]);
    assert_eq!(only(&scanned, "shadowed_by_broken").path, found.path);
}

#[test]
fn what_is_wrong_with_a_loser_is_told_too() {
    let world = World::new();
    world.skill(&format!("{BASE}/x"), "x");
    world.place.write("h/skills/x/SKILL.md", "---\nname: x\n");
    let scanned = world.scan();
    assert!(skill(&scanned, "x").usable);
    let told = &scanned.diagnostics[0];
    assert_eq!(world.below(&told.path), "h/skills/x/SKILL.md");
    assert_eq!(told.severity, Severity::Error);
}

#[test]
fn r172_every_copy_of_a_disabled_skill_is_hidden() {
    let mut world = World::new();
    world.skill(&format!("{BASE}/x"), "x");
    world.skill("h/skills/x", "x");
    world.skill("h/skills/y", "y");
    world.agent("h/agents/a", "a");
    world.skill("h/agents/a/skills/x", "x");
    world.skill("h/agents/a/skills/z", "z");
    world.places.disabled_skills = vec!["x".to_owned(), "nobody".to_owned()];
    let scanned = world.scan();
    assert_eq!(skill_names(&scanned), ["y"]);
    let [(agent, own)] = scanned.agent_skills.as_slice() else {
        panic!("{:?}", scanned.agent_skills)
    };
    assert_eq!(agent, "a");
    assert_eq!(
        own.iter().map(|skill| skill.name.as_str()).collect::<Vec<_>>(),
        ["z"]
    );
}

#[test]
fn r224_the_servers_of_a_skill_are_listed_with_it() {
    let world = World::new();
    world.skill(&format!("{BASE}/x"), "x");
    world.place.write(
        &format!("{BASE}/x/mcp.json"),
        r#"{"mcpServers": {"s": {"command": "run"}}}"#,
    );
    let scanned = world.scan();
    let servers = &skill(&scanned, "x").mcp_servers;
    assert_eq!(servers.len(), 1);
    assert_eq!(servers[0].name, "s");
}

#[test]
fn what_stands_in_the_place_of_the_file_is_never_passed_over() {
    let world = World::new();
    world.place.make(&format!("{BASE}/directory/SKILL.md"));
    world.place.make(&format!("{BASE}/link"));
    world.skill(&format!("{BASE}/real"), "real");
    world
        .place
        .link("../real/SKILL.md", &format!("{BASE}/link/SKILL.md"));
    let scanned = world.scan();
    assert_eq!(skill_names(&scanned), ["directory", "link", "real"]);
    for found in &scanned.skills {
        assert_eq!(found.usable, found.name == "real", "{}", found.name);
    }
}

#[test]
fn names_that_are_no_text_are_told_escaped() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let world = World::new();
    world.skill(&format!("{BASE}/a"), "a");
    for name in [b"caf\xe9".as_slice(), b"a\x1bb"] {
        let path = std::path::Path::new(&world.place.at(BASE)).join(OsStr::from_bytes(name));
        std::fs::create_dir(path).unwrap();
    }
    let scanned = world.scan();
    assert_eq!(skill_names(&scanned), ["a"]);
    let told = only(&scanned, "unprintable_name");
    assert_eq!(world.below(&told.path), BASE);
    assert!(
        told.message.contains("`caf\\xe9`") && told.message.contains("`a\\u{1b}b`"),
        "{told:?}"
    );
}

#[test]
fn a_file_in_the_place_of_a_base_is_told() {
    let world = World::new();
    world.place.write(BASE, "");
    let scanned = world.scan();
    assert_eq!(world.told(&scanned), [("not_a_directory", BASE.to_owned())]);
    assert!(!scanned.sources[0].readable);
}
