//! What is said about a file of the configuration that can't be used, in one place, so that the same thing is always
//! said in the same words. Nothing here repeats a value.

use compozy_domain::{Diagnostic, Layer, Severity};

use crate::files::{DirectoryFault, ReadFault};

/// Bytes of a `config.toml` at most.
pub const CONFIG_BYTES_MAX: usize = 1024 * 1024;

/// Findings of one file that are kept; a hostile one has room for a hundred thousand.
pub(super) const FINDINGS_MAX: usize = 1_000;

/// A file or directory of the configuration that can't be read, and is never taken as absent.
#[must_use]
pub fn unread(layer: Layer, path: &str, fault: &ReadFault) -> Diagnostic {
    match fault {
        ReadFault::TooLarge { limit } => too_large(layer, path, *limit),
        ReadFault::NotRegular => not_regular(layer, path),
        ReadFault::Unreadable => unreadable(layer, path),
        ReadFault::Directory(fault) => not_a_directory(layer, path, fault),
        ReadFault::Other { problem } => error(
            "config_unreadable",
            layer,
            path,
            format!("it can't be read: {problem}"),
            "try again; if it stays, see the log of the daemon",
        ),
    }
}

/// A file that is larger than it may be.
#[must_use]
pub fn too_large(layer: Layer, path: &str, limit: usize) -> Diagnostic {
    let message = format!("the file is larger than {limit} bytes");
    error("config_too_large", layer, path, message, "make it smaller")
}

/// A link, a directory, a pipe or a device where a file has to be.
#[must_use]
pub fn not_regular(layer: Layer, path: &str) -> Diagnostic {
    error(
        "config_not_regular",
        layer,
        path,
        "has to be a regular file, and is a link, a directory, a pipe or a device",
        "put the file itself there, or remove what is there",
    )
}

/// A file that the daemon may not read.
#[must_use]
pub fn unreadable(layer: Layer, path: &str) -> Diagnostic {
    error(
        "config_unreadable",
        layer,
        path,
        "the daemon's user may not read it",
        "let the daemon's user read it",
    )
}

/// Something else where a directory of the configuration has to be, such as a file called `.compozy`.
#[must_use]
pub fn not_a_directory(layer: Layer, path: &str, fault: &DirectoryFault) -> Diagnostic {
    let (code, message, remedy) = match fault {
        DirectoryFault::Unreadable => (
            "config_unreadable",
            "the daemon's user may not read this directory".to_owned(),
            "let the daemon's user read it",
        ),
        DirectoryFault::NotFound | DirectoryFault::NotDirectory | DirectoryFault::Loop => (
            "config_not_directory",
            "has to be a directory, and is something else".to_owned(),
            "move away what is there",
        ),
        DirectoryFault::NotText { .. } | DirectoryFault::NameTooLong | DirectoryFault::Other { .. } => (
            "config_unreadable",
            format!("it can't be read: {fault}"),
            "try again; if it stays, see the log of the daemon",
        ),
    };
    error(code, layer, path, message, remedy)
}

/// An error about a file as a whole.
pub(super) fn error(
    code: &'static str,
    layer: Layer,
    path: &str,
    message: impl Into<String>,
    remedy: impl Into<String>,
) -> Diagnostic {
    Diagnostic::new(code, Severity::Error, layer, path, message, remedy)
}

/// What a layer is called in a sentence.
pub(super) const fn layer_words(layer: Layer) -> &'static str {
    match layer {
        Layer::Default => "the built-in defaults",
        Layer::User => "the user's file",
        Layer::Profile => "a profile's file (layer profile)",
        Layer::Workspace => "a workspace's file (layer workspace)",
        Layer::WorkspaceProfile => "a profile's file of a workspace (layer workspace_profile)",
        Layer::Registration => "the workspace's record",
        Layer::Additional | Layer::Bundled | Layer::Marketplace | Layer::AgentLocal => "a file of this layer",
    }
}

/// Keeps the first findings, and says how many there are.
pub(super) fn shorten(findings: &mut Vec<Diagnostic>) {
    let Some(more) = findings.len().checked_sub(FINDINGS_MAX + 1) else {
        return;
    };
    findings.truncate(FINDINGS_MAX);
    let Some(last) = findings.last() else { return };
    let summary = Diagnostic {
        line: None,
        column: None,
        key: None,
        code: "config_more_findings",
        message: format!("{} more findings in this file", more + 1),
        remedy: "correct the first ones".to_owned(),
        ..last.clone()
    };
    findings.push(summary);
}
