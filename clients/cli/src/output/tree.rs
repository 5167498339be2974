//! Free-form values: `google.protobuf.Struct` as the JSON that it stands for, and as TOML writes it in one line.

use prost_types::value::Kind;
use prost_types::{Struct, Value as Message};
use serde_json::{Map, Number, Value};

/// Whole numbers up to here are exact in a double.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// A tree, sorted by key.
pub(super) fn object(tree: Struct) -> Value {
    let fields = tree.fields.into_iter();
    Value::Object(
        fields
            .map(|(key, value)| (key, json(value)))
            .collect::<Map<_, _>>(),
    )
}

/// One value. What no JSON number can be is the text that proto3 JSON has for it.
pub(super) fn json(value: Message) -> Value {
    match value.kind {
        None | Some(Kind::NullValue(_)) => Value::Null,
        Some(Kind::BoolValue(is)) => Value::Bool(is),
        Some(Kind::NumberValue(number)) => number_of(number),
        Some(Kind::StringValue(text)) => Value::String(text),
        Some(Kind::ListValue(list)) => Value::Array(list.values.into_iter().map(json).collect()),
        Some(Kind::StructValue(tree)) => object(tree),
    }
}

/// As TOML writes it, in one line.
pub(super) fn inline(value: &Value) -> String {
    match value {
        Value::Array(members) => {
            let members: Vec<String> = members.iter().map(inline).collect();
            format!("[{}]", members.join(", "))
        }
        Value::Object(fields) if fields.is_empty() => "{}".to_owned(),
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(key, value)| format!("{} = {}", key_part(key), inline(value)))
                .collect();
            format!("{{ {} }}", fields.join(", "))
        }
        // The text of JSON is a basic string of TOML too.
        plain => plain.to_string(),
    }
}

/// A dotted key as the API spells it, however somebody has quoted its parts; `None` for what is no key.
pub(super) fn canonical_key(text: &str) -> Option<String> {
    if text.contains(['\n', '\r']) {
        return None;
    }
    let mut table: toml::Table = format!("{text} = 0").parse().ok()?;
    let mut parts = Vec::new();
    loop {
        let mut entries = std::mem::take(&mut table).into_iter();
        let (part, value) = entries.next()?;
        if entries.next().is_some() {
            return None;
        }
        parts.push(key_part(&part));
        match value {
            toml::Value::Table(inner) => table = inner,
            _ => return Some(parts.join(".")),
        }
    }
}

/// A part of a dotted key: quoted if it is no bare word.
fn key_part(text: &str) -> String {
    let bare = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    if !text.is_empty() && text.chars().all(bare) {
        text.to_owned()
    } else {
        Value::from(text).to_string()
    }
}

fn number_of(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() <= EXACT_MAX {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
        let whole = number as i64;
        return Value::from(whole);
    }
    match Number::from_f64(number) {
        Some(number) => Value::Number(number),
        None if number.is_nan() => Value::from("NaN"),
        None if number > 0.0 => Value::from("Infinity"),
        None => Value::from("-Infinity"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn number(value: f64) -> Value {
        json(Message {
            kind: Some(Kind::NumberValue(value)),
        })
    }

    #[test]
    fn whole_numbers_stay_whole() {
        assert_eq!(number(5.0).to_string(), "5");
        assert_eq!(number(-0.5).to_string(), "-0.5");
        assert_eq!(number(9_007_199_254_740_991.0).to_string(), "9007199254740991");
        assert_eq!(number(1e300).to_string(), "1e+300");
        assert_eq!(number(f64::NAN), "NaN");
        assert_eq!(number(f64::NEG_INFINITY), "-Infinity");
    }

    #[test]
    fn a_key_can_be_quoted_in_every_way() {
        let canonical = |text| canonical_key(text).unwrap_or_default();
        assert_eq!(canonical("a.b-c"), "a.b-c");
        assert_eq!(canonical(" \"a\" . 'b.c' .d"), "a.\"b.c\".d");
        for no_key in ["", "a..b", "a b", "a = 1\nb", "[a]\nb"] {
            assert_eq!(canonical_key(no_key), None, "{no_key}");
        }
    }

    #[test]
    fn a_value_is_written_as_toml_in_one_line() {
        let value = json!({"a": [1, "two\n", true], "b c": {}, "d": {"e": 0.5}});
        let text = inline(&value);
        assert_eq!(text, r#"{ a = [1, "two\n", true], "b c" = {}, d = { e = 0.5 } }"#);
        let read: Result<toml::Table, _> = format!("v = {text}").parse();
        assert!(read.is_ok(), "{read:?}");
    }
}
