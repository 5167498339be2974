//! Who runs the server: this user, or for root, whom Postgres refuses, somebody else.

use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Result;

/// This user, or with `other` (user id, group id) somebody else.
pub(super) struct Account {
    other: Option<(u32, u32)>,
}

impl Account {
    /// Somebody else only where this user is root.
    pub(super) fn find() -> Result<Self> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Self { other: None });
        }
        for name in ["postgres", "nobody"] {
            let ids = [number(&["-u", name]), number(&["-g", name])];
            if let [Some(user), Some(group)] = ids {
                return Ok(Self {
                    other: Some((user, group)),
                });
            }
        }
        Err("Postgres does not run as root, and there is no user postgres or nobody".into())
    }

    /// Hands a path over.
    pub(super) fn own(&self, path: &Path) -> Result<()> {
        if let Some((user, group)) = self.other {
            chown(path, Some(user), Some(group))?;
        }
        Ok(())
    }

    /// Runs as this account, in a folder that it may read.
    pub(super) fn apply(&self, command: &mut Command, folder: &Path) {
        command.current_dir(folder);
        if let Some((user, group)) = self.other {
            command.uid(user).gid(group);
        }
    }
}

fn number(arguments: &[&str]) -> Option<u32> {
    let output = Command::new("id")
        .args(arguments)
        .stderr(Stdio::null())
        .output()
        .ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}
