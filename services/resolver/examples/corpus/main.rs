//! Resolves every repository under a directory as a workspace, and accounts for every `SKILL.md` and `AGENT.md` that
//! lies in a place that is scanned. Prints Markdown; exits with 1 if a file is missing from the answers.
//!
//! `cargo xtask corpus <directory>` runs it.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for a terminal"
)]

mod disk;
mod repository;
mod table;
mod time;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use repository::Report;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let Some(directory) = std::env::args_os().nth(1) else {
        eprintln!("usage: corpus <directory of repositories>");
        return ExitCode::from(64);
    };
    match run(Path::new(&directory)) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(missing) => {
            eprintln!("{missing} files are in no answer");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the report; answers how many files are in no answer.
fn run(directory: &Path) -> Result<usize> {
    let mut reports = Vec::new();
    for root in repositories(directory)? {
        let found = disk::find(&root)?;
        if !found.definitions.is_empty() {
            reports.push(Report::of(&root, &found)?);
        }
    }
    if reports.is_empty() {
        return Err(format!("no repository with a definition in {}", directory.display()).into());
    }
    table::print(&reports);
    Ok(reports.iter().map(|report| report.missing.len()).sum())
}

/// The directories in a directory, by name.
fn repositories(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut roots = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            roots.push(entry.path().canonicalize()?);
        }
    }
    roots.sort();
    Ok(roots)
}
