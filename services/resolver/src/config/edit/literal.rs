//! What somebody typed as a value.

use toml_edit::Value;

use crate::config::depth::too_deep;
use crate::config::keys::Kind;

/// The value that is meant; `None` if it is none of this kind.
pub(super) fn literal(kind: Kind, typed: &str) -> Option<Value> {
    if kind.is_text() {
        let is_quoted = typed.starts_with(['"', '\'']);
        let quoted = parsed(typed).filter(|value| is_quoted && value.is_str());
        return Some(quoted.unwrap_or_else(|| typed.into()));
    }
    match kind {
        // Where anything will do, what is no TOML is a text.
        Kind::Any => Some(parsed(typed).unwrap_or_else(|| typed.into())),
        _ => parsed(typed),
    }
}

fn parsed(typed: &str) -> Option<Value> {
    if too_deep(&format!("x = {typed}\n")).is_some() {
        return None;
    }
    let mut value: Value = typed.trim().parse().ok()?;
    value.decor_mut().clear();
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(kind: Kind, typed: &str) -> Option<String> {
        literal(kind, typed).map(|value| value.to_string())
    }

    #[test]
    fn a_text_needs_no_quotes_and_anything_else_is_toml() {
        assert_eq!(written(Kind::Text, "3").as_deref(), Some("\"3\""));
        assert_eq!(written(Kind::Text, "'a'").as_deref(), Some("'a'"));
        assert_eq!(written(Kind::Text, "\"a\" b").as_deref(), Some("'\"a\" b'"));
        let lines = written(Kind::Text, "a\n[b]").expect("it is a text");
        assert_eq!(parsed(&lines).as_ref().and_then(Value::as_str), Some("a\n[b]"));
        assert_eq!(written(Kind::Texts, " [ \"a\" ] ").as_deref(), Some("[ \"a\" ]"));
        assert_eq!(written(Kind::Texts, "a"), None);
        assert_eq!(written(Kind::Flag, "true\n[x]"), None);
        assert_eq!(written(Kind::Any, "1.2.3").as_deref(), Some("\"1.2.3\""));
        assert_eq!(written(Kind::Any, "3").as_deref(), Some("3"));
        assert_eq!(written(Kind::Count(0, 9), &"[".repeat(100_000)), None);
    }
}
