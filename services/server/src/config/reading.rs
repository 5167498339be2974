//! From the text of a file to checked values: every unknown key, wrong type and bad value in one go.

use std::time::Duration;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::keys::{self, Kind};
use super::nearest::nearest;
use super::values::{Problems, Value, Values};

/// Reads a file.
pub(super) fn read(text: &str) -> Result<Values, Problems> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reading = Reading {
        text,
        values: Values::default(),
        problems: Problems::default(),
        unknown: Vec::new(),
    };
    let table = match DeTable::parse(text) {
        Ok(table) => table,
        Err(error) => {
            let line = error.span().map_or(0, |span| reading.line(span.start));
            reading
                .problems
                .add(line, format!("no valid TOML ({})", error.message()));
            return Err(reading.problems);
        }
    };
    reading.table("", table.get_ref());
    reading.finish()
}

struct Reading<'t> {
    text: &'t str,
    values: Values,
    problems: Problems,
    unknown: Vec<(usize, String)>,
}

impl Reading<'_> {
    /// What to do with unknown keys is itself a key of the file, so it is decided at the end.
    fn finish(mut self) -> Result<Values, Problems> {
        let lenient = self.values.text("config.unknown_keys") == Some("warn");
        for (line, problem) in self.unknown {
            if lenient {
                self.values
                    .warnings
                    .push(format!("config.toml line {line}: {problem}"));
            } else {
                self.problems.add_unknown_key(line, problem);
            }
        }
        if self.problems.is_empty() {
            Ok(self.values)
        } else {
            Err(self.problems)
        }
    }

    fn table(&mut self, prefix: &str, table: &DeTable<'_>) {
        for (key, value) in table {
            let line = self.line(key.span().start);
            let name = key.get_ref();
            let path = if prefix.is_empty() {
                name.to_string()
            } else {
                format!("{prefix}.{name}")
            };
            if let Some((known, kind)) = keys::find(&path) {
                match checked(kind, value) {
                    Ok(value) => self.values.put(known, line, value),
                    Err(problem) => self.problems.add(line, format!("`{path}` {problem}")),
                }
            } else if keys::is_typed_table(&path) {
                match value.get_ref() {
                    DeValue::Table(below) => self.table(&path, below),
                    _ => self.problems.add(line, format!("`{path}` has to be a table")),
                }
            } else if !keys::is_open(&path) {
                self.unknown(line, &path);
            }
        }
    }

    fn unknown(&mut self, line: usize, path: &str) {
        let shown: String = path.chars().take(100).collect();
        let hint = nearest(path)
            .map(|key| format!(" (did you mean `{key}`?)"))
            .unwrap_or_default();
        self.unknown.push((line, format!("unknown key `{shown}`{hint}")));
    }

    fn line(&self, offset: usize) -> usize {
        let before = self.text.as_bytes().get(..offset).unwrap_or(self.text.as_bytes());
        before.iter().filter(|byte| **byte == b'\n').count() + 1
    }
}

fn checked(kind: Kind, value: &Spanned<DeValue<'_>>) -> Result<Value, String> {
    let value = value.get_ref();
    match kind {
        Kind::Text | Kind::Path => text(value).map(Value::Text),
        Kind::Address => address(text(value)?).map(Value::Text),
        Kind::Choice(words) => choice(words, text(value)?).map(Value::Text),
        Kind::Flag => value
            .as_bool()
            .map(Value::Flag)
            .ok_or_else(|| "has to be true or false".to_owned()),
        Kind::Count(least, most) => count(value, least, most).map(Value::Count),
        Kind::Span => span(&text(value)?).map(Value::Span),
        Kind::Texts | Kind::Paths => match value.as_array() {
            Some(list) => texts(list).map(Value::Texts),
            None => Err("has to be a list of texts".to_owned()),
        },
    }
}

fn text(value: &DeValue<'_>) -> Result<String, String> {
    let text = value
        .as_str()
        .ok_or_else(|| format!("has to be a text, it is {}", value.type_str()))?;
    if text.contains('\0') {
        return Err("may not hold a NUL character".to_owned());
    }
    Ok(text.to_owned())
}

fn texts(list: &DeArray<'_>) -> Result<Vec<String>, String> {
    list.iter()
        .map(|item| text(item.get_ref()))
        .collect::<Result<_, _>>()
        .map_err(|_| "has to be a list of texts".to_owned())
}

fn choice(words: &[&str], text: String) -> Result<String, String> {
    if words.contains(&text.as_str()) {
        return Ok(text);
    }
    Err(format!("has to be one of \"{}\"", words.join("\", \"")))
}

fn count(value: &DeValue<'_>, least: i64, most: i64) -> Result<i64, String> {
    let number = value
        .as_integer()
        .and_then(|integer| i64::from_str_radix(integer.as_str(), integer.radix()).ok())
        .filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("has to be a whole number from {least} to {most}"))
}

fn address(text: String) -> Result<String, String> {
    let valid = text
        .rsplit_once(':')
        .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    if valid {
        Ok(text)
    } else {
        Err("has to be an address such as \"127.0.0.1:2123\"".to_owned())
    }
}

fn span(text: &str) -> Result<Duration, String> {
    let parsed = text
        .parse::<jiff::SignedDuration>()
        .ok()
        .and_then(|span| Duration::try_from(span).ok());
    parsed
        .filter(|span| !span.is_zero())
        .ok_or_else(|| "has to be a span such as \"20s\", \"5m\" or \"168h\"".to_owned())
}
