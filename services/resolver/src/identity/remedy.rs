//! What to say about an identity file, and which command mends it.

use std::borrow::Cow;

use compozy_domain::{CatalogError, IdentityFault};

use super::{DIRECTORY, FILE, IdentityProblem};
use crate::files::{ReadFault, WriteFault};

/// Where the identity file of a root lies.
#[must_use]
pub fn file_path(root: &str) -> String {
    format!("{}/{FILE}", root.trim_end_matches('/'))
}

/// The refusal of a directory without an identity file, where files are not to be made on their own.
#[must_use]
pub fn not_created(root: &str) -> CatalogError {
    let fault = IdentityFault::Invalid {
        line: None,
        problem: "is not there, and memory.workspace.auto_create is off".to_owned(),
    };
    error(
        root,
        fault,
        format!("create it with `{}`", repair_command(root, "")),
    )
}

/// The refusal to work on an identity file that is not there.
#[must_use]
pub fn missing(root: &str) -> CatalogError {
    let fault = IdentityFault::Invalid {
        line: None,
        problem: "is not there".to_owned(),
    };
    error(
        root,
        fault,
        format!("create it with `{}`", repair_command(root, "")),
    )
}

pub(super) fn invalid(root: &str, problem: IdentityProblem) -> CatalogError {
    let IdentityProblem { line, problem } = problem;
    let remedy = format!(
        "correct the file, or replace it with `{}`",
        repair_command(root, " --force")
    );
    error(root, IdentityFault::Invalid { line, problem }, remedy)
}

pub(super) fn unread(root: &str, fault: ReadFault) -> CatalogError {
    let problem = match fault {
        ReadFault::Directory(fault) => return fault.into_error("", root),
        ReadFault::Other { problem } => return defect(root, &problem),
        ReadFault::Unreadable => {
            let remedy = format!("let the daemon's user read '{DIRECTORY}' and the file in it");
            return error(root, IdentityFault::Unreadable, remedy);
        }
        ReadFault::NotRegular => "must be a regular file".to_owned(),
        ReadFault::TooLarge { limit } => format!("must have at most {limit} bytes"),
    };
    invalid(root, IdentityProblem { line: None, problem })
}

pub(super) fn unwritten(root: &str, fault: WriteFault) -> CatalogError {
    let problem = match fault {
        WriteFault::Directory(fault) => return fault.into_error("", root),
        WriteFault::DiskFull => return CatalogError::DiskFull,
        WriteFault::Unwritable { problem } => problem,
        WriteFault::Changed | WriteFault::AlreadyThere => {
            let problem = "it changed in the meantime".to_owned();
            return error(
                root,
                IdentityFault::Unwritable { problem },
                "try again".to_owned(),
            );
        }
    };
    let remedy = format!("make '{DIRECTORY}' a directory that the daemon's user can write to");
    error(root, IdentityFault::Unwritable { problem }, remedy)
}

fn error(root: &str, fault: IdentityFault, remedy: String) -> CatalogError {
    CatalogError::Identity {
        path: file_path(root),
        fault,
        remedy,
    }
}

fn defect(root: &str, problem: &str) -> CatalogError {
    CatalogError::Defect {
        detail: format!("reading '{}': {problem}", file_path(root)),
    }
}

fn repair_command(root: &str, flags: &str) -> String {
    format!("compozy workspace identity repair{flags} {}", shell_word(root))
}

/// A text as one word of a shell's command line.
pub(crate) fn shell_word(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@%,=".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remedy_can_be_pasted() {
        assert_eq!(shell_word("/w/a-b"), "/w/a-b");
        assert_eq!(shell_word("/w/it's $HOME"), r"'/w/it'\''s $HOME'");
    }

    #[test]
    fn w035_the_refusal_names_the_command_and_the_path() {
        let CatalogError::Identity { path, fault, remedy } = not_created("/w/a") else {
            panic!("an identity error");
        };
        assert_eq!(path, "/w/a/.compozy/workspace.toml");
        assert!(matches!(fault, IdentityFault::Invalid { line: None, .. }));
        assert!(
            remedy.contains("`compozy workspace identity repair /w/a`"),
            "{remedy}"
        );
    }
}
