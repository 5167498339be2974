//! A failure as it is told: two sentences to people, one object to programs.

use serde_json::{Value, json};

use super::human::sanitized;
use super::style::Style;
use crate::failure::Told;
use crate::problem::Problem;

pub(super) fn sentences(told: &Told, style: Style) -> String {
    let mut text = format!("{} {}\n", style.red("error:"), sanitized(&headline(told)));
    for line in problem_lines(told) {
        text.push_str(&format!("  {}\n", sanitized(&line)));
    }
    if let Some(hint) = &told.hint {
        text.push_str(&format!("{} {}\n", style.yellow("hint:"), sanitized(hint)));
    }
    text
}

/// The one sentence. Problems of a configuration have lines of their own, so here they are only counted.
pub(super) fn headline(told: &Told) -> String {
    let what = if told.problems.iter().all(Problem::is_in_config) {
        "the configuration is not valid"
    } else {
        "files of the workspace are not valid"
    };
    match told.problems_count() {
        0 => {}
        1 => return format!("{what}:"),
        count => return format!("{what}, {count} problems:"),
    }
    // The server ends some sentences with the remedy that is the hint.
    let hint = told.hint.as_deref().unwrap_or_default();
    let cause = told
        .message
        .strip_suffix(hint)
        .and_then(|cause| cause.strip_suffix(": "));
    let sentence = cause.filter(|_| !hint.is_empty()).unwrap_or(&told.message);
    sentence.to_owned()
}

/// A line for each problem of a configuration, `file:line:column: code: message`, and how many are not named.
pub(super) fn problem_lines(told: &Told) -> Vec<String> {
    let mut lines: Vec<String> = told.problems.iter().map(Problem::line).collect();
    match told.problems_count().saturating_sub(told.problems.len()) {
        0 => {}
        more => lines.push(format!("and {more} more")),
    }
    lines
}

pub(super) fn object(told: &Told) -> Value {
    let Told {
        exit: _,
        code,
        reason,
        message,
        metadata,
        problems,
        hint,
    } = told;
    let mut error = json!({"code": code, "reason": reason, "message": message, "metadata": metadata});
    if !problems.is_empty() {
        error["problems"] = problems.iter().map(Problem::object).collect();
    }
    error["hint"] = json!(hint.as_deref().unwrap_or_default());
    json!({ "error": error })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Failure;

    #[test]
    fn a_remedy_is_told_to_people_once() {
        let style = Style {
            color: false,
            width: None,
        };
        let told = |message: &str, hint: &str| match Failure::usage(message, hint) {
            Failure::Told(told) => sentences(&told, style),
            Failure::ClosedPipe => String::new(),
        };
        assert_eq!(
            told("x is broken: correct x", "correct x"),
            "error: x is broken\nhint: correct x\n"
        );
        assert_eq!(
            told("x is broken", "correct x"),
            "error: x is broken\nhint: correct x\n"
        );
        assert_eq!(told("x: ", ""), "error: x: \nhint: \n");
    }
}
