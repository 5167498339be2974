//! Trees of values, such as a configuration, as the free-form trees of the wire. Whoever calls hands over what may be
//! shown: nothing is redacted here.

use compozy_resolver::value::{Table, Value};
use prost_types::value::Kind;
use prost_types::{ListValue, Struct};

/// Whole numbers up to this one are the same as a number of the wire, which is a double.
const EXACT_MAX: u64 = 1 << 53;
/// Tables and lists in one another. Clients read no more than 100 messages deep, a table is three of them, and the
/// answer around it is some; files may nest deeper. What lies below is the text of its JSON.
const NESTED_MAX: usize = 28;

/// A table.
#[must_use]
pub fn tree(table: &Table) -> Struct {
    tree_within(table, NESTED_MAX)
}

fn tree_within(table: &Table, room: usize) -> Struct {
    let fields = table.iter();
    Struct {
        fields: fields
            .map(|(key, entry)| (key.clone(), value_within(entry, room - 1)))
            .collect(),
    }
}

/// A table, or a tree with the one key `value` for what is none.
#[must_use]
pub fn tree_of(value_or_table: &Value) -> Struct {
    match value_or_table {
        Value::Table(table) => tree(table),
        other => Struct {
            fields: [("value".to_owned(), value(other))].into(),
        },
    }
}

/// Any value.
#[must_use]
pub fn value(value: &Value) -> prost_types::Value {
    value_within(value, NESTED_MAX)
}

/// `room` is how many tables and lists may be in one another.
fn value_within(value: &Value, room: usize) -> prost_types::Value {
    let kind = match value {
        Value::Text(text) | Value::Time(text) => Kind::StringValue(text.clone()),
        Value::Integer(number) => whole(*number),
        // JSON has no word for the others.
        Value::Float(number) if number.is_finite() => Kind::NumberValue(*number),
        Value::Float(number) => Kind::StringValue(number.to_string()),
        Value::Flag(flag) => Kind::BoolValue(*flag),
        Value::List(_) | Value::Table(_) if room == 0 => Kind::StringValue(json(value).to_string()),
        Value::List(items) => Kind::ListValue(ListValue {
            values: items.iter().map(|item| value_within(item, room - 1)).collect(),
        }),
        Value::Table(table) => Kind::StructValue(tree_within(table, room)),
    };
    prost_types::Value { kind: Some(kind) }
}

fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::Text(text) | Value::Time(text) => text.as_str().into(),
        Value::Integer(number) => (*number).into(),
        Value::Float(number) if number.is_finite() => (*number).into(),
        Value::Float(number) => number.to_string().into(),
        Value::Flag(flag) => (*flag).into(),
        Value::List(items) => items.iter().map(json).collect(),
        Value::Table(table) => {
            let entries = table.iter();
            serde_json::Value::Object(entries.map(|(key, value)| (key.clone(), json(value))).collect())
        }
    }
}

/// A whole number, as text where a double would round it.
fn whole(number: i64) -> Kind {
    if number.unsigned_abs() > EXACT_MAX {
        return Kind::StringValue(number.to_string());
    }
    #[expect(clippy::cast_precision_loss, reason = "checked right above")]
    Kind::NumberValue(number as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_exact_or_become_text() {
        assert_eq!(whole(1 << 53), Kind::NumberValue(9_007_199_254_740_992.0));
        assert_eq!(
            whole((1 << 53) + 1),
            Kind::StringValue("9007199254740993".to_owned())
        );
        assert_eq!(whole(i64::MIN), Kind::StringValue(i64::MIN.to_string()));
        let endless = value(&Value::Float(f64::INFINITY));
        assert_eq!(endless.kind, Some(Kind::StringValue("inf".to_owned())));
    }

    #[test]
    fn what_is_no_table_gets_a_key() {
        let wrapped = tree_of(&Value::Flag(true));
        assert_eq!(wrapped.fields["value"].kind, Some(Kind::BoolValue(true)));
        let table = Table::from([("a".to_owned(), Value::List(vec![Value::Integer(1)]))]);
        let list = ListValue {
            values: vec![value(&Value::Integer(1))],
        };
        assert_eq!(
            tree_of(&Value::Table(table)).fields["a"].kind,
            Some(Kind::ListValue(list))
        );
    }

    #[test]
    fn every_client_can_read_what_nests_deeply() {
        use compozy_proto::workspace::v1 as pb;
        use prost::Message as _;

        let mut table = Table::from([("end".to_owned(), Value::List(vec![Value::Integer(7)]))]);
        let mut list = Value::Integer(7);
        for _ in 0..60 {
            table = Table::from([("a".to_owned(), Value::Table(table))]);
            list = Value::List(vec![list]);
        }
        let server = pb::McpServer {
            other: Some(tree(&table)),
            auth: Some(value(&list)),
            ..pb::McpServer::default()
        };
        let response = pb::ResolveWorkspaceResponse {
            snapshot: Some(pb::Snapshot {
                agents: vec![pb::Agent {
                    mcp_servers: vec![server],
                    ..pb::Agent::default()
                }],
                ..pb::Snapshot::default()
            }),
            ..pb::ResolveWorkspaceResponse::default()
        };
        let read = pb::ResolveWorkspaceResponse::decode(response.encode_to_vec().as_slice());
        assert_eq!(read.as_ref(), Ok(&response));
        assert!(
            format!("{read:?}").contains(r#"{\"end\":[7]}"#),
            "nothing is left out: {read:?}"
        );
    }
}
