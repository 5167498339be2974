//! The lines around the front matter.

use compozy_domain::Severity;
use compozy_resolver::definition::text_of;
use compozy_resolver::files::ContentHash;

use crate::support::{agent, codes, error, skill, the};

#[test]
fn r128_what_editors_do_to_a_file_is_read_and_said() {
    let cases: [(&str, &[&str], &str); 4] = [
        (
            "---\r\nname: reviewer\r\n---\r\nReview.\r\n",
            &["front_matter_crlf"],
            "Review.\r\n",
        ),
        (
            "\u{feff}---\nname: reviewer\n---\nReview.\n",
            &["front_matter_byte_order_mark"],
            "Review.\n",
        ),
        (
            "---  \nname: reviewer\n---  \nReview.\n",
            &["front_matter_delimiter_blanks", "front_matter_delimiter_blanks"],
            "Review.\n",
        ),
        (
            "\u{feff}---  \r\nname: reviewer\r\n---  \r\nReview.\r\n",
            &[
                "front_matter_byte_order_mark",
                "front_matter_crlf",
                "front_matter_delimiter_blanks",
                "front_matter_delimiter_blanks",
            ],
            "Review.\r\n",
        ),
    ];
    for (file, expected, prompt) in cases {
        let agent = agent(file);
        assert!(agent.usable, "{:#?}", agent.diagnostics);
        let mut found = codes(&agent.diagnostics);
        found.sort_unstable();
        assert_eq!(found, expected);
        assert!(
            agent
                .diagnostics
                .iter()
                .all(|found| found.severity == Severity::Info)
        );
        assert_eq!(agent.prompt_hash, ContentHash::of(prompt.as_bytes()), "{file:?}");
        assert_eq!(agent.prompt_size, prompt.len());
    }
}

#[test]
fn r186_a_skill_with_crlf_is_read_like_one_without() {
    let with = skill("---\r\nname: s\r\ndescription: |\r\n  a\r\n  b\r\n---\r\nText.\r\n");
    let without = skill("---\nname: s\ndescription: |\n  a\n  b\n---\nText.\r\n");
    assert!(with.usable);
    assert_eq!(
        (&with.name, &with.description),
        (&without.name, &without.description)
    );
    assert_eq!(with.description, "a\nb");
    assert_eq!(with.text_hash, without.text_hash);
}

#[test]
fn r131_the_first_line_must_be_the_delimiter() {
    let words = [
        ("\n---\nname: reviewer\n---\nReview.\n", "blank"),
        (" ---\nname: reviewer\n---\nReview.\n", "indented"),
        ("----\nname: reviewer\n---\nReview.\n", "three dashes"),
        ("# Reviewer\n\nReview.\n", "no front matter"),
        ("", "empty"),
    ];
    for (file, word) in words {
        let agent = agent(file);
        assert!(!agent.usable);
        assert_eq!(
            error(&agent.diagnostics),
            ("front_matter_unopened", 1, 1),
            "{file:?}"
        );
        assert!(
            agent.diagnostics[0].message.contains(word),
            "{:?}",
            agent.diagnostics
        );
    }
}

#[test]
fn r132_without_a_second_delimiter_there_is_no_agent_to_use() {
    for file in [
        "---\nname: helper\n\nReview.\n",
        "---\nname: helper\n ---\nReview.\n---- \n",
        "---",
    ] {
        let agent = agent(file);
        assert!(!agent.usable);
        assert_eq!(
            error(&agent.diagnostics),
            ("front_matter_unclosed", 1, 1),
            "{file:?}"
        );
        assert_eq!(text_of(file.as_bytes()), None);
    }
}

#[test]
fn r187_one_broken_skill_among_ten_is_listed_with_its_place() {
    let good = "---\nname: good\ndescription: d\n---\nText.\n";
    let mut files = vec![good; 10];
    files[6] = "---\nname: broken\ndescription: d\nText.\n";
    let skills: Vec<_> = files.into_iter().map(skill).collect();
    assert_eq!(skills.iter().filter(|skill| skill.usable).count(), 9);
    let broken = &skills[6];
    assert_eq!((broken.name.as_str(), broken.usable), ("broken", false));
    let found = the("front_matter_unclosed", &broken.diagnostics);
    assert_eq!(found.location(), "/w/.compozy/skills/foo/SKILL.md:1:1");
}

#[test]
fn r147_the_prompt_is_everything_behind_the_second_delimiter() {
    let prompt = "One.\n---\nTwo: x\n---\n\u{feff}Three. \t\n---";
    let file = format!("---\nname: reviewer\n---\n{prompt}");
    let agent = agent(file.as_str());
    assert!(agent.usable, "{:#?}", agent.diagnostics);
    assert_eq!(agent.prompt_hash, ContentHash::of(prompt.as_bytes()));
    assert_eq!(text_of(file.as_bytes()), Some(prompt.as_bytes()));
}

#[test]
fn a_delimiter_at_the_end_of_the_file_ends_the_front_matter() {
    let skill = skill("---\nname: s\n---");
    assert!(skill.usable);
    assert_eq!(skill.text_size, 0);
}
