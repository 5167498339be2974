//! Finds the programs of Postgres and of its pooler on this machine, and installs them where that takes one command.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Result, commands, system};

/// The oldest major version that the store supports.
const OLDEST: u32 = 14;
/// The pooler's program, and Debian's package of it.
const POOLER: &str = "pgbouncer";

/// The folder that holds the server's programs. With `install`, Debian's package brings them when
/// they are missing and this process may install it.
pub(super) fn find(install: bool) -> Result<PathBuf> {
    if let Some(folder) = installed() {
        return Ok(folder);
    }
    if !install {
        return Err(format!("no Postgres {OLDEST} or newer found (installing was not asked for)").into());
    }
    if !system::can_install() {
        return Err(format!("no Postgres {OLDEST} or newer found: install the server's package").into());
    }
    system::install("postgresql")?;
    installed().ok_or_else(|| "the package postgresql brought no server".into())
}

/// The pooler that some tests put before the server. With `install`, Debian's package brings it when it is missing
/// and this process may install it; `None` where there is none, which the tests that need it say.
pub(super) fn pooler(install: bool) -> Option<PathBuf> {
    if pooler_at().is_none()
        && install
        && system::can_install()
        && let Err(error) = system::install(POOLER)
    {
        println!("the pooler is left out: {error}");
    }
    pooler_at()
}

/// Packages put it where only root's PATH leads.
fn pooler_at() -> Option<PathBuf> {
    let beside = PathBuf::from("/usr/sbin").join(POOLER);
    system::on_path(POOLER).or_else(|| Some(beside).filter(|program| program.is_file()))
}

fn installed() -> Option<PathBuf> {
    candidates().into_iter().find(|folder| usable(folder))
}

/// Where a server may be: first what PATH names, then where packages put it without a PATH entry,
/// newest first.
fn candidates() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    // The programs may be links to one version's folder, which alone holds all of them.
    let linked = system::on_path("initdb").and_then(|program| fs::canonicalize(program).ok());
    if let Some(folder) = linked.as_deref().and_then(Path::parent) {
        folders.push(folder.to_owned());
    }
    for (parent, prefix) in [
        ("/usr/lib/postgresql", ""),
        ("/opt/homebrew/opt", "postgresql@"),
        ("/usr/local/opt", "postgresql@"),
    ] {
        let mut versions = versions_in(Path::new(parent), prefix);
        versions.sort_unstable_by_key(|&version| std::cmp::Reverse(version));
        folders.extend(versions.into_iter().map(|version| {
            let folder = format!("{prefix}{version}");
            Path::new(parent).join(folder).join("bin")
        }));
    }
    folders
}

fn versions_in(parent: &Path, prefix: &str) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(parent) else {
        return Vec::new();
    };
    let names = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned());
    names
        .filter_map(|name| name.strip_prefix(prefix)?.parse().ok())
        .collect()
}

fn usable(folder: &Path) -> bool {
    folder.join("initdb").is_file() && version(folder).is_some_and(|text| major(&text) >= Some(OLDEST))
}

/// What `postgres --version` says, as in `postgres (PostgreSQL) 15.18`.
pub(super) fn version(folder: &Path) -> Option<String> {
    let text = commands::read(Command::new(folder.join("postgres")).arg("--version")).ok()?;
    Some(text.trim().to_owned())
}

fn major(version: &str) -> Option<u32> {
    let number = version
        .split_whitespace()
        .find(|word| word.starts_with(|first: char| first.is_ascii_digit()))?;
    let end = number
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(number.len());
    number[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::major;

    #[test]
    fn the_major_version_is_read_from_every_form() {
        assert_eq!(
            major("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)"),
            Some(15)
        );
        assert_eq!(major("postgres (PostgreSQL) 18beta1"), Some(18));
        assert_eq!(major("postgres (PostgreSQL)"), None);
    }
}
