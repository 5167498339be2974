//! TOON. Its tables hold one row a line, which needs rows of equal fields without nesting. So the
//! rows of a list are made flat: a nested field is named by its path (`session_counts.active_count`),
//! a list of texts is one text with a line break between its members (no path and no id can hold
//! one), and what a row lacks is null.

use serde_json::{Map, Value};

use crate::failure::Failure;

pub(super) fn encode(mut answer: Value) -> Result<String, Failure> {
    if let Value::Object(fields) = &mut answer {
        for field in fields.values_mut() {
            if let Value::Array(rows) = field {
                level(rows);
            }
        }
    }
    toon_format::encode_default(&answer)
        .map_err(|error| Failure::defect(format!("the answer cannot be written as TOON: {error}")))
}

/// Gives all rows the same flat fields, in the order of their first appearance.
fn level(rows: &mut [Value]) {
    if rows.iter().any(|row| !row.is_object()) {
        return;
    }
    let mut columns = Map::new();
    for row in rows.iter_mut() {
        let mut flat = Map::new();
        flatten("", row.take(), &mut flat);
        columns.extend(flat.keys().map(|name| (name.clone(), Value::Null)));
        *row = Value::Object(flat);
    }
    for row in rows.iter_mut() {
        let mut full = columns.clone();
        if let Value::Object(flat) = row.take() {
            full.extend(flat);
        }
        *row = Value::Object(full);
    }
}

fn flatten(name: &str, value: Value, into: &mut Map<String, Value>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let path = if name.is_empty() {
                    key
                } else {
                    format!("{name}.{key}")
                };
                flatten(&path, value, into);
            }
        }
        Value::Array(members) => {
            let texts: Vec<String> = members
                .into_iter()
                .map(|member| match member {
                    Value::String(text) => text,
                    other => other.to_string(),
                })
                .collect();
            into.insert(name.to_owned(), Value::String(texts.join("\n")));
        }
        plain => {
            into.insert(name.to_owned(), plain);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    #[test]
    fn rows_become_a_table_of_equal_fields() {
        let answer = json!({"rows": [
            {"id": 1, "dirs": ["/x", "/y"], "counts": {"a": 1, "b": 2}},
            {"id": 2, "dirs": [], "counts": {"a": 3, "b": 4}, "name": "n"},
        ]});
        let text = encode(answer).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        let read: Value = toon_format::decode_default(&text).unwrap();
        assert_eq!(read["rows"][0]["dirs"], "/x\n/y");
        assert_eq!(read["rows"][0]["name"], Value::Null);
        assert_eq!(read["rows"][1]["counts.b"], 4);
    }
}
