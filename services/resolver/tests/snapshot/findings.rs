//! Everything worth knowing, in order, whole, and never a secret.

use std::collections::HashSet;

use compozy_domain::Severity;
use compozy_resolver::snapshot::Snapshot;

use crate::world::{World, agents, codes, content, skills};

/// A workspace with something wrong in every place where something can be.
fn messy() -> World {
    let mut world = World::with_profile();
    world.write(
        "h/config.toml",
        "[config]\nunknown_keys = \"warn\"\n[permisions]\nmode = 1\n",
    );
    world.write(
        "h/mcp.json",
        "{\"mcpServers\": {\"s\": {\"command\": \"c\", \"alwaysAllow\": []}}}",
    );
    world.write("h/profiles/ghost/config.toml", "");
    world.write("r/.env", "COMPOZY_HOME=/nowhere\nnot an assignment\n");
    world.write(
        "r/.compozy/agents/b/AGENT.md",
        "---\nname: b\nname: b\n---\nprompt\n",
    );
    world.write(
        "r/.compozy/agents/c/AGENT.md",
        "---\nname: c\ndescription: Use when: x\n---\nprompt\n",
    );
    world.write("r/.compozy/agents/d/AGENT.md", "no front matter");
    world.agent("h", "b", "not used");
    world.write("r/.compozy/skills/s/SKILL.md", "---\nname: [\n---\ntext\n");
    world.skill("h/skills", "s", "not used");
    world.write("r/.compozy/skills/t/skill.md", "not read");
    world.place.link("nowhere", "r/.compozy/skills/dangling");
    world.request.additional_dirs = vec![world.at("gone"), world.at("x")];
    world.write("x", "a file");
    world.request.durable_id = Some(crate::support::ID2.to_owned());
    world
}

fn place(diagnostic: &compozy_domain::Diagnostic) -> (&str, Option<u32>, Option<u32>) {
    (&diagnostic.path, diagnostic.line, diagnostic.column)
}

#[test]
fn r190_r197_diagnostics_are_sorted_and_told_once() {
    let world = messy();
    let snapshot = world.resolve();
    assert!(
        snapshot.diagnostics.len() > 8,
        "{:?}",
        codes(&snapshot.diagnostics)
    );
    assert!(snapshot.diagnostics.is_sorted_by_key(place));
    let told: HashSet<String> = snapshot
        .diagnostics
        .iter()
        .map(|one| format!("{one:?}"))
        .collect();
    assert_eq!(told.len(), snapshot.diagnostics.len());
    assert_eq!(world.resolve().diagnostics, snapshot.diagnostics);
}

#[test]
fn r191_every_diagnostic_says_what_where_and_what_to_do() {
    for diagnostic in messy().resolve().diagnostics {
        assert!(
            !diagnostic.code.is_empty() && diagnostic.layer.is_some(),
            "{diagnostic:?}"
        );
        assert!(diagnostic.path.starts_with('/'), "{diagnostic:?}");
        assert!(!diagnostic.message.is_empty(), "{diagnostic:?}");
        assert!(!diagnostic.message.contains(&diagnostic.path), "{diagnostic:?}");
        assert!(
            diagnostic.severity == Severity::Info || !diagnostic.remedy.is_empty(),
            "{diagnostic:?}"
        );
    }
}

#[test]
fn r192_r193_an_additional_root_that_is_gone_is_told_and_the_others_are_read() {
    let mut world = World::new();
    world.agent("y/.compozy", "y", "prompt");
    world.skill("y/.compozy/skills", "s", "text");
    world.request.additional_dirs = vec![world.at("x"), world.at("y")];
    for content in [None, Some("a file")] {
        if let Some(content) = content {
            world.write("x", content);
        }
        let snapshot = world.resolve();
        assert_eq!(snapshot.diagnostics.len(), 1, "{:?}", snapshot.diagnostics);
        assert_eq!(snapshot.diagnostics[0].path, world.at("x"));
        assert_eq!((agents(&snapshot), skills(&snapshot)), (vec!["y"], vec!["s"]));
    }
}

#[test]
fn r196_broken_agents_and_skills_do_not_break_the_snapshot() {
    let snapshot = messy().resolve();
    assert!(
        snapshot
            .diagnostics
            .iter()
            .any(|one| one.severity == Severity::Error)
    );
    let unusable = |name: &str| {
        snapshot
            .agents
            .iter()
            .any(|agent| agent.name == name && !agent.usable)
    };
    assert!(unusable("b") && unusable("d"));
    assert!(
        snapshot
            .agents
            .iter()
            .any(|agent| agent.name == "c" && agent.usable)
    );
    assert!(
        snapshot
            .skills
            .iter()
            .any(|skill| skill.name == "s" && !skill.usable)
    );
}

#[test]
fn r157_errors_in_some_agents_leave_the_others_usable() {
    let world = World::new();
    for name in ["a", "e"] {
        world.agent("r/.compozy", name, "prompt");
    }
    world.write(
        "r/.compozy/agents/b/AGENT.md",
        "---\nname: b\nname: b\n---\nprompt\n",
    );
    world.write("r/.compozy/agents/c/AGENT.md", "---\nname: c\n---\n \n");
    world.agent("r/.compozy", "d", "prompt");
    world.write("r/.compozy/agents/d/mcp.json", "{");
    let snapshot = world.resolve();
    let usable: Vec<(&str, bool)> = snapshot
        .agents
        .iter()
        .map(|agent| (agent.name.as_str(), agent.usable))
        .collect();
    let expected = [("a", true), ("b", false), ("c", false), ("d", false), ("e", true)];
    assert_eq!(usable, expected);
    let errors = snapshot.diagnostics.iter();
    let errors = errors.filter(|found| found.severity == Severity::Error);
    assert_eq!(errors.count(), 3);
}

fn with_secret(secret: &str) -> Snapshot {
    let world = World::new();
    let server = format!(
        "{{\"command\": \"c\", \"env\": {{\"API_TOKEN\": \"{secret}\"}}, \"secret_env\": {{\"X\": \"{secret}\"}}}}"
    );
    world.write("h/mcp.json", &format!("{{\"mcpServers\": {{\"s\": {server}}}}}"));
    world.write(
        "r/.compozy/config.toml",
        &format!("[providers.p]\nsecret_env = {{ KEY = \"{secret}\" }}\n"),
    );
    world.write(
        "r/.compozy/agents/a/mcp.json",
        &format!("{{\"mcpServers\": {{\"s\": {server}}}}}"),
    );
    world.agent("r/.compozy", "a", "prompt");
    world.write("r/.env", &format!("TOKEN={secret}\n"));
    // Of two worlds only what does not name their directories can be compared.
    let mut snapshot = world.resolve();
    snapshot.root = String::new();
    snapshot
}

#[test]
fn r093_a_secret_is_in_nothing_that_is_shown() {
    let snapshot = with_secret("s3cr3t-1");
    let shown = format!("{snapshot:?} {:?}", snapshot.config.shown());
    assert!(!shown.contains("s3cr3t-1"));
    assert!(shown.contains("<redacted>"));
    for leaf in snapshot.config.leaves() {
        assert!(
            !format!("{:?}", leaf.shown()).contains("s3cr3t-1"),
            "{}",
            leaf.key
        );
    }
}

#[test]
fn r093_r210_a_fingerprint_names_what_is_shown() {
    let world = World::new();
    let write = |secret: &str, command: &str| {
        let server = format!("{{\"command\": \"{command}\", \"env\": {{\"API_TOKEN\": \"{secret}\"}}}}");
        world.write("h/mcp.json", &format!("{{\"mcpServers\": {{\"s\": {server}}}}}"));
        world.resolve().fingerprint
    };
    let first = write("one", "c");
    assert_eq!(first.len(), 64);
    assert_eq!(write("two", "c"), first, "no secret is in it");
    assert_ne!(write("one", "d"), first);
    assert_eq!(write("one", "c"), first);
}

#[test]
fn r210_equal_content_has_an_equal_fingerprint_and_any_other_has_not() {
    let world = messy();
    let first = world.resolve();
    let again = world.resolve();
    assert_eq!(content(&first), content(&again));
    assert_eq!(first.fingerprint, again.fingerprint);
    let edits: [(&str, &str); 8] = [
        (
            "h/config.toml",
            "[config]\nunknown_keys = \"warn\"\n\n[permisions]\nmode = 1\n",
        ),
        ("h/mcp.json", "{\"mcpServers\": {\"s\": {\"command\": \"d\"}}}"),
        ("r/.env", "COMPOZY_HOME=/nowhere\n"),
        (
            "r/.compozy/agents/c/AGENT.md",
            "---\nname: c\ndescription: Use when: x\n---\nother\n",
        ),
        ("r/.compozy/agents/d/AGENT.md", "---\nname: d\n---\nprompt\n"),
        (
            "r/.compozy/skills/s/SKILL.md",
            "---\nname: s\ndescription: y\n---\ntext\n",
        ),
        ("h/skills/u/SKILL.md", "---\nname: u\ndescription: y\n---\ntext\n"),
        ("h/profiles/ghost/mcp.json", "{}"),
    ];
    let mut seen = HashSet::from([first.fingerprint]);
    for (path, text) in edits {
        world.write(path, text);
        assert!(seen.insert(world.resolve().fingerprint), "{path}");
    }
}
