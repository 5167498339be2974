//! What is wrong with the configuration, in the one sentence that a failed start ends with.

use std::path::Path;

use compozy_domain::Diagnostic;

use crate::failure::Failure;

/// One sentence with every problem in it.
pub(super) fn failure(path: &Path, problems: &[Diagnostic]) -> Failure {
    let named: Vec<String> = problems.iter().map(with_line).collect();
    // A variable is wrong, and the file, which may not even be there, is not.
    let what = match problems.iter().all(|problem| problem.line.is_none()) {
        true => "the configuration".to_owned(),
        false => path.display().to_string(),
    };
    Failure::config(format!("{what} can't be used: {}", named.join("; ")))
}

/// A finding of a file that is named already.
pub(super) fn with_line(found: &Diagnostic) -> String {
    match found.line {
        Some(line) => format!("line {line}: {}", found.message),
        None => found.message.clone(),
    }
}
