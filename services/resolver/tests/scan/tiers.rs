//! Tiers of skills: who wins a name.

use compozy_domain::Layer;
use compozy_resolver::scan::Bundled;

use crate::world::{World, skill, skill_names};

/// One name in every tier below `agent_local`, from the one that wins.
const TIERS: [(&str, Layer); 5] = [
    ("r/.compozy/profiles/p/skills/x", Layer::WorkspaceProfile),
    ("r/.compozy/skills/x", Layer::Workspace),
    ("x1/.compozy/skills/x", Layer::Additional),
    ("h/profiles/p/skills/x", Layer::Profile),
    ("h/skills/x", Layer::User),
];

#[test]
fn r168_every_tier_wins_over_those_below_it() {
    let mut world = World::with_profile();
    world.add_roots(&["x1"]);
    for (directory, _) in TIERS {
        world.skill(directory, "x");
    }
    world.agent("h/agents/a", "a");
    world.skill("h/agents/a/skills/x", "x");
    let scanned = world.scan();
    let [(agent, own)] = scanned.agent_skills.as_slice() else {
        panic!("{:?}", scanned.agent_skills)
    };
    assert_eq!(agent, "a");
    assert_eq!(own[0].layer, Layer::AgentLocal);
    assert_eq!(world.below(&own[0].path), "h/agents/a/skills/x/SKILL.md");
    for (gone, (directory, layer)) in TIERS.iter().enumerate() {
        let scanned = world.scan();
        let found = skill(&scanned, "x");
        assert_eq!(found.layer, *layer);
        assert_eq!(world.below(&found.path), format!("{directory}/SKILL.md"));
        let losers: Vec<_> = TIERS[gone + 1..]
            .iter()
            .map(|(directory, layer)| (*layer, format!("{directory}/SKILL.md")))
            .collect();
        assert_eq!(world.losers(&found.shadowed), losers);
        world.remove(directory);
    }
    assert_eq!(world.scan().skills, []);
}

#[test]
fn r169_the_root_that_was_registered_earlier_wins() {
    let mut world = World::new();
    world.add_roots(&["x1", "x2"]);
    world.skill("x1/.compozy/skills/x", "x");
    world.skill("x2/.compozy/skills/x", "x");
    let scanned = world.scan();
    assert_eq!(
        world.below(&skill(&scanned, "x").path),
        "x1/.compozy/skills/x/SKILL.md"
    );
}

#[test]
fn r171_the_own_skills_of_a_shadowed_agent_are_not_used() {
    let world = World::new();
    world.agent("r/.compozy/agents/a", "a");
    world.skill("r/.compozy/agents/a/skills/mine", "mine");
    world.agent("h/agents/a", "a");
    world.skill("h/agents/a/skills/theirs", "theirs");
    let (scanned, watched) = world.scan_watched();
    let [(agent, own)] = scanned.agent_skills.as_slice() else {
        panic!("{:?}", scanned.agent_skills)
    };
    assert_eq!(agent, "a");
    assert_eq!(
        own.iter().map(|skill| skill.name.as_str()).collect::<Vec<_>>(),
        ["mine"]
    );
    assert_eq!(skill_names(&scanned), [""; 0]);
    assert!(!watched.paths().any(|path| path.contains("theirs")));
}

#[test]
fn r174_the_products_own_directory_wins_over_those_of_conventions() {
    let mut world = World::new();
    world.places.sources.claude = true;
    let directories = ["r/.compozy/skills/x", "r/.agents/skills/x", "r/.claude/skills/x"];
    for directory in directories {
        world.skill(directory, "x");
    }
    let scanned = world.scan();
    let found = skill(&scanned, "x");
    assert_eq!(
        (found.layer, found.source.as_str()),
        (Layer::Workspace, "compozy")
    );
    let losers = directories[1..].iter();
    let losers: Vec<_> = losers
        .map(|loser| (Layer::Workspace, format!("{loser}/SKILL.md")))
        .collect();
    assert_eq!(world.losers(&found.shadowed), losers);
}

#[test]
fn an_additional_roots_own_directory_wins_over_conventions_and_custom_ones_of_any() {
    let mut world = World::new();
    world.add_roots(&["x1", "x2"]);
    world.add_custom("kit");
    for directory in ["kit/x", "x1/.agents/skills/x", "x2/.compozy/skills/x"] {
        world.skill(directory, "x");
    }
    let scanned = world.scan();
    let found = skill(&scanned, "x");
    assert_eq!(world.below(&found.path), "x2/.compozy/skills/x/SKILL.md");
    assert_eq!(
        world.losers(&found.shadowed),
        [
            (Layer::Additional, "x1/.agents/skills/x/SKILL.md".to_owned()),
            (Layer::Additional, "kit/x/SKILL.md".to_owned()),
        ]
    );
}

#[test]
fn r185_a_custom_source_loses_to_the_workspace_and_wins_over_the_user() {
    let mut world = World::new();
    world.add_custom("kit");
    world.skill("kit/x", "x");
    world.skill("h/skills/x", "x");
    world.skill("r/.compozy/skills/x", "x");
    assert_eq!(skill(&world.scan(), "x").layer, Layer::Workspace);
    world.remove("r/.compozy/skills");
    let scanned = world.scan();
    let found = skill(&scanned, "x");
    assert_eq!((found.layer, found.source.as_str()), (Layer::Additional, "kit"));
}

#[test]
fn r227_conventions_of_the_active_profile() {
    let mut world = World::with_profile();
    let first = [
        ("h/profiles/p/skills/a", "a", Layer::Profile),
        ("h/profiles/p/.agents/skills/b", "b", Layer::Profile),
        (
            "r/.compozy/profiles/p/.agents/skills/c",
            "c",
            Layer::WorkspaceProfile,
        ),
        (
            "r/.compozy/profiles/p/.claude/skills/d",
            "d",
            Layer::WorkspaceProfile,
        ),
    ];
    for (directory, name, _) in first {
        world.skill(directory, name);
    }
    let scanned = world.scan();
    assert_eq!(skill_names(&scanned), ["a", "b", "c"]);
    world.places.sources.claude = true;
    let scanned = world.scan();
    for (_, name, layer) in first {
        assert_eq!(skill(&scanned, name).layer, layer, "{name}");
    }
    world.places.profile = None;
    assert_eq!(skill_names(&world.scan()), [""; 0]);
}

#[test]
fn r226_marketplace_and_bundled_are_below_the_user() {
    let world = World::new();
    let bundled = [Bundled {
        directory_name: "x",
        text: "---\nname: x\ndescription: Built in\n---\nDo it.\n",
    }];
    world.skill("h/skills/b", "x");
    world.skill("h/skills/a", "x");
    crate::marketplace::install(&world, "h/skills/a");
    let scanned = world.scan_with(&bundled);
    let found = skill(&scanned, "x");
    assert_eq!(found.layer, Layer::User);
    assert_eq!(
        world.losers(&found.shadowed),
        [
            (Layer::Marketplace, "h/skills/a/SKILL.md".to_owned()),
            (Layer::Bundled, "bundled:x/SKILL.md".to_owned()),
        ]
    );
    world.remove("h/skills/b");
    let scanned = world.scan_with(&bundled);
    let found = skill(&scanned, "x");
    assert_eq!((found.layer, found.shadowed.len()), (Layer::Marketplace, 1));
    world.remove("h/skills/a");
    let scanned = world.scan_with(&bundled);
    let found = skill(&scanned, "x");
    assert_eq!((found.layer, found.shadowed.len()), (Layer::Bundled, 0));
    assert_eq!(found.description, "Built in");
    assert_eq!(skill_names(&world.scan()), [""; 0], "this build has none");
}
