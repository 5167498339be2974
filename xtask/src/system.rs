//! What this machine's system offers: programs on the search path, and Debian's packages.

use std::path::PathBuf;
use std::process::Command;

use crate::{Result, commands};

/// A program that PATH finds.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// Whether this process may install one of Debian's packages.
pub(crate) fn can_install() -> bool {
    rustix::process::geteuid().is_root() && on_path("apt-get").is_some()
}

/// Makes sure that PATH finds a program; with `install`, Debian's package brings it.
pub(crate) fn ensure(program: &str, package: &str, install: bool) -> Result<()> {
    if on_path(program).is_none() && install && can_install() {
        self::install(package)?;
    }
    match on_path(program) {
        Some(_) => Ok(()),
        None => Err(format!("no {program} found: install it").into()),
    }
}

/// Installs one of Debian's packages.
pub(crate) fn install(package: &str) -> Result<()> {
    println!("installing Debian's package {package}");
    for arguments in [
        &["update", "--quiet"][..],
        &["install", "--quiet", "--yes", package],
    ] {
        let mut command = Command::new("apt-get");
        commands::run(command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))?;
    }
    Ok(())
}
