//! `<root>/.env`: variables for whatever is launched in a workspace. Nothing in it has an effect on the catalog.
//!
//! What is read is what the shells and the well-known libraries agree on: `KEY=VALUE` and `export KEY=VALUE`, single
//! quotes that take everything as it is, double quotes with escapes, both also over several lines, comments. Nothing is
//! ever expanded or run.

mod line;

use compozy_domain::{Diagnostic, Layer, Severity};

use crate::files::ReadFault;

/// Bytes of a `.env` at most.
pub const DOTENV_BYTES_MAX: usize = 1024 * 1024;
/// Findings that one file may give.
const FINDINGS_MAX: usize = 50;
const BOM: &[u8] = b"\xef\xbb\xbf";

/// What a `.env` says. Its values are for the launched process only: nothing here shows them.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Dotenv {
    /// Key, value and line, in the order of the file. Of two of the same key the later one counts.
    pub entries: Vec<(String, String, u32)>,
    /// Lines that say nothing.
    pub problems: Vec<DotenvProblem>,
}

/// Something that can't be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DotenvProblem {
    /// Its line, from 1.
    pub line: u32,
    /// What is wrong.
    pub fault: DotenvFault,
}

/// What can be wrong in a `.env`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DotenvFault {
    /// No `KEY=VALUE`.
    NoAssignment,
    /// What is before the `=` can't be the name of a variable.
    BadKey,
    /// A quote without an end.
    OpenQuote,
    /// Something is behind the closing quote.
    BehindQuote,
    /// The value holds a NUL, which no variable can.
    Nul,
    /// The file is not UTF-8 from here on.
    NotText,
    /// The file has more than [`DOTENV_BYTES_MAX`] bytes; nothing of it is read.
    TooLarge,
}

impl std::fmt::Debug for Dotenv {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let keys: Vec<&str> = self.entries.iter().map(|(key, _, _)| key.as_str()).collect();
        let mut shown = formatter.debug_struct("Dotenv");
        shown.field("keys", &keys).field("problems", &self.problems);
        shown.finish_non_exhaustive()
    }
}

/// Reads a file. A line that can't be understood costs only itself.
#[must_use]
pub fn read(bytes: &[u8]) -> Dotenv {
    let mut found = Dotenv::default();
    if bytes.len() > DOTENV_BYTES_MAX {
        let fault = DotenvFault::TooLarge;
        found.problems.push(DotenvProblem { line: 1, fault });
        return found;
    }
    let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
    let (text, broken) = match std::str::from_utf8(bytes) {
        Ok(text) => (text, false),
        Err(error) => {
            // Whole lines before the fault are good; the rest may be anything.
            let valid = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
            (&valid[..valid.rfind('\n').map_or(0, |end| end + 1)], true)
        }
    };
    let line = line::read(text, &mut found);
    if broken {
        let fault = DotenvFault::NotText;
        found.problems.push(DotenvProblem { line, fault });
    }
    found
}

/// What a person should know about the `.env` at this path: lines that say nothing, and variables that look as if they
/// moved this product, which they don't.
#[must_use]
pub fn findings(layer: Layer, path: &str, dotenv: &Dotenv) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = dotenv
        .problems
        .iter()
        .take(FINDINGS_MAX)
        .map(|problem| problem.found(layer, path))
        .collect();
    let more = dotenv.problems.len().saturating_sub(FINDINGS_MAX);
    if more > 0 {
        let message = format!("{more} more lines of this file can't be understood");
        let remedy = "correct the first ones";
        found.push(Diagnostic::new(
            "dotenv_not_understood",
            Severity::Warning,
            layer,
            path,
            message,
            remedy,
        ));
    }
    // The later of two counts, so it is the one that is told about.
    let last = |name: &str| dotenv.entries.iter().rfind(|(key, _, _)| key == name);
    if let Some((key, _, line)) = last("COMPOZY_HOME") {
        let message = "`COMPOZY_HOME` in a workspace's .env does not move the home: it is ignored";
        let remedy = "remove it; set it where the daemon is started";
        let moved = Diagnostic::new(
            "dotenv_home_ignored",
            Severity::Warning,
            layer,
            path,
            message,
            remedy,
        );
        found.push(moved.at(*line, 1).about(key));
    }
    if let Some((key, _, line)) = last("COMPOZY_PROFILE") {
        let message = "`COMPOZY_PROFILE` in a workspace's .env does not choose the profile: only what is launched sees it";
        let remedy = "choose it with `compozy profile use`";
        let chosen = Diagnostic::new(
            "dotenv_profile_ignored",
            Severity::Info,
            layer,
            path,
            message,
            remedy,
        );
        found.push(chosen.at(*line, 1).about(key));
    }
    found
}

/// What to say about a `.env` that can't be read: a link, a directory, a pipe, no permission, too large.
#[must_use]
pub fn unreadable(layer: Layer, path: &str, fault: &ReadFault) -> Diagnostic {
    let remedy = match fault {
        ReadFault::NotRegular => "put a regular file in its place, or remove it",
        ReadFault::TooLarge { .. } => "make it smaller",
        _ => "make it readable for the daemon",
    };
    let message = format!("the file is not used: {fault}");
    Diagnostic::new(
        "dotenv_unreadable",
        Severity::Warning,
        layer,
        path,
        message,
        remedy,
    )
}

impl DotenvProblem {
    fn found(self, layer: Layer, path: &str) -> Diagnostic {
        let (message, remedy) = match self.fault {
            DotenvFault::NoAssignment => (
                "the line is no assignment",
                "write KEY=VALUE, or # before a comment",
            ),
            DotenvFault::BadKey => (
                "what is before the `=` is no name of a variable",
                "use letters, digits, `_`, `.` and `-`, and no digit in front",
            ),
            DotenvFault::OpenQuote => ("a value has an opening quote and no closing one", "close it"),
            DotenvFault::BehindQuote => (
                "something follows the closing quote of a value",
                "put all of the value into quotes, or # before a comment",
            ),
            DotenvFault::Nul => ("a value holds a NUL character", "remove it"),
            DotenvFault::NotText => ("the file is not valid UTF-8 from here on", "save it as UTF-8"),
            DotenvFault::TooLarge => ("the file is not used: it is larger than 1 MiB", "make it smaller"),
        };
        let found = Diagnostic::new(
            "dotenv_not_understood",
            Severity::Warning,
            layer,
            path,
            message,
            remedy,
        );
        found.at(self.line, 1)
    }
}
