//! Sentences of errors that take more than a line.

use super::{IdentityFault, PathConflict, PathFault};
use crate::diagnostic::Diagnostic;

/// Problems that are named in a message.
const PROBLEMS_NAMED: usize = 5;

/// A directory between commas; nothing for one that is not recorded.
pub(super) fn quoted_cwd(cwd: &str) -> String {
    if cwd.is_empty() {
        String::new()
    } else {
        format!(", '{cwd}',")
    }
}

pub(super) fn path_message(path: &str, fault: PathFault) -> String {
    match fault {
        PathFault::NotAbsolute => format!("'{path}' is relative: give an absolute path"),
        PathFault::NotFound => format!("'{path}' does not exist: check the path"),
        PathFault::NotDirectory => format!("'{path}' is no directory: give a directory"),
        PathFault::Loop => format!("'{path}' leads through a cycle of symbolic links: mend the links"),
        PathFault::Unreadable => format!("'{path}' can't be read by the daemon: check its permissions"),
        PathFault::NotAllowed => {
            format!("'{path}' lies outside the roots that this daemon allows: see workspaces.allowed_roots")
        }
        PathFault::Unwritable => format!(
            "'{path}' is no directory that the daemon can write to: check that it is a directory, no link, and its \
             permissions"
        ),
    }
}

pub(super) fn conflict_message(path: &str, conflict: &PathConflict) -> String {
    match conflict {
        PathConflict::Registered { fields } => format!(
            "'{path}' is registered with another {}: use an update to change it",
            fields.join(" and another ")
        ),
        PathConflict::Copy { original } => {
            format!(
                "'{path}' is a copy of the registered '{original}': register it with policy SHARE or FORK"
            )
        }
        PathConflict::RootTaken => {
            format!("'{path}' is the root of another workspace: remove that one first")
        }
    }
}

pub(super) fn identity_message(path: &str, fault: &IdentityFault) -> String {
    match fault {
        IdentityFault::Invalid { line, problem } => format!("{path}{}: {problem}", line_suffix(*line)),
        IdentityFault::Unreadable => format!("{path} can't be read by the daemon: check its permissions"),
        IdentityFault::Unwritable { problem } => format!("{path} can't be written: {problem}"),
    }
}

fn line_suffix(line: Option<u32>) -> String {
    line.map(|line| format!(":{line}")).unwrap_or_default()
}

pub(super) fn config_message(problems: &[Diagnostic]) -> String {
    let named: Vec<String> = problems
        .iter()
        .take(PROBLEMS_NAMED)
        .map(|problem| format!("{}: {}", problem.location(), problem.message))
        .collect();
    let more = match problems.len().saturating_sub(PROBLEMS_NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!("{}{more}", named.join("; "))
}

pub(super) const fn archived_words(is_archived: bool) -> &'static str {
    if is_archived {
        ", or unarchive that one"
    } else {
        ""
    }
}

pub(super) const fn outcome_words(unknown: bool) -> &'static str {
    if unknown {
        " with the same request_id, the write may have happened"
    } else {
        ""
    }
}
