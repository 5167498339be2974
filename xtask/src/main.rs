//! `cargo xtask`: the project's own tasks. What a person types and what CI types is the same.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a task runner talks to its terminal"
)]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

mod bench;
mod checker;
mod ci;
mod codegen;
mod commands;
mod corpus;
mod fuzz;
mod postgres;
mod python;
mod steps;
mod suites;
mod system;
mod tally;
mod testing;
mod tools;

/// Every failure here is for a person's eyes; nobody matches on it.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

const USAGE: &str = "usage: cargo xtask <task>

  test [--no-install] [-- <arguments of cargo test>]
                         run every test, on both engines; starts a Postgres of its own
  ci                     everything that has to pass before a change lands
  bench [rows...] [--quick]
                         measure the daemon beside the floor of the same run: a release build, then about four minutes
  checker [seconds] [seed]
                         the watch checker for longer than CI runs it, ten minutes if nothing is said
  corpus <directory or archive> [--write]
                         resolve every repository of a directory and account for each definition in it; --write
                         renews docs/corpus.md
  fuzz [target] [seconds]
                         hostile files for the readers, led by coverage, two minutes a target if nothing is said;
                         the target `large` times files as large as may be
  codegen [--check]      write the generated code, or check that it is current
  foreign                clients of other people against the daemon: grpcio, buf curl, grpcurl, grpc-health-probe
  deploy-check           what deploy/ holds: schemas, linters, and the daemon on each configuration
  postgres [--no-install]
                         run a private Postgres until ctrl-c and print its URL

  --no-install           leave the system as it is: no Postgres, no Postgres tests";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = root().and_then(|root| {
        commands::watch_signals()?;
        perform(&root, &words)
    });
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => failure(),
        Err(error) => {
            eprintln!("error: {error}");
            failure()
        }
    }
}

/// Carries out one task. `false` is a failure that has been told already.
fn perform(root: &Path, words: &[&str]) -> Result<bool> {
    match words {
        ["codegen"] => codegen::run(root, false).map(|()| true),
        ["codegen", "--check"] => codegen::run(root, true).map(|()| true),
        ["postgres"] => postgres::run_until_signal(true).map(|()| true),
        ["postgres", "--no-install"] => postgres::run_until_signal(false).map(|()| true),
        ["test", rest @ ..] => match test_options(rest) {
            Some(options) => testing::run_alone(root, &options),
            None => Err(USAGE.into()),
        },
        ["ci"] => ci::run(root),
        ["bench", rows @ ..] => bench::run(root, rows).map(|()| true),
        ["checker", rest @ ..] => match checker::Options::parse(rest) {
            Some(options) => checker::run(root, &options).map(|()| true),
            None => Err(USAGE.into()),
        },
        ["corpus", rest @ ..] => match corpus::Options::parse(rest) {
            Some(options) => corpus::run(root, &options).map(|()| true),
            None => Err(USAGE.into()),
        },
        ["fuzz", rest @ ..] => match fuzz::Options::parse(rest) {
            Some(options) => fuzz::run(root, &options).map(|()| true),
            None => Err(USAGE.into()),
        },
        ["foreign"] => suites::FOREIGN.run_alone(root),
        ["deploy-check"] => suites::DEPLOYMENT.run_alone(root),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(true)
        }
        _ => Err(USAGE.into()),
    }
}

fn test_options(words: &[&str]) -> Option<testing::Options> {
    let (no_install, rest) = match words {
        ["--no-install", rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let arguments = match rest {
        [] => &[],
        ["--", arguments @ ..] => arguments,
        _ => return None,
    };
    let arguments = arguments.iter().map(|&word| word.to_owned()).collect();
    Some(testing::Options {
        no_install,
        arguments,
    })
}

fn root() -> Result<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    Ok(folder.parent().ok_or("xtask lies in the repository")?.to_owned())
}

fn failure() -> ExitCode {
    ExitCode::from(if commands::interrupted() { 130 } else { 1 })
}
