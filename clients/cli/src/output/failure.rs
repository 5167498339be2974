//! A failure as it is told: two sentences to people, one object to programs.

use serde_json::{Value, json};

use super::human::sanitized;
use super::style::Style;
use crate::failure::Told;

pub(super) fn sentences(told: &Told, style: Style) -> String {
    let mut text = format!("{} {}\n", style.red("error:"), sanitized(&told.message));
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
