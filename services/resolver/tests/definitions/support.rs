//! Files that lie nowhere, and what is to be seen of their diagnostics.

use compozy_domain::{Diagnostic, Layer, Severity};
use compozy_resolver::definition::{Agent, Found, Skill, read_agent, read_skill};

pub(crate) const AGENT_PATH: &str = "/w/.compozy/agents/reviewer/AGENT.md";
pub(crate) const SKILL_PATH: &str = "/w/.compozy/skills/foo/SKILL.md";
pub(crate) const MCP_PATH: &str = "/w/.compozy/agents/reviewer/mcp.json";

/// An AGENT.md in the directory `reviewer`.
pub(crate) fn found(content: impl Into<Vec<u8>>) -> Found {
    Found {
        layer: Layer::Workspace,
        path: AGENT_PATH.to_owned(),
        directory_name: "reviewer".to_owned(),
        content: Ok(content.into()),
        mcp: None,
    }
}

/// The agent of an AGENT.md in the directory `reviewer`.
pub(crate) fn agent(content: impl Into<Vec<u8>>) -> Agent {
    read_agent(&found(content))
}

/// The agent `reviewer` with one more line, the third, and a prompt.
pub(crate) fn agent_with(line: &str) -> Agent {
    agent(format!("---\nname: reviewer\n{line}\n---\nReview.\n"))
}

/// The agent of an AGENT.md in some directory.
pub(crate) fn agent_in(directory: &str, content: &str) -> Agent {
    read_agent(&Found {
        directory_name: directory.to_owned(),
        path: format!("/w/.compozy/agents/{directory}/AGENT.md"),
        ..found(content)
    })
}

/// The skill of a SKILL.md in the directory `foo`.
pub(crate) fn skill(content: impl Into<Vec<u8>>) -> Skill {
    let found = Found {
        path: SKILL_PATH.to_owned(),
        directory_name: "foo".to_owned(),
        ..found(content)
    };
    read_skill(&found, "compozy")
}

/// The only diagnostic of a code.
#[track_caller]
pub(crate) fn the<'d>(code: &str, diagnostics: &'d [Diagnostic]) -> &'d Diagnostic {
    let mut fitting = diagnostics.iter().filter(|found| found.code == code);
    let first = fitting.next();
    let Some(first) = first else {
        panic!("no {code} in {diagnostics:#?}")
    };
    assert_eq!(fitting.next(), None, "{code} only once");
    first
}

/// Line and column of the only error.
#[track_caller]
pub(crate) fn error(diagnostics: &[Diagnostic]) -> (&'static str, u32, u32) {
    let mut errors = diagnostics
        .iter()
        .filter(|found| found.severity == Severity::Error);
    let first = errors.next().expect("an error");
    assert_eq!(errors.next(), None, "only one");
    assert!(!first.message.is_empty() && !first.remedy.is_empty());
    (first.code, first.line.unwrap(), first.column.unwrap())
}

/// Codes of everything that was found.
pub(crate) fn codes(diagnostics: &[Diagnostic]) -> Vec<&'static str> {
    diagnostics.iter().map(|found| found.code).collect()
}
