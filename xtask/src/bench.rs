//! `cargo xtask bench`: builds what is shipped as it is shipped, and measures it. No part of CI.

use std::path::Path;
use std::process::Command;

use crate::testing::{PROGRAMS, cargo};
use crate::{Result, commands, postgres};

/// Passes the words on to the benchmark, which knows its rows.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let mut build = cargo(root);
    build.args([
        "build",
        "--release",
        "--package",
        "compozy-server",
        "--package",
        "compozy-bench",
    ]);
    commands::run(&mut build)?;
    let mut bench = Command::new(root.join("target/release/compozy-bench"));
    bench.args(words).env(PROGRAMS, postgres::find_programs()?);
    commands::run(&mut bench)
}
