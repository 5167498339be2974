//! Files that somebody made to do harm, or that a program made by mistake.

use std::fmt::Write as _;

use compozy_resolver::front_matter::{self, NODES_MAX};

use crate::support::{agent_with, error};

/// `x` as a table of tables: so many around a text.
fn nested(depth: usize) -> String {
    format!("x: {}y{}", "{x: ".repeat(depth), "}".repeat(depth))
}

#[test]
fn r134_tables_may_stand_64_deep_in_each_other() {
    // The front matter is the first one.
    let deep = agent_with(&nested(63));
    assert!(deep.usable, "{:#?}", deep.diagnostics);
    let too_deep = agent_with(&nested(64));
    assert_eq!(
        (too_deep.usable, error(&too_deep.diagnostics)),
        (false, ("front_matter_too_deep", 3, 256))
    );
    let block: String = (0..65)
        .map(|depth| format!("{}k:\n", " ".repeat(depth)))
        .collect();
    let front = front_matter::read(format!("---\n{block}---\n").as_bytes()).findings;
    assert_eq!(front[0].code, "front_matter_too_deep");
    let toml = format!("---\nx = {}1{}\n---\n", "{x = ".repeat(70), "}".repeat(70));
    assert_eq!(
        front_matter::read(toml.as_bytes()).findings[0].code,
        "front_matter_too_deep"
    );
}

#[test]
fn r134_aliases_count_as_deep_as_what_they_stand_for() {
    let agent = agent_with(&format!(
        "a: &a {}y{}\nb: {}*a{}",
        "[".repeat(40),
        "]".repeat(40),
        "[".repeat(30),
        "]".repeat(30)
    ));
    assert_eq!(error(&agent.diagnostics).0, "front_matter_too_deep");
}

#[test]
fn r135_aliases_do_not_expand_without_bound() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..7 {
        let below = vec![format!("*a{}", level - 1); 10].join(", ");
        writeln!(bomb, "a{level}: &a{level} [{below}]").unwrap();
    }
    let agent = agent_with(bomb.trim_end());
    assert_eq!(
        (agent.usable, error(&agent.diagnostics).0),
        (false, "front_matter_too_large")
    );
    assert_eq!(agent.name, "reviewer", "a second look finds the name");
    // Few values, and far too many bytes.
    let large = format!(
        "a: &a {}\nb: [{}]",
        "x".repeat(100_000),
        vec!["*a"; 9_000].join(", ")
    );
    assert_eq!(error(&agent_with(&large).diagnostics).0, "front_matter_too_large");
    // As many as may be.
    let many = format!("x: [{}]", vec!["y"; NODES_MAX - 4].join(", "));
    assert!(agent_with(&many).usable);
}

#[test]
fn findings_of_one_file_are_bounded_and_errors_are_among_them() {
    let mut lines: String = (0..500).map(|number| format!("k{number}: v\n")).collect();
    lines.push_str("permissions: x");
    let agent = agent_with(&lines);
    assert!(!agent.usable);
    assert_eq!(agent.diagnostics.len(), 101);
    assert_eq!(error(&agent.diagnostics), ("agent_permissions_invalid", 503, 1));
    let last = agent
        .diagnostics
        .iter()
        .find(|found| found.code == "definition_more_findings");
    assert!(last.unwrap().message.contains("401"), "{last:?}");
}

#[test]
fn every_kind_of_overlong_file_is_answered() {
    let size = 200_000;
    for piece in [
        "[",
        "{a: ",
        "- ",
        "? ",
        ": ",
        ":",
        "a: b\n",
        "k: a: b\n",
        "\"",
        "a: \"\n",
        "# c\n",
        "\t",
        "a:\n\tb\n",
        "&a ",
        "!a ",
        "<a",
        "a.",
        "[[a]]\n",
        "a = [",
        "\r",
        "k: 'a'b\n",
        "k: [\n",
    ] {
        for before in ["", "d: x: ", "a = "] {
            let file = format!("---\n{before}{}\n---\nText.\n", piece.repeat(size / piece.len()));
            let front = front_matter::read(file.as_bytes());
            assert_eq!(front.body, b"Text.\n", "{before:?} {piece:?}");
        }
    }
}
