//! What an agent is called.

use compozy_domain::Severity;

use crate::support::{agent, agent_in, error, the};

#[test]
fn r139_a_name_breaks_the_grammar() {
    let too_long = "a".repeat(107);
    for name in [
        "Bad Name", &too_long, "42", "true", "[x]", "1a", "-a", "a/b", "é", "{a: b}",
    ] {
        let agent = agent(format!("---\nmodel: x\nname: {name}\n---\nReview.\n"));
        assert!(!agent.usable);
        assert_eq!(error(&agent.diagnostics), ("agent_name_invalid", 3, 1), "{name}");
        assert_eq!(agent.name, "reviewer", "what is no name shadows by the directory");
        assert_eq!(agent.model, "x");
    }
    for name in ["a", "a-b_c-", "no", &"a".repeat(106)] {
        let agent = agent(format!("---\nname: {name}\n---\nReview.\n"));
        assert!(agent.usable, "{:#?}", agent.diagnostics);
        assert_eq!(agent.name, name);
    }
}

#[test]
fn r138_reserved_names_are_refused_in_any_case() {
    let named = agent("---\nname: Coordinator\n---\nReview.\n");
    assert_eq!(error(&named.diagnostics), ("agent_name_reserved", 2, 1));
    let both = agent_in(
        "dreaming-curator",
        "---\nmodel: x\nname: dreaming-curator\n---\nReview.\n",
    );
    assert_eq!(error(&both.diagnostics), ("agent_name_reserved", 3, 1));
    assert_eq!(both.name, "dreaming-curator");
    let directory = agent_in("Dreaming-Curator", "---\nmodel: x\n---\nReview.\n");
    assert_eq!(error(&directory.diagnostics).0, "agent_name_reserved");
    assert!([named, both, directory].iter().all(|agent| !agent.usable));
}

#[test]
fn r145_the_name_wins_over_the_directory() {
    let agent = agent_in("foo", "---\nname: bar\n---\nReview.\n");
    assert!(agent.usable);
    assert_eq!(
        (agent.name.as_str(), agent.directory_name.as_str()),
        ("bar", "foo")
    );
    let found = the("agent_name_mismatch", &agent.diagnostics);
    assert_eq!((found.severity, found.line), (Severity::Warning, Some(2)));
}

#[test]
fn without_a_name_the_directory_has_to_be_one() {
    for front in ["model: x", "name:", "name: ~"] {
        let agent = agent_in("foo", &format!("---\n{front}\n---\nReview.\n"));
        assert!(agent.usable);
        assert_eq!(agent.name, "foo");
        assert_eq!(
            the("agent_name_missing", &agent.diagnostics).severity,
            Severity::Warning
        );
    }
    let agent = agent_in("Foo Bar", "---\nmodel: x\n---\nReview.\n");
    assert_eq!((agent.usable, agent.name.as_str()), (false, "Foo Bar"));
    assert_eq!(
        the("agent_name_missing", &agent.diagnostics).severity,
        Severity::Error
    );
}

#[test]
fn a_broken_file_keeps_the_name_that_a_line_of_it_says() {
    let files = [
        "---\nname: helper\nmodel: a\nmodel: b\n---\nReview.\n",
        "---\nname: helper # the one\ntools:\n\t- x\n---\nReview.\n",
        "---\ntools: [\nname: 'helper'\n---\nReview.\n",
        "---\nname: helper\n\nReview.\n",
        "---\nname = \"helper\"\nx = y\n---\nReview.\n",
        "---\nname: helper\ndescription: \"x\n---\nReview.\n",
    ];
    for file in files {
        let agent = agent(file);
        assert_eq!((agent.name.as_str(), agent.usable), ("helper", false), "{file}");
    }
    for file in [
        "# helper\n",
        "---\n\nname: helper\n",
        "---\ntools: [\n  name: helper\n---\nx\n",
        "---\ntools: [\nname: [helper]\n---\nx\n",
    ] {
        let agent = agent(file);
        assert_eq!((agent.name.as_str(), agent.usable), ("reviewer", false), "{file}");
    }
}
