//! `cargo xtask ci`: everything that has to pass before a change lands, the quick checks first.

use std::path::Path;
use std::process::Command;

use crate::steps::Steps;
use crate::testing::{self, Options, cargo};
use crate::{Result, codegen, commands, corpus, tools};

/// Runs every check, also after one has failed; answers whether all passed.
pub(crate) fn run(root: &Path) -> Result<bool> {
    let mut steps = Steps::default();
    steps.step("format", || run_cargo(root, "fmt --all --check"));
    steps.step("generated code", || codegen::run(root, true));
    steps.step("lint the contract", || {
        commands::run(Command::new(tools::buf(root)?).current_dir(root).arg("lint"))
    });
    steps.step("clippy", || {
        run_cargo(root, "clippy --workspace --all-targets -- --deny warnings")
    });
    steps.step("documentation", || run_cargo(root, "doc --workspace --no-deps"));
    steps.step("licences, bans, sources", || deny(root));
    if let Some(corpus) = corpus::Options::of_ci(root) {
        steps.step("definitions in the wild", || corpus::run(root, &corpus));
    }
    let everything = Options::default();
    let tally = testing::run(root, &everything, &mut steps);
    let succeeded = steps.summary();
    tally.print_names();
    println!("{tally}");
    Ok(succeeded)
}

/// `cargo` with these words. Rustdoc takes its strictness from the environment; the others ignore it.
fn run_cargo(root: &Path, words: &str) -> Result<()> {
    let mut command = cargo(root);
    command
        .args(words.split(' '))
        .env("RUSTDOCFLAGS", "--deny warnings");
    commands::run(&mut command)
}

/// Without advisories: their database is not to be had everywhere that CI runs.
fn deny(root: &Path) -> Result<()> {
    let program = tools::cargo_deny(root)?;
    let mut command = Command::new(program);
    command
        .current_dir(root)
        .args(["check", "bans", "licenses", "sources"]);
    commands::run(&mut command)
}
