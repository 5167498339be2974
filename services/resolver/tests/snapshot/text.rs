//! The texts of a snapshot.

use compozy_domain::Layer;
use compozy_resolver::ContentHash;
use compozy_resolver::snapshot::{Snapshot, TextFault, TextKind, definition_text};

use crate::world::{World, skill};

fn text(
    world: &World,
    snapshot: &Snapshot,
    agent: Option<&str>,
    kind: TextKind,
    name: &str,
) -> Result<String, TextFault> {
    definition_text(&world.files, snapshot, agent, kind, name).map(|text| {
        assert_eq!(text.hash, ContentHash::of(text.text.as_bytes()));
        text.text
    })
}

fn world() -> World {
    let world = World::new();
    world.agent("r/.compozy", "a", "the prompt\n---\nof a");
    world.skill("r/.compozy/skills", "s", "shared ä");
    world.skill("r/.compozy/agents/a/skills", "s", "a's own");
    world
}

#[test]
fn r222_the_text_is_the_very_one_with_that_digest() {
    let world = world();
    let snapshot = world.resolve();
    let agent = text(&world, &snapshot, None, TextKind::Agent, "a").unwrap();
    assert_eq!(agent, "the prompt\n---\nof a\n");
    assert_eq!(snapshot.agents[0].prompt_hash, ContentHash::of(agent.as_bytes()));
    assert_eq!(snapshot.agents[0].prompt_size, agent.len());
    assert_eq!(
        text(&world, &snapshot, None, TextKind::Skill, "s").unwrap(),
        "shared ä\n"
    );
    assert_eq!(
        text(&world, &snapshot, Some("a"), TextKind::Skill, "s").unwrap(),
        "a's own\n"
    );
    let whole = definition_text(&world.files, &snapshot, None, TextKind::Skill, "s").unwrap();
    assert_eq!(whole.path, world.at("r/.compozy/skills/s/SKILL.md"));
    assert_eq!(whole.layer, Layer::Workspace);
}

#[test]
fn r223_another_text_is_never_answered() {
    let edits: [&dyn Fn(&World); 6] = [
        &|world| world.write("r/.compozy/skills/s/SKILL.md", &skill("s", "shared b")),
        &|world| world.write("r/.compozy/skills/s/SKILL.md", "no front matter"),
        &|world| world.remove("r/.compozy/skills/s/SKILL.md"),
        &|world| world.remove("r/.compozy/skills/s"),
        &|world| {
            world.remove("r/.compozy/skills/s/SKILL.md");
            world.write("elsewhere", &skill("s", "shared ä"));
            world
                .place
                .link(&world.at("elsewhere"), "r/.compozy/skills/s/SKILL.md");
        },
        &|world| {
            std::fs::rename(world.at("r/.compozy/skills"), world.at("moved")).unwrap();
            world.place.link(&world.at("moved"), "r/.compozy/skills");
        },
    ];
    for edit in edits {
        let world = world();
        let snapshot = world.resolve();
        edit(&world);
        assert_eq!(
            text(&world, &snapshot, None, TextKind::Skill, "s"),
            Err(TextFault::Stale)
        );
    }
    let world = world();
    let snapshot = world.resolve();
    world.write(
        "r/.compozy/skills/s/SKILL.md",
        &skill("s", "shared ä").replace("a skill", "other words"),
    );
    assert!(
        text(&world, &snapshot, None, TextKind::Skill, "s").is_ok(),
        "its text is the same"
    );
}

#[test]
fn what_the_snapshot_does_not_have_has_no_text() {
    let world = world();
    world.write("r/.compozy/agents/broken/AGENT.md", "no front matter");
    world.write("r/.compozy/agents/bytes/AGENT.md", "---\nname: bytes\n---\nx");
    std::fs::write(
        world.at("r/.compozy/agents/bytes/AGENT.md"),
        b"---\nname: bytes\n---\n\xff",
    )
    .unwrap();
    let snapshot = world.resolve();
    for (agent, kind, name, fault) in [
        (None, TextKind::Skill, "t", TextFault::NotFound),
        (None, TextKind::Agent, "s", TextFault::NotFound),
        (Some("nope"), TextKind::Skill, "s", TextFault::AgentNotFound),
        (None, TextKind::Agent, "broken", TextFault::NotFound),
    ] {
        assert_eq!(text(&world, &snapshot, agent, kind, name), Err(fault), "{name}");
    }
    assert!(text(&world, &snapshot, None, TextKind::Agent, "bytes").is_err());
}
