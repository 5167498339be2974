//! Agents: bases, order, and who wins.

use compozy_domain::{Layer, Severity};

use crate::world::{World, agent, agent_names, only};

/// The bases of one name, from the one that wins.
const BASES: [(&str, Layer); 6] = [
    ("r/.compozy/profiles/p/agents", Layer::WorkspaceProfile),
    ("r/.compozy/agents", Layer::Workspace),
    ("x1/.compozy/agents", Layer::Additional),
    ("x2/.compozy/agents", Layer::Additional),
    ("h/profiles/p/agents", Layer::Profile),
    ("h/agents", Layer::User),
];

fn with_reviewer_everywhere() -> World {
    let mut world = World::with_profile();
    world.add_roots(&["x1", "x2"]);
    for (base, _) in BASES {
        world.agent(&format!("{base}/reviewer"), "reviewer");
    }
    world
}

#[test]
fn r121_r122_the_first_base_wins_and_the_next_one_when_it_is_gone() {
    let world = with_reviewer_everywhere();
    for (gone, (base, layer)) in BASES.iter().enumerate() {
        let scanned = world.scan();
        let found = agent(&scanned, "reviewer");
        assert_eq!(found.layer, *layer);
        assert_eq!(world.below(&found.path), format!("{base}/reviewer/AGENT.md"));
        assert!(found.usable);
        let losers: Vec<_> = BASES[gone + 1..]
            .iter()
            .map(|(base, layer)| (*layer, format!("{base}/reviewer/AGENT.md")))
            .collect();
        assert_eq!(world.losers(&found.shadowed), losers);
        assert_eq!(scanned.diagnostics, []);
        world.remove(&format!("{base}/reviewer"));
    }
    assert_eq!(world.scan().agents, []);
}

#[test]
fn r123_nothing_of_a_loser_is_merged_into_the_winner() {
    let world = World::new();
    world
        .place
        .write("r/.compozy/agents/a/AGENT.md", "---\nname: a\n---\nDo it.\n");
    world.agent("h/agents/a", "a");
    assert_eq!(agent(&world.scan(), "a").description, "");
}

#[test]
fn r124_additional_roots_win_in_the_order_of_the_record() {
    let mut world = World::new();
    world.add_roots(&["x2", "x1"]);
    world.agent("x1/.compozy/agents/a", "a");
    world.agent("x2/.compozy/agents/a", "a");
    let scanned = world.scan();
    let found = agent(&scanned, "a");
    assert_eq!(world.below(&found.path), "x2/.compozy/agents/a/AGENT.md");
}

#[test]
fn r125_agents_are_listed_by_the_bytes_of_their_directories() {
    let world = World::new();
    for (base, directory) in [("r/.compozy", "b"), ("h", "B"), ("r/.compozy", "a")] {
        world.agent(&format!("{base}/agents/{directory}"), &directory.to_lowercase());
    }
    world.agent("h/agents/c", "c");
    let scanned = world.scan();
    let directories: Vec<&str> = scanned
        .agents
        .iter()
        .map(|agent| agent.directory_name.as_str())
        .collect();
    assert_eq!(
        directories,
        ["a", "b", "c"],
        "`B` is named b, and loses to the workspace's"
    );
    world.remove("r/.compozy/agents/b");
    let scanned = world.scan();
    let directories: Vec<&str> = scanned
        .agents
        .iter()
        .map(|agent| agent.directory_name.as_str())
        .collect();
    assert_eq!(directories, ["B", "a", "c"]);
}

#[test]
fn r126_r127_only_directories_one_level_down_with_the_file_are_agents() {
    let world = World::new();
    world.agent("r/.compozy/agents/group/x", "x");
    world.agent("r/.compozy/agents", "y");
    world.place.write("r/.compozy/agents/notes.md", "no agent");
    world.place.make("r/.compozy/agents/empty");
    world.agent("r/.compozy/agents/good", "good");
    let scanned = world.scan();
    assert_eq!(agent_names(&scanned), ["good"]);
    assert_eq!(world.told(&scanned), []);
}

#[test]
fn two_agents_of_one_name_in_one_base_are_told_by_the_order_of_their_directories() {
    let world = World::new();
    world.agent("h/agents/b", "same");
    world.agent("h/agents/B", "same");
    let scanned = world.scan();
    let found = agent(&scanned, "same");
    assert_eq!(world.below(&found.path), "h/agents/B/AGENT.md");
    let losers = world.losers(&found.shadowed);
    assert_eq!(losers, [(Layer::User, "h/agents/b/AGENT.md".to_owned())]);
}

#[test]
fn r144_every_file_is_in_the_answer_however_broken() {
    let world = World::new();
    for number in 0..29 {
        world.agent(
            &format!("r/.compozy/agents/good-{number}"),
            &format!("good-{number}"),
        );
    }
    let broken: [(&str, &[u8]); 6] = [
        ("no-start", b"name: a\n---\nDo it.\n"),
        ("no-end", b"---\nname: a\n"),
        ("tab", b"---\nname: tab\nskills:\n\tdisabled: []\n---\nDo it.\n"),
        ("twice", b"---\nname: twice\nmodel: a\nmodel: b\n---\nDo it.\n"),
        ("bytes", b"---\nname: bytes\n---\nDo \xff.\n"),
        ("empty", b"---\nname: empty\n---\n \n"),
    ];
    for (directory, content) in broken {
        world
            .place
            .write(&format!("r/.compozy/agents/{directory}/AGENT.md"), content);
    }
    let scanned = world.scan();
    assert_eq!(scanned.agents.len(), 35);
    assert_eq!(scanned.agents.iter().filter(|agent| agent.usable).count(), 29);
    for (directory, _) in broken {
        let path = world.place.at(&format!("r/.compozy/agents/{directory}/AGENT.md"));
        let found = scanned.agents.iter().find(|agent| agent.path == path).unwrap();
        assert!(!found.usable, "{directory}");
        let reasons = found
            .diagnostics
            .iter()
            .filter(|told| told.severity == Severity::Error);
        let reasons: Vec<_> = reasons.collect();
        assert!(!reasons.is_empty(), "{directory}");
        for reason in reasons {
            assert!(reason.line.is_some() && reason.column.is_some(), "{reason:?}");
            assert!(!reason.message.is_empty() && !reason.remedy.is_empty());
            assert!(scanned.diagnostics.contains(reason), "{reason:?}");
        }
    }
}

#[test]
fn r152_r154_a_broken_agent_shadows_by_its_name_until_it_is_repaired() {
    let mut world = World::new();
    world.add_roots(&["x1"]);
    let broken = "---\nname: reviewer\nmodel: a\nmodel: b\n---\nDo it.\n";
    world.place.write("x1/.compozy/agents/other/AGENT.md", broken);
    world.agent("h/agents/reviewer", "reviewer");
    let scanned = world.scan();
    let found = agent(&scanned, "reviewer");
    assert_eq!(found.layer, Layer::Additional);
    assert!(!found.usable);
    let losers = world.losers(&found.shadowed);
    assert_eq!(losers, [(Layer::User, "h/agents/reviewer/AGENT.md".to_owned())]);
    let told = only(&scanned, "shadowed_by_broken");
    assert_eq!(told.path, found.path);
    assert_eq!(told.severity, Severity::Warning);
    assert!(
        told.message.contains("`reviewer`") && told.message.contains("user"),
        "{told:?}"
    );
    assert!(!told.remedy.is_empty());

    world.agent("x1/.compozy/agents/other", "reviewer");
    let scanned = world.scan();
    let found = agent(&scanned, "reviewer");
    assert!(found.usable);
    assert_eq!(found.layer, Layer::Additional);
}

#[test]
fn r153_one_without_a_name_shadows_by_its_directory() {
    let world = World::new();
    world.broken_agent("r/.compozy/agents/reviewer");
    world
        .place
        .write("r/.compozy/agents/reviewer/AGENT.md", "no front matter");
    world.agent("h/agents/reviewer", "reviewer");
    let scanned = world.scan();
    let found = agent(&scanned, "reviewer");
    assert_eq!((found.layer, found.usable), (Layer::Workspace, false));
    assert_eq!(found.shadowed.len(), 1);
}

#[test]
fn r156_the_agents_of_a_profile_that_is_not_active_are_not_listed() {
    let mut world = World::new();
    world.agent("r/.compozy/profiles/p/agents/a", "a");
    world.agent("h/profiles/p/agents/b", "b");
    assert_eq!(agent_names(&world.scan()), [""; 0]);
    world.places.profile = Some("p".to_owned());
    assert_eq!(agent_names(&world.scan()), ["a", "b"]);
}

#[test]
fn r018_an_additional_root_gives_agents_whatever_its_configuration_says() {
    let mut world = World::new();
    world.add_roots(&["x1"]);
    world.place.write("x1/.compozy/config.toml", "no = [");
    world.place.write("x1/.compozy/mcp.json", "{");
    world.agent("x1/.compozy/agents/x", "x");
    let scanned = world.scan();
    assert_eq!(agent(&scanned, "x").layer, Layer::Additional);
    assert_eq!(world.told(&scanned), []);
}

#[test]
fn r019_the_current_directory_of_the_process_is_never_looked_at() {
    let world = World::new();
    world.agent("elsewhere/.compozy/agents/y", "y");
    world.skill("elsewhere/.compozy/skills/z", "z");
    let before = std::env::current_dir().unwrap();
    let (scanned, watched) = {
        std::env::set_current_dir(world.place.at("elsewhere")).unwrap();
        let answer = world.scan_watched();
        std::env::set_current_dir(before).unwrap();
        answer
    };
    assert_eq!((agent_names(&scanned).len(), scanned.skills.len()), (0, 0));
    assert!(
        watched
            .paths()
            .all(|path| path.starts_with('/') && !path.contains("elsewhere"))
    );
}

#[test]
fn other_spellings_of_the_file_are_not_read_but_told() {
    let world = World::new();
    world.place.write("h/agents/a/agent.md", "");
    world.place.write("h/agents/b/AGENT.MD", "");
    world.agent("h/agents/b", "b");
    let scanned = world.scan();
    assert_eq!(agent_names(&scanned), ["b"]);
    assert_eq!(
        world.told(&scanned),
        [
            ("misspelled_name", "h/agents/a/agent.md".to_owned()),
            ("misspelled_name", "h/agents/b/AGENT.MD".to_owned()),
        ]
    );
}

#[test]
fn what_stands_in_the_place_of_the_file_is_never_passed_over() {
    let world = World::new();
    world.place.make("h/agents/directory/AGENT.md");
    world.place.make("h/agents/link");
    world.agent("h/agents/real", "real");
    world.place.link("../real/AGENT.md", "h/agents/link/AGENT.md");
    world.place.make("h/agents/pipe");
    crate::support::make_pipe(&world.place.at("h/agents/pipe/AGENT.md"));
    let scanned = world.scan();
    assert_eq!(agent_names(&scanned), ["directory", "link", "pipe", "real"]);
    for found in &scanned.agents {
        assert_eq!(found.usable, found.name == "real", "{}", found.name);
    }
}

#[test]
fn r020_the_agents_of_a_home_in_the_root_are_the_users() {
    let mut world = World::with_profile();
    world.places.home = world.place.at("r/.compozy");
    world.agent("r/.compozy/agents/a", "a");
    world.agent("r/.compozy/profiles/p/agents/b", "b");
    world.skill("r/.compozy/skills/c", "c");
    let scanned = world.scan();
    assert_eq!(agent(&scanned, "a").layer, Layer::User);
    assert_eq!(agent(&scanned, "b").layer, Layer::Profile);
    assert_eq!(crate::world::skill(&scanned, "c").layer, Layer::User);
    assert_eq!(scanned.agents[0].shadowed, []);
}
