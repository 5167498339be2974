//! What one agent sees.

use compozy_domain::Layer;
use compozy_resolver::definition::Skill;
use compozy_resolver::snapshot::{Overlay, Snapshot};

use crate::world::{World, skill, skills};

fn seen<'o>(overlay: &'o Overlay<'_>) -> Vec<&'o str> {
    overlay.skills.iter().map(|skill| skill.name.as_str()).collect()
}

fn find<'o>(overlay: &'o Overlay<'_>, name: &str) -> &'o Skill {
    overlay.skills.iter().find(|skill| skill.name == name).unwrap()
}

fn of<'s>(snapshot: &'s Snapshot, agent: &str) -> Overlay<'s> {
    snapshot.for_agent(agent).unwrap()
}

#[test]
fn r168_the_agent_s_own_skill_beats_every_tier() {
    let mut world = World::with_profile();
    world.request.additional_dirs = vec![world.at("x")];
    world.agent("r/.compozy", "a", "prompt");
    let tiers = [
        ("r/.compozy/agents/a/skills", Layer::AgentLocal),
        ("r/.compozy/profiles/p/skills", Layer::WorkspaceProfile),
        ("r/.compozy/skills", Layer::Workspace),
        ("x/.compozy/skills", Layer::Additional),
        ("h/profiles/p/skills", Layer::Profile),
        ("h/skills", Layer::User),
    ];
    for (base, _) in tiers {
        world.skill(base, "s", base);
    }
    for (at, (base, layer)) in tiers.into_iter().enumerate() {
        let snapshot = world.resolve();
        let overlay = of(&snapshot, "a");
        let winner = find(&overlay, "s");
        assert_eq!(
            (winner.layer, &winner.path),
            (layer, &world.at(&format!("{base}/s/SKILL.md")))
        );
        let losers: Vec<(Layer, String)> = winner
            .shadowed
            .iter()
            .map(|shadowed| (shadowed.layer, shadowed.path.clone()))
            .collect();
        let expected: Vec<(Layer, String)> = tiers[at + 1..]
            .iter()
            .map(|(base, layer)| (*layer, world.at(&format!("{base}/s/SKILL.md"))))
            .collect();
        assert_eq!(losers, expected);
        world.remove(base);
    }
    assert!(of(&world.resolve(), "a").skills.is_empty());
}

#[test]
fn without_an_agent_no_agent_s_skills_are_seen() {
    let world = World::new();
    world.agent("r/.compozy", "a", "prompt");
    world.agent("r/.compozy", "b", "prompt");
    world.skill("r/.compozy/agents/a/skills", "own", "text");
    world.skill("r/.compozy/skills", "shared", "text");
    let snapshot = world.resolve();
    assert_eq!(skills(&snapshot), ["shared"]);
    assert_eq!(seen(&of(&snapshot, "a")), ["own", "shared"]);
    assert_eq!(seen(&of(&snapshot, "b")), ["shared"]);
    assert_eq!(snapshot.for_agent("c"), None);
}

#[test]
fn r171_a_shadowed_agent_s_skills_are_not_used() {
    let world = World::new();
    world.agent("r/.compozy", "a", "wins");
    world.agent("h", "a", "loses");
    world.skill("h/agents/a/skills", "s", "text");
    assert!(of(&world.resolve(), "a").skills.is_empty());
}

#[test]
fn r172_a_skill_that_is_disabled_is_hidden_from_its_agent_too() {
    let world = World::new();
    world.agent("r/.compozy", "a", "prompt");
    world.skill("r/.compozy/agents/a/skills", "x", "text");
    world.skill("h/skills", "x", "text");
    world.write("r/.compozy/config.toml", "[skills]\ndisabled_skills = [\"x\"]\n");
    let snapshot = world.resolve();
    assert!(of(&snapshot, "a").skills.is_empty() && snapshot.skills.is_empty());
}

#[test]
fn r173_an_agent_hides_a_skill_from_itself_only() {
    let world = World::new();
    let content = "---\nname: a\ndescription: d\nskills:\n  disabled: [x]\n---\nprompt\n";
    world.write("r/.compozy/agents/a/AGENT.md", content);
    world.agent("r/.compozy", "b", "prompt");
    world.skill("r/.compozy/skills", "x", "text");
    world.skill("h/skills", "x", "text");
    world.skill("r/.compozy/agents/a/skills", "x", "text");
    let snapshot = world.resolve();
    assert!(of(&snapshot, "a").skills.is_empty());
    assert_eq!(seen(&of(&snapshot, "b")), ["x"]);
    assert_eq!(skills(&snapshot), ["x"]);
}

#[test]
fn each_view_has_a_fingerprint_of_what_it_shows() {
    let world = World::new();
    world.agent("r/.compozy", "a", "prompt");
    world.agent("r/.compozy", "b", "prompt");
    world.skill("r/.compozy/agents/a/skills", "own", "text");
    let before = world.resolve();
    let [of_a, of_b] = ["a", "b"].map(|name| of(&before, name).fingerprint);
    assert_ne!(of_a, of_b);
    assert_ne!(of_a, before.fingerprint);
    world.write(
        "r/.compozy/agents/a/skills/own/SKILL.md",
        &skill("own", "other text"),
    );
    let after = world.resolve();
    assert_ne!(of(&after, "a").fingerprint, of_a, "its own skill changed");
    assert_eq!(of(&after, "b").fingerprint, of_b, "which nobody else sees");
    assert_eq!(after.fingerprint, before.fingerprint);
    assert_eq!(of(&after, "a").fingerprint, of(&world.resolve(), "a").fingerprint);
}

#[test]
fn r189_a_broken_skill_of_the_agent_shadows_and_says_so() {
    let world = World::new();
    world.agent("r/.compozy", "a", "prompt");
    world.write(
        "r/.compozy/agents/a/skills/s/SKILL.md",
        "---\nname: s\nname: s\n---\ntext\n",
    );
    world.skill("r/.compozy/skills", "s", "good");
    let snapshot = world.resolve();
    assert!(snapshot.skills[0].usable);
    let overlay = of(&snapshot, "a");
    let skill = find(&overlay, "s");
    assert!(!skill.usable);
    assert_eq!(skill.shadowed.len(), 1);
    assert_eq!(overlay.diagnostics.len(), 1);
    assert_eq!(overlay.diagnostics[0].code, "shadowed_by_broken");
    assert!(skill.diagnostics.contains(&overlay.diagnostics[0]));
}
