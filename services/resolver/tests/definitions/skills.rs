//! What a skill is called, and what of its front matter counts.

use compozy_domain::Severity;
use compozy_resolver::definition::text_of;
use compozy_resolver::files::ContentHash;

use crate::support::{error, skill, the};

#[test]
fn r159_without_a_name_the_directory_is_it() {
    let skill = skill("---\ndescription: d\n---\nText.\n");
    assert!(skill.usable);
    assert_eq!(skill.name, "foo");
    assert_eq!(
        the("skill_name_missing", &skill.diagnostics).severity,
        Severity::Warning
    );
}

#[test]
fn r160_the_name_wins_over_the_directory_and_nobody_minds() {
    let skill = skill("---\nname: bar\ndescription: d\n---\nText.\n");
    assert_eq!((skill.name.as_str(), skill.usable), ("bar", true));
    assert!(skill.path.ends_with("/foo/SKILL.md"));
    assert_eq!(skill.diagnostics, []);
}

#[test]
fn names_of_skills_are_as_people_write_them() {
    for (written, name) in [
        ("My Skill (v2)", "My Skill (v2)"),
        ("\" padded \"", "padded"),
        ("42", "42"),
        ("été", "été"),
    ] {
        let skill = skill(format!("---\nname: {written}\n---\nText.\n"));
        assert_eq!(
            (skill.name.as_str(), skill.usable),
            (name, true),
            "{:?}",
            skill.diagnostics
        );
    }
    let long = "x".repeat(129);
    for written in ["a/b", "\"a\\nb\"", "\"a\\u001b[31m\"", "\" \"", "[a]", &long] {
        let skill = skill(format!("---\nname: {written}\n---\nText.\n"));
        assert_eq!(error(&skill.diagnostics), ("skill_name_invalid", 2, 1));
        assert_eq!((skill.name.as_str(), skill.usable), ("foo", false));
    }
}

#[test]
fn keys_of_other_products_pass_and_slips_are_told() {
    let all = "license: MIT\nallowed-tools: Read\nmetadata:\n  version: 1.2.0\nversion: 1\ntags: [a]\nargument-hint: x\ndisable-model-invocation: true";
    let other = skill(format!("---\nname: s\ndescription: d\n{all}\n---\nText.\n"));
    assert_eq!(other.diagnostics, []);
    let slip = skill("---\nname: s\nDescriptoin: d\n---\nText.\n");
    assert!(slip.usable);
    let found = the("skill_unknown_key", &slip.diagnostics);
    assert_eq!((found.severity, found.line), (Severity::Info, Some(3)));
    assert!(found.message.contains("`description`"));
}

#[test]
fn the_digest_is_that_of_the_text() {
    let file = "---\nname: s\n---\n\nText.\r\n";
    let skill = skill(file);
    let text = text_of(file.as_bytes()).unwrap();
    assert_eq!(skill.text_hash, ContentHash::of(text));
    assert_eq!((skill.text_size, text), (text.len(), "\nText.\r\n".as_bytes()));
    assert_eq!(skill.source, "compozy");
}

#[test]
fn a_skill_without_a_text_is_one() {
    assert!(skill("---\nname: s\ndescription: d\n---\n").usable);
}
