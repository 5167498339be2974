//! What is told about places: one function for each finding, so that each is worded in one place.

use compozy_domain::{Diagnostic, Layer, Severity};

use super::{DEPTH_MAX, ENTRIES_MAX, SKILLS_MAX, names};
use crate::files::{DirectoryFault, ReadFault};

/// Names that are told of those that are no text.
const NAMES_TOLD_MAX: usize = 5;

/// What there was too much of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TooMuch {
    /// Files and directories.
    Entries,
    /// Skills, or agents.
    Definitions,
    /// Names in one directory.
    Names,
    /// Directories in one another.
    Depth,
}

/// Why a link is not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LinkFault {
    /// It leads to nothing.
    Dangling,
    /// It leads back to where it lies.
    Cycle,
    /// It leads out of the bases.
    Escape,
    /// It leads out of what the caller may read, or nowhere: that is not told apart.
    NotAllowed,
    /// It leads to a directory that can't be read.
    Unreadable(DirectoryFault),
}

/// An additional root that can't be used.
pub(super) fn additional_root(path: &str, fault: &DirectoryFault) -> Diagnostic {
    let (code, message) = match fault {
        DirectoryFault::NotFound => (
            "additional_root_missing",
            "the additional root is gone".to_owned(),
        ),
        DirectoryFault::NotDirectory => (
            "additional_root_not_directory",
            "the additional root is no directory any more".to_owned(),
        ),
        fault => (
            "additional_root_unreadable",
            format!("the additional root can't be read: {}", words(fault)),
        ),
    };
    let remedy =
        "bring the directory back, or take it off the workspace with `compozy workspace edit --remove-dir`";
    Diagnostic::new(code, Severity::Warning, Layer::Additional, path, message, remedy)
}

/// A place that this caller may not read, whatever is there.
pub(super) fn not_allowed(layer: Layer, path: &str) -> Diagnostic {
    Diagnostic::new(
        "path_not_allowed",
        Severity::Warning,
        layer,
        path,
        "lies outside what callers over the network may read, and was not read",
        "add the directory to `workspaces.allowed_roots` of the daemon, or ask over its socket",
    )
}

/// A base that is there, or that the configuration names, and can't be read.
pub(super) fn base(layer: Layer, path: &str, is_custom: bool, fault: &DirectoryFault) -> Diagnostic {
    let (code, message) = match fault {
        DirectoryFault::NotFound if is_custom => {
            ("skill_source_missing", "the source of skills does not exist")
        }
        DirectoryFault::NotFound => ("dangling", "the link leads to nothing"),
        DirectoryFault::NotDirectory => (
            "not_a_directory",
            "is no directory, and nothing in it can be found",
        ),
        DirectoryFault::Loop => ("cycle", "the link leads back to itself"),
        fault => {
            let message = format!("the directory can't be read: {}", words(fault));
            return with_severity(layer, path, "directory_unreadable", message, is_custom);
        }
    };
    with_severity(layer, path, code, message.to_owned(), is_custom)
}

/// A directory, on the way or at its end, that can't be read.
pub(super) fn unreadable(layer: Layer, path: &str, fault: &ReadFault) -> Diagnostic {
    Diagnostic::new(
        "directory_unreadable",
        Severity::Error,
        layer,
        path,
        format!("the directory can't be read, so nothing that it may hold is known: {fault}"),
        "let the user of the daemon read and search it",
    )
}

/// A link that is not followed.
pub(super) fn link(layer: Layer, path: &str, fault: &LinkFault) -> Diagnostic {
    let (code, message, remedy) = match fault {
        LinkFault::Dangling => (
            "dangling",
            "the link leads to nothing".to_owned(),
            "remove the link, or bring back what it leads to",
        ),
        LinkFault::Cycle => (
            "cycle",
            "the link leads back to a directory that it lies in".to_owned(),
            "remove the link",
        ),
        LinkFault::Escape => (
            "escape",
            "the link leads out of the directories of agents and skills, and is not followed".to_owned(),
            "put the directory itself in the place of the link, or name where it leads in `skills.custom_sources`",
        ),
        LinkFault::NotAllowed => return not_allowed(layer, path),
        LinkFault::Unreadable(fault) => (
            "directory_unreadable",
            format!(
                "the link leads to a directory that can't be read: {}",
                words(fault)
            ),
            "let the user of the daemon read and search it, or remove the link",
        ),
    };
    Diagnostic::new(code, Severity::Warning, layer, path, message, remedy)
}

/// A file whose name differs from the right one in nothing but capitals.
pub(super) fn misspelled(layer: Layer, path: &str, right: &str, is_right_there: bool) -> Diagnostic {
    let remedy = if is_right_there {
        format!("remove it: the `{right}` beside it is read")
    } else {
        format!("rename it to `{right}`")
    };
    let message = format!("is not read: only a file that is called exactly `{right}` is");
    Diagnostic::new("misspelled_name", Severity::Warning, layer, path, message, remedy)
}

/// Names that are no text, escaped, in one directory.
pub(super) fn unprintable(layer: Layer, path: &str, names: &[String]) -> Diagnostic {
    let told: Vec<String> = names
        .iter()
        .take(NAMES_TOLD_MAX)
        .map(|name| format!("`{name}`"))
        .collect();
    let more = match names.len().saturating_sub(NAMES_TOLD_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Diagnostic::new(
        "unprintable_name",
        Severity::Warning,
        layer,
        path,
        format!(
            "names in it are not valid UTF-8 without control characters, and are passed over: {}{more}",
            told.join(", ")
        ),
        "rename them",
    )
}

/// A base that holds more than is read.
pub(super) fn truncated(layer: Layer, path: &str, definition: &str, too_much: TooMuch) -> Diagnostic {
    let things = if definition == names::AGENT {
        "agents"
    } else {
        "skills"
    };
    let message = match too_much {
        TooMuch::Entries => format!(
            "holds more than {ENTRIES_MAX} files and directories: those behind them, in the order of their paths, are not read"
        ),
        TooMuch::Definitions => format!(
            "holds more than {SKILLS_MAX} {things}: those behind them, in the order of their paths, are not read"
        ),
        TooMuch::Names => "a directory in it holds more names than are read".to_owned(),
        TooMuch::Depth => format!("directories more than {DEPTH_MAX} deep in one another are not read"),
    };
    let remedy = format!("keep only {things} in it, or split it");
    Diagnostic::new("truncated", Severity::Warning, layer, path, message, remedy)
}

/// Findings of one base that would be too many to list.
pub(super) fn more(layer: Layer, path: &str, count: usize) -> Diagnostic {
    Diagnostic::new(
        "more_findings",
        Severity::Warning,
        layer,
        path,
        format!("{count} more links and names in it were passed over, too many to list"),
        "mend those that are listed, then look again",
    )
}

/// A definition that can't be used and keeps others of its name from being used.
pub(super) fn shadowed_by_broken(layer: Layer, path: &str, name: &str, losers: &[Layer]) -> Diagnostic {
    let layers: Vec<&str> = losers.iter().map(|layer| layer.as_str()).collect();
    Diagnostic::new(
        "shadowed_by_broken",
        Severity::Warning,
        layer,
        path,
        format!(
            "`{name}` can't be used, and no other one of this name is used in its place (layer {})",
            layers.join(", ")
        ),
        "mend it, or remove it so that the next one is used",
    )
}

/// The content of an installed skill is not what was installed.
pub(super) fn tampered(path: &str) -> Diagnostic {
    Diagnostic::new(
        "marketplace_mismatch",
        Severity::Error,
        Layer::Marketplace,
        path,
        "is not what was installed: its SHA-256 is another one than its `.compozy-meta.json` has",
        "install it again; to keep your own version, remove `.compozy-meta.json` and it becomes a user skill",
    )
}

/// The description of an installed skill says no hash.
pub(super) fn bad_meta(path: &str, problem: &str) -> Diagnostic {
    Diagnostic::new(
        "marketplace_meta_invalid",
        Severity::Error,
        Layer::Marketplace,
        path,
        format!("does not say what was installed: {problem}"),
        "install the skill again, or remove this file and it becomes a user skill",
    )
}

/// What is wrong with a directory, in the system's words where there are no better ones.
fn words(fault: &DirectoryFault) -> String {
    match fault {
        // The escaped path is a path of its own, and those stand in fields.
        DirectoryFault::NotText { .. } => "its path is not valid UTF-8 without control characters".to_owned(),
        fault => fault.to_string(),
    }
}

/// What the configuration names may be away for a while; what lies in its place and can't be read is broken.
fn with_severity(
    layer: Layer,
    path: &str,
    code: &'static str,
    message: String,
    is_custom: bool,
) -> Diagnostic {
    let (severity, remedy) = if is_custom {
        let remedy = "make it a directory that the user of the daemon can read, or take it out of `skills.custom_sources`";
        (Severity::Warning, remedy)
    } else {
        let remedy = "make it a directory that the user of the daemon can read, or remove it";
        (Severity::Error, remedy)
    };
    Diagnostic::new(code, severity, layer, path, message, remedy)
}
