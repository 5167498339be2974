//! Links in bases, and bases that are links.

use compozy_domain::{Layer, Severity};

use crate::world::{World, agent, agent_names, only, skill, skill_names};

const BASE: &str = "r/.compozy/skills";

#[test]
fn r164_a_link_inside_the_base_makes_no_second_skill() {
    for link in ["a-link", "z-link"] {
        let world = World::new();
        world.skill(&format!("{BASE}/group/m"), "m");
        world.place.link("group", &format!("{BASE}/{link}"));
        world.place.link("group/m", &format!("{BASE}/{link}-2"));
        let scanned = world.scan();
        let found = skill(&scanned, "m");
        assert_eq!(world.below(&found.path), format!("{BASE}/group/m/SKILL.md"));
        assert_eq!(found.shadowed, []);
        assert_eq!(world.told(&scanned), []);
        assert_eq!(scanned.sources[0].skill_count, 1);
    }
}

#[test]
fn r165_links_that_lead_nowhere_back_or_out_are_told_and_the_rest_is_found() {
    let world = World::new();
    world.skill("outside/s", "outside");
    world.skill(&format!("{BASE}/a"), "a");
    world.skill(&format!("{BASE}/z"), "z");
    world.place.link("gone", &format!("{BASE}/dangling"));
    world.place.link("..", &format!("{BASE}/a/cycle"));
    world.place.link(".", &format!("{BASE}/itself"));
    world.place.link("circle", &format!("{BASE}/circle"));
    world
        .place
        .link(&world.place.at("outside"), &format!("{BASE}/escape"));
    world.place.link("../..", &format!("{BASE}/up"));
    let (scanned, watched) = world.scan_watched();
    assert_eq!(skill_names(&scanned), ["a", "z"]);
    let expected = [
        ("cycle", "a/cycle"),
        ("cycle", "circle"),
        ("dangling", "dangling"),
        ("escape", "escape"),
        ("cycle", "itself"),
        ("cycle", "up"),
    ];
    let expected = expected.map(|(code, path)| (code, format!("{BASE}/{path}")));
    assert_eq!(world.told(&scanned), expected);
    for told in &scanned.diagnostics {
        assert_eq!(told.severity, Severity::Warning);
        assert!(
            !told.message.contains(&world.place.path) && !told.remedy.is_empty(),
            "{told:?}"
        );
    }
    assert!(
        !watched.paths().any(|path| path.ends_with("/outside/s")),
        "it was not read"
    );
}

#[test]
fn links_that_lead_back_and_forth_end() {
    let world = World::new();
    world.skill(&format!("{BASE}/a/one"), "one");
    world.skill(&format!("{BASE}/b/two"), "two");
    world.place.link("../b", &format!("{BASE}/a/to-b"));
    world.place.link("../a", &format!("{BASE}/b/to-a"));
    let scanned = world.scan();
    assert_eq!(skill_names(&scanned), ["one", "two"]);
    assert_eq!(world.told(&scanned), [("cycle", format!("{BASE}/b/to-a"))]);
}

#[test]
fn links_to_files_are_nothing() {
    let world = World::new();
    world.skill(&format!("{BASE}/a"), "a");
    world.place.write("outside.md", "");
    world.place.link("a/SKILL.md", &format!("{BASE}/README.md"));
    world
        .place
        .link(&world.place.at("outside.md"), &format!("{BASE}/a/notes.md"));
    let scanned = world.scan();
    assert_eq!(skill_names(&scanned), ["a"]);
    assert_eq!(world.told(&scanned), []);
}

#[test]
fn a_link_into_another_base_is_followed_and_its_directory_is_listed_once() {
    let world = World::new();
    world.skill("h/skills/kit/x", "x");
    world.skill("h/skills/y", "y");
    world.place.make(BASE);
    world
        .place
        .link(&world.place.at("h/skills/kit"), &format!("{BASE}/kit"));
    let scanned = world.scan();
    let found = skill(&scanned, "x");
    assert_eq!(found.layer, Layer::Workspace, "the highest tier that has it");
    assert_eq!(found.shadowed, []);
    assert_eq!(skill(&scanned, "y").layer, Layer::User);
    assert_eq!(world.told(&scanned), []);
}

#[test]
fn a_base_may_be_a_link() {
    let mut world = World::new();
    world.places.sources.claude = true;
    world.skill("elsewhere/x", "x");
    world.agent("agents-elsewhere/a", "a");
    world.place.make("r/.compozy");
    world.place.link(&world.place.at("elsewhere"), BASE);
    world
        .place
        .link(&world.place.at("agents-elsewhere"), "r/.compozy/agents");
    world.skill("r/.agents/skills/y", "y");
    world.place.make("r/.claude");
    world.place.link("../.agents/skills", "r/.claude/skills");
    world.place.link("x", "elsewhere/again");
    let scanned = world.scan();
    assert_eq!(skill_names(&scanned), ["x", "y"]);
    assert_eq!(skill(&scanned, "y").shadowed, [], "one directory has one base");
    assert_eq!(skill(&scanned, "y").source, "agents");
    assert_eq!(agent(&scanned, "a").layer, Layer::Workspace);
    assert_eq!(world.told(&scanned), []);
}

#[test]
fn the_own_skills_of_an_agent_may_be_a_link() {
    let world = World::new();
    world.agent("h/agents/a", "a");
    world.skill("elsewhere/group/x", "x");
    world.place.link("group", "elsewhere/again");
    world
        .place
        .link(&world.place.at("elsewhere"), "h/agents/a/skills");
    let scanned = world.scan();
    assert_eq!(scanned.agent_skills[0].1[0].name, "x");
    assert_eq!(world.told(&scanned), []);
}

#[test]
fn a_base_that_leads_to_nothing_is_told() {
    let world = World::new();
    world.place.make("r/.compozy");
    world.place.link("gone", BASE);
    world.place.link("itself", "r/.compozy/itself");
    world.place.link("itself", "r/.compozy/agents");
    let scanned = world.scan();
    assert_eq!(
        world.told(&scanned),
        [
            ("cycle", "r/.compozy/agents".to_owned()),
            ("dangling", BASE.to_owned())
        ]
    );
}

#[test]
fn agents_behind_links_obey_the_same_rules() {
    let world = World::new();
    let base = "r/.compozy/agents";
    world.agent(&format!("{base}/real"), "real");
    world.agent(&format!("{base}/group/inner"), "inner");
    world.agent("outside/a", "outside");
    world.place.link("real", &format!("{base}/again"));
    world.place.link("group/inner", &format!("{base}/inner"));
    world.place.link("gone", &format!("{base}/dangling"));
    world.place.link(".", &format!("{base}/cycle"));
    world
        .place
        .link(&world.place.at("outside/a"), &format!("{base}/escape"));
    let scanned = world.scan();
    assert_eq!(agent_names(&scanned), ["inner", "real"]);
    assert_eq!(agent(&scanned, "inner").directory_name, "inner");
    assert_eq!(agent(&scanned, "real").shadowed, []);
    let expected = [("cycle", "cycle"), ("dangling", "dangling"), ("escape", "escape")];
    let expected = expected.map(|(code, path)| (code, format!("{base}/{path}")));
    assert_eq!(world.told(&scanned), expected);
    assert_eq!(only(&scanned, "cycle").layer, Some(Layer::Workspace));
}
