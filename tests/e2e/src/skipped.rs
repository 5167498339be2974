//! Tests that can't be carried out here say so; nothing is left out silently.

use std::fs::OpenOptions;
use std::io::Write as _;

/// The file to which a test that ends early appends one line.
const SKIPPED: &str = "COMPOZY_TEST_SKIPPED";

/// Says that `test` is left out, and why. The caller returns then.
pub fn skip(test: &str, why: &str) {
    println!("{test}: {why}");
    let Some(file) = std::env::var_os(SKIPPED).filter(|file| !file.is_empty()) else {
        return;
    };
    let line = format!("{test}: {why}\n");
    let opened = OpenOptions::new().create(true).append(true).open(file);
    opened.unwrap().write_all(line.as_bytes()).unwrap();
}

/// Postgres is missing: CI does not accept that.
pub(crate) fn skip_postgres(test: &str) {
    assert!(std::env::var_os("CI").is_none(), "{test}: postgres is not there");
    skip(test, "postgres is not there");
}
