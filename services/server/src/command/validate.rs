//! `compozyd validate`: files checked as a daemon would read them; one line for each finding.

use std::io::{self, Write};
use std::path::PathBuf;

use compozy_domain::{Diagnostic, Severity};

use super::{Format, ValidateArguments};
use crate::clock::SystemClock;
use crate::failure::{Failure, FailureKind};
use crate::home::Home;
use crate::validate::Validation;

pub(super) fn validate(arguments: &ValidateArguments) -> Result<(), Failure> {
    let validation = Validation::new(&Home::locate()?, &SystemClock);
    let paths = match arguments.paths.as_slice() {
        [] => vec![nearest(&validation)?],
        paths => paths.to_vec(),
    };
    let mut found = Vec::new();
    for path in &paths {
        found.extend(validation.check(path)?);
    }
    Diagnostic::sort(&mut found);
    super::printed(print(arguments.format, &found))?;
    match found.iter().any(|found| found.severity == Severity::Error) {
        true => Err(Failure::new(FailureKind::Invalid, "files have errors")),
        false => Ok(()),
    }
}

fn nearest(validation: &Validation<'_>) -> Result<PathBuf, Failure> {
    let current = std::env::current_dir().map_err(|error| Failure::io("find", ".".as_ref(), &error))?;
    validation.nearest(&current)
}

fn print(format: Format, found: &[Diagnostic]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    for found in found {
        match format {
            Format::Text => writeln!(stdout, "{}", line(found))?,
            Format::Json => writeln!(stdout, "{}", object(found))?,
        }
    }
    stdout.flush()?;
    if format == Format::Text {
        // Not for whoever reads the lines.
        let _ = writeln!(io::stderr(), "{}", summary(found));
    }
    Ok(())
}

/// `file:line:column: code: message`, as editors know it. What is no error says so.
fn line(found: &Diagnostic) -> String {
    let severity = match found.severity {
        Severity::Error => String::new(),
        other => format!("{}: ", other.as_str()),
    };
    let remedy = match found.remedy.as_str() {
        "" => String::new(),
        remedy => format!("; {remedy}"),
    };
    let line = format!(
        "{}: {}: {severity}{}{remedy}",
        found.location(),
        found.code,
        found.message
    );
    line.chars().map(harmless).collect()
}

/// Names of files and keys are somebody else's, and a terminal obeys what is in them: nothing there may start a
/// sequence, or turn the direction of what follows.
fn harmless(letter: char) -> char {
    let turns = matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    match letter.is_control() || turns {
        true => char::REPLACEMENT_CHARACTER,
        false => letter,
    }
}

fn object(found: &Diagnostic) -> serde_json::Value {
    let Diagnostic {
        path,
        line,
        column,
        code,
        severity,
        layer,
        key,
        profile,
        message,
        remedy,
    } = found;
    serde_json::json!({
        "path": path,
        "line": line,
        "column": column,
        "code": code,
        "severity": severity.as_str(),
        "layer": layer.map(compozy_domain::Layer::as_str),
        "key": key,
        "profile": profile,
        "message": message,
        "remedy": remedy,
    })
}

fn summary(found: &[Diagnostic]) -> String {
    let count = |severity| found.iter().filter(|found| found.severity == severity).count();
    let plural = |count: usize, word: &str| match count {
        1 => format!("1 {word}"),
        count => format!("{count} {word}s"),
    };
    match (count(Severity::Error), count(Severity::Warning)) {
        (0, 0) => "no problems".to_owned(),
        (0, warnings) => plural(warnings, "warning"),
        (errors, 0) => plural(errors, "error"),
        (errors, warnings) => format!("{}, {}", plural(errors, "error"), plural(warnings, "warning")),
    }
}

#[cfg(test)]
mod tests {
    use compozy_domain::Layer;

    use super::*;

    #[test]
    fn a_line_can_do_nothing_to_a_terminal() {
        let found = Diagnostic::new(
            "a",
            Severity::Warning,
            Layer::Workspace,
            "/r/\u{202e}x",
            "key `\u{1b}[31m`\nb",
            "do",
        );
        assert_eq!(
            line(&found.at(1, 2)),
            "/r/\u{fffd}x:1:2: a: warning: key `\u{fffd}[31m`\u{fffd}b; do"
        );
    }
}
