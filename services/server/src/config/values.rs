//! Values as they were read, by key, and the problems that were met.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::failure::Failure;

/// One checked value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    Flag(bool),
    Count(i64),
    Span(Duration),
    Texts(Vec<String>),
}

/// What a file says, by key.
#[derive(Debug, Default)]
pub(super) struct Values {
    found: BTreeMap<&'static str, (usize, Value)>,
    pub(super) warnings: Vec<String>,
}

impl Values {
    pub(super) fn put(&mut self, key: &'static str, line: usize, value: Value) {
        self.found.insert(key, (line, value));
    }

    /// The line of a key; 0 when it is not in the file.
    pub(super) fn line(&self, key: &str) -> usize {
        self.found.get(key).map_or(0, |(line, _)| *line)
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        match self.found.get(key) {
            Some((_, Value::Text(text))) => Some(text),
            _ => None,
        }
    }

    pub(super) fn texts(&self, key: &str) -> Vec<String> {
        match self.found.get(key) {
            Some((_, Value::Texts(texts))) => texts.clone(),
            _ => Vec::new(),
        }
    }

    pub(super) fn flag(&self, key: &str) -> Option<bool> {
        match self.found.get(key) {
            Some((_, Value::Flag(flag))) => Some(*flag),
            _ => None,
        }
    }

    pub(super) fn count(&self, key: &str) -> Option<u64> {
        match self.found.get(key) {
            Some((_, Value::Count(count))) => u64::try_from(*count).ok(),
            _ => None,
        }
    }

    pub(super) fn span(&self, key: &str) -> Option<Duration> {
        match self.found.get(key) {
            Some((_, Value::Span(span))) => Some(*span),
            _ => None,
        }
    }
}

/// What is wrong, line by line; line 0 is about the file as a whole.
#[derive(Debug, Default)]
pub(super) struct Problems {
    found: Vec<(usize, String)>,
    unknown_keys: bool,
}

impl Problems {
    pub(super) fn add(&mut self, line: usize, problem: impl Into<String>) {
        self.found.push((line, problem.into()));
    }

    pub(super) fn add_unknown_key(&mut self, line: usize, problem: String) {
        self.unknown_keys = true;
        self.add(line, problem);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// One sentence with every problem in it.
    pub(super) fn into_failure(mut self, path: &Path) -> Failure {
        self.found.sort();
        let named: Vec<String> = self
            .found
            .iter()
            .map(|(line, problem)| {
                if *line == 0 {
                    problem.clone()
                } else {
                    format!("line {line}: {problem}")
                }
            })
            .collect();
        let hint = if self.unknown_keys {
            "; unknown_keys = \"warn\" in the table [config] turns unknown keys into warnings"
        } else {
            ""
        };
        // A variable is wrong, and the file, which may not even be there, is not.
        let what = match self.found.iter().all(|(line, _)| *line == 0) {
            true => "the configuration".to_owned(),
            false => path.display().to_string(),
        };
        Failure::config(format!("{what} can't be used: {}{hint}", named.join("; ")))
    }
}
