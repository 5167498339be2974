//! Lines that are no YAML and plainly meant.

use compozy_domain::{Diagnostic, Severity};

use crate::support::{agent, agent_with, codes, error, skill, the};

/// Checks that a warning stands in line 3 and shows this quoted form.
#[track_caller]
fn shows(found: &Diagnostic, quoted: &str) {
    assert_eq!((found.severity, found.line), (Severity::Warning, Some(3)));
    assert!(
        found.message.contains(quoted),
        "{} does not show {quoted}",
        found.message
    );
    assert!(!found.remedy.is_empty());
}

#[test]
fn r140_a_plain_colon_is_recovered() {
    let agent = agent_with("description: Use when: x");
    assert!(agent.usable);
    assert_eq!(agent.description, "Use when: x");
    assert_eq!(codes(&agent.diagnostics), ["front_matter_recovered"]);
    let found = the("front_matter_recovered", &agent.diagnostics);
    shows(found, r#"description: "Use when: x""#);
    assert_eq!(
        (found.column, found.key.as_deref()),
        (Some(14), Some("description"))
    );
}

#[test]
fn r141_reserved_characters_are_recovered_whole() {
    let values = [
        "@team",
        "`x`",
        "%d",
        "[draft] y",
        "{draft} y",
        "*bold* y",
        "*",
        "&you and me",
        "&",
        "!important stuff",
        "! note",
        "|x",
        "> quoted",
        "- item",
        "? what",
        ", and",
        "\"quoted\" and more",
        "'it's",
        "ends with:",
        "a: b: c",
        "é: ß 😀",
        "C:\\dir \"x\": y",
        "a: b # c",
        "a:\tb\u{7}",
    ];
    for value in values {
        let agent = agent_with(&format!("description: {value}"));
        assert!(agent.usable, "{value}: {:#?}", agent.diagnostics);
        assert_eq!(agent.description, value);
        assert_eq!(the("front_matter_recovered", &agent.diagnostics).line, Some(3));
    }
}

#[test]
fn r141_half_of_a_value_that_goes_on_below_is_not_used() {
    for value in [
        "!important stuff\n  and more",
        "&you and me\n  and them",
        "!x\n  stuff",
    ] {
        let agent = agent_with(&format!("model: m\ndescription: {value}"));
        assert!(!agent.usable, "{value}: {:?}", agent.description);
        assert_eq!(
            error(&agent.diagnostics),
            ("front_matter_value_cut", 4, 1),
            "{value}"
        );
        assert_eq!((agent.description.as_str(), agent.model.as_str()), ("", ""));
        assert_eq!(agent.name, "reviewer");
    }
    // What is quoted, or referred to, has lost nothing.
    for value in ["&you \"all of\n  it\"", "&you all\n  of it\ncommand: *you"] {
        let agent = agent_with(&format!("description: {value}"));
        assert!(agent.usable, "{value}: {:?}", agent.diagnostics);
        assert_eq!(agent.description, "all of it");
    }
}

#[test]
fn what_is_shown_can_be_put_in_its_place() {
    for value in ["a: \"b\" \\c", "@a\tb", "x: \u{202e}y", "`é`: 'x'"] {
        let first = agent_with(&format!("description: {value}"));
        let message = &the("front_matter_recovered", &first.diagnostics).message;
        let (_, line) = message.split_once("Write: ").unwrap();
        let second = agent_with(line);
        assert_eq!(second.description, value);
        assert_eq!(second.diagnostics, []);
    }
}

#[test]
fn r142_nested_lines_are_not_recovered() {
    let agent = agent_with("tools:\n  - a: b: c");
    assert_eq!(
        (agent.usable, error(&agent.diagnostics)),
        (false, ("front_matter_syntax", 4, 9))
    );
    let also = agent_with("description: Use when: x\ntools:\n  - a: b: c");
    assert_eq!(error(&also.diagnostics), ("front_matter_syntax", 5, 9));
    shows(
        the("front_matter_recovered", &also.diagnostics),
        r#""Use when: x""#,
    );
    assert_eq!(also.description, "", "never a half-read agent");
}

#[test]
fn r143_a_value_that_goes_on_below_is_not_recovered() {
    let fronts = [
        "description: Use it like this\n<example>\nuser: \"y\"\nassistant: z\n</example>",
        "description: Use it: like this\n<example>\nuser: \"y\"\n</example>",
        "description: Use it: like this <example>\nContext: a\nuser: \"y\"\nassistant: z</example>",
        "description: Use it: like this\n  and: that",
        "description: Use it: like this\nor like that\nmodel: x",
    ];
    for front in fronts {
        let agent = agent_with(front);
        assert!(!agent.usable, "{front}");
        let (code, line, _) = error(&agent.diagnostics);
        assert_eq!(code, "front_matter_syntax");
        assert!((3..=7).contains(&line), "{front}: {line}");
        assert_eq!((agent.description.as_str(), agent.model.as_str()), ("", ""));
        assert_eq!(agent.name, "reviewer");
    }
}

#[test]
fn r188_a_skill_is_recovered_by_the_same_rule() {
    let skill = skill("---\nname: foo\ndescription: a: b\n---\nText.\n");
    assert!(skill.usable);
    assert_eq!(skill.description, "a: b");
    shows(
        the("front_matter_recovered", &skill.diagnostics),
        r#"description: "a: b""#,
    );
}

#[test]
fn r228_a_value_that_a_comment_cuts_is_said() {
    let agent = agent_with("description: fixes issue #12 at once");
    assert!(agent.usable);
    assert_eq!(agent.description, "fixes issue");
    let found = the("front_matter_value_cut", &agent.diagnostics);
    shows(found, r##"description: "fixes issue #12 at once""##);
    assert_eq!(found.column, Some(26));
}

#[test]
fn r228_also_over_two_lines_in_lists_and_as_a_whole() {
    let agent = agent_with("description: fixes\n  issue #12\ntools:\n  - a #b\nmodel: #x");
    assert!(agent.usable);
    let shown: Vec<_> = agent
        .diagnostics
        .iter()
        .map(|found| (found.line.unwrap(), found.message.as_str()))
        .collect();
    assert_eq!(shown.len(), 3);
    assert!(
        shown[0].0 == 4 && shown[0].1.ends_with(r##"description: "fixes issue #12""##),
        "{shown:?}"
    );
    assert!(
        shown[1].0 == 6 && shown[1].1.ends_with(r##"- "a #b""##),
        "{shown:?}"
    );
    assert!(
        shown[2].0 == 7 && shown[2].1.ends_with(r##"model: "#x""##),
        "{shown:?}"
    );
}

#[test]
fn comments_that_cut_nothing_are_none_of_our_business() {
    let agent = agent_with(
        "# description: a: b\ndescription: 'issue #1' # note\ntools: # all of them\n  # really\n  - Read\nmodel: a#b\ncommand: # none\nx-count: 3 # three",
    );
    assert_eq!(codes(&agent.diagnostics), ["agent_unknown_key"]);
    assert_eq!(agent.description, "issue #1");
}

#[test]
fn lists_that_went_wrong_are_not_taken_for_texts() {
    for line in [
        "deny_tools: [Bash, Write",
        "deny_tools: [Bash, Write]]",
        "deny_tools: \"Bash",
        "deny_tools: [Bash] Write",
        "deny_tools: [a: b: c]",
    ] {
        let agent = agent_with(line);
        assert!(!agent.usable, "{line}: {:?}", agent.deny_tools);
        assert_eq!(error(&agent.diagnostics).1, 3, "{line}");
    }
}

#[test]
fn a_line_inside_of_a_quote_is_no_key() {
    let agent = agent("---\nname: reviewer\ndescription: 'one\nmodel: @x\n'\ncommand: a: b\n---\nReview.\n");
    assert!(agent.usable, "{:#?}", agent.diagnostics);
    assert_eq!(
        (agent.description.as_str(), agent.model.as_str()),
        ("one model: @x", "")
    );
    assert_eq!(agent.command, "a: b");
}

#[test]
fn secrets_are_not_shown() {
    let agent =
        agent_with("api_key: s3cr3t: x\ndescription: a: https://me:s3cr3t@host/\naccess_token: s3cr3t #1");
    assert!(agent.usable);
    assert!(!format!("{:?}", agent.diagnostics).contains("s3cr3t"));
    assert!(
        the("agent_unknown_key", &agent.diagnostics[..2])
            .message
            .contains("api_key")
    );
}

#[test]
fn r093_r228_a_secret_that_a_comment_cuts_is_not_shown() {
    let agent = agent_with(
        "headers: s3cr3t: x\nenv: A_TOKEN=s3cr3t: x\nrun: go --token s3cr3t: x\nmcp_servers:\n  - name: s\n    command: c\n\
         \x20   env:\n      A_TOKEN: s3cr3t #1\n      DB: db://u:s3cr3t@h #1\n      LANG: C #1\n    headers:\n      X: s3cr3t #1\n\
         \x20   secret_env: { Y: s3cr3t #1\n      }\n    auth:\n      a:\n        - s3cr3t #1\nhooks:\n  - headers:\n      Z: s3cr3t #1",
    );
    let told: Vec<_> = agent
        .diagnostics
        .iter()
        .map(|found| found.message.as_str())
        .collect();
    assert!(
        !told.iter().any(|message| message.contains("s3cr3t")),
        "{told:#?}"
    );
    let cut = told
        .iter()
        .filter(|message| message.contains("ends at ` #`"))
        .count();
    assert_eq!(cut, 7, "{told:#?}");
    assert!(
        told.iter().any(|message| message.ends_with(r##"LANG: "C #1""##)),
        "{told:#?}"
    );
}
