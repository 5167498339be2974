//! A failure as it is told: two sentences to people, one object to programs.

use serde_json::{Value, json};

use super::human::sanitized;
use super::style::Style;
use crate::failure::Told;

pub(super) fn sentences(told: &Told, style: Style) -> String {
    // The server ends some sentences with the remedy that is the hint.
    let hint = told.hint.as_deref().unwrap_or_default();
    let cause = told
        .message
        .strip_suffix(hint)
        .and_then(|cause| cause.strip_suffix(": "));
    let sentence = cause.filter(|_| !hint.is_empty()).unwrap_or(&told.message);
    let mut text = format!("{} {}\n", style.red("error:"), sanitized(sentence));
    if let Some(hint) = &told.hint {
        text.push_str(&format!("{} {}\n", style.yellow("hint:"), sanitized(hint)));
    }
    text
}

pub(super) fn object(told: &Told) -> Value {
    let Told {
        exit: _,
        code,
        reason,
        message,
        metadata,
        hint,
    } = told;
    let mut error = json!({"code": code, "reason": reason, "message": message, "metadata": metadata});
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
