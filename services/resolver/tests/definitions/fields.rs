//! Fields of an agent.

use compozy_domain::Severity;
use compozy_resolver::definition::Permissions;
use compozy_resolver::value::Value;

use crate::support::{agent, agent_with, codes, error, skill, the};

#[test]
fn every_field_is_read() {
    let agent = agent(
        "---\nname: reviewer\ndescription: >\n  Reviews\n  changes.\nprovider: codex\ncommand: codex --x\nmodel: m\nreasoning_effort: medium\ntools: [Read, 'Bash(git:*)']\ndeny_tools:\n  - Write\ntoolsets: base\npermissions: approve-reads\nskills:\n  disabled: [a, b]\ncategory_path:\n  - Group\n  - Sub\nhooks:\n  - name: h\n    event: start\n    env: {API_TOKEN: s3cr3t, LANG: C}\n---\nReview.\n",
    );
    assert_eq!(agent.diagnostics, []);
    assert!(agent.usable);
    assert_eq!(agent.description, "Reviews changes.");
    assert_eq!(
        (agent.provider.as_str(), agent.command.as_str()),
        ("codex", "codex --x")
    );
    assert_eq!(
        (agent.model.as_str(), agent.reasoning_effort.as_str()),
        ("m", "medium")
    );
    assert_eq!(agent.tools, ["Read", "Bash(git:*)"]);
    assert_eq!(
        (agent.deny_tools, agent.toolsets),
        (vec!["Write".to_owned()], vec!["base".to_owned()])
    );
    assert_eq!(agent.permissions, Some(Permissions::ApproveReads));
    assert_eq!(agent.disabled_skills, ["a", "b"]);
    assert_eq!(agent.category_path, ["Group", "Sub"]);
    let hook = agent.hooks[0].as_table().unwrap();
    assert_eq!(hook["event"], Value::Text("start".to_owned()));
    let env = hook["env"].as_table().unwrap();
    assert_eq!(env["LANG"].as_text(), Some("C"));
    assert_eq!(env["API_TOKEN"].as_text(), Some("<redacted>"));
}

#[test]
fn texts_with_commas_are_lists() {
    let agent = agent_with(
        "tools: Read, Grep, Bash(git add, git commit)\nskills.disabled: a, b\ncategory_path: One, two",
    );
    assert_eq!(agent.diagnostics, []);
    assert_eq!(agent.tools, ["Read", "Grep", "Bash(git add, git commit)"]);
    assert_eq!(agent.disabled_skills, ["a", "b"]);
    assert_eq!(agent.category_path, ["One, two"]);
}

#[test]
fn r136_an_unknown_key_is_a_warning() {
    let agent = agent_with("colour: red");
    assert!(agent.usable);
    let found = the("agent_unknown_key", &agent.diagnostics);
    assert_eq!(
        (found.severity, found.line, found.column),
        (Severity::Warning, Some(3), Some(1))
    );
    assert_eq!(found.key.as_deref(), Some("colour"));
    assert!(found.message.contains("`colour`") && !found.message.contains("red"));
}

#[test]
fn unknown_keys_find_the_one_that_was_meant() {
    for (line, meant) in [
        ("descripton: x", "`description`"),
        ("mcpServers: {}", "`mcp_servers`"),
        ("allowed-tools: x", "`tools`"),
    ] {
        let agent = agent_with(line);
        assert!(
            the("agent_unknown_key", &agent.diagnostics)
                .message
                .contains(meant),
            "{line}"
        );
    }
    let skills = agent_with("skills: [a]");
    assert!(skills.usable && skills.disabled_skills.is_empty());
    the("agent_unknown_key", &skills.diagnostics);
    let nested = agent_with("skills:\n  enabled: [a]");
    assert_eq!(the("agent_unknown_key", &nested.diagnostics).line, Some(4));
}

#[test]
fn r146_permissions_are_one_of_three() {
    let agent = agent_with("permissions: approve");
    assert_eq!(
        (agent.usable, error(&agent.diagnostics)),
        (false, ("agent_permissions_invalid", 3, 1))
    );
    for value in ["deny-all", "approve-reads", "approve-all"] {
        assert!(agent.diagnostics[0].message.contains(value));
        assert!(agent_with(&format!("permissions: {value}")).usable);
    }
    assert!(!agent_with("permissions: [deny-all]").usable);
}

#[test]
fn r137_an_agent_needs_a_prompt() {
    for blank in ["", "\n", " \t\r\n\n", "\u{a0}\n"] {
        let agent = agent(format!("---\nname: reviewer\n---\n{blank}"));
        assert_eq!(
            (agent.usable, error(&agent.diagnostics)),
            (false, ("agent_prompt_empty", 3, 1))
        );
    }
}

#[test]
fn other_types_are_errors_at_their_place() {
    let cases = [
        ("description: [a]", 3, 1),
        ("model: {a: b}", 3, 1),
        ("tools: {a: b}", 3, 1),
        ("tools:\n  - a\n  - [b]", 5, 5),
        ("hooks: x", 3, 1),
        ("hooks: [x]", 3, 9),
    ];
    for (line, number, column) in cases {
        let agent = agent_with(line);
        let (_, found, at) = error(&agent.diagnostics);
        assert_eq!((agent.usable, found, at), (false, number, column), "{line}");
    }
    let unset =
        agent_with("description:\nmodel: ~\ntools:\nhooks:\nskills:\nmcp_servers:\npermissions: null");
    assert!(unset.usable);
    assert_eq!(codes(&unset.diagnostics), Vec::<&str>::new());
}

#[test]
fn a_description_is_cut_to_what_is_kept() {
    let kept = "é".repeat(1_024);
    let agent = agent_with(&format!("description: {kept}"));
    assert_eq!(
        (agent.diagnostics.len(), agent.description.as_str()),
        (0, kept.as_str())
    );
    let skill = skill(format!("---\nname: foo\ndescription: {kept}x\n---\nText.\n"));
    assert!(skill.usable);
    assert_eq!(skill.description, kept);
    let found = the("description_cut", &skill.diagnostics);
    assert_eq!((found.severity, found.line), (Severity::Warning, Some(3)));
}
