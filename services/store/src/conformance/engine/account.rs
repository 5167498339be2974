//! Who runs servers for tests: this user, or for root, whom they refuse, somebody else.

use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// This user, or somebody else by user and group id.
#[derive(Debug, Clone, Copy)]
pub struct Account {
    other: Option<(u32, u32)>,
}

impl Account {
    /// Somebody else only where this user is root.
    #[must_use]
    pub fn find() -> Self {
        let is_root = number("-u", None) == Some(0);
        let somebody = || {
            ["postgres", "nobody"]
                .into_iter()
                .find_map(|name| Some((number("-u", Some(name))?, number("-g", Some(name))?)))
        };
        Self {
            other: is_root.then(somebody).flatten(),
        }
    }

    /// Hands a path over.
    ///
    /// # Panics
    /// If it is not there.
    pub fn own(&self, path: &Path) {
        if let Some((user, group)) = self.other {
            chown(path, Some(user), Some(group)).expect("root gives files away");
        }
    }

    /// A program that runs as this account. Where the system can do it, it ends even when this process is killed
    /// outright.
    #[must_use]
    pub fn command(&self, program: &Path) -> Command {
        let setpriv = Path::new("/usr/bin/setpriv");
        let mut command = if setpriv.is_file() {
            let mut command = Command::new(setpriv);
            command.args(["--pdeathsig", "KILL", "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        if let Some((user, group)) = self.other {
            command.uid(user).gid(group);
        }
        command
    }
}

fn number(what: &str, name: Option<&str>) -> Option<u32> {
    let output = Command::new("id")
        .arg(what)
        .args(name)
        .stderr(Stdio::null())
        .output()
        .ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}
