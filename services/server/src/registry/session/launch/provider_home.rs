//! Homes of providers that shall not see the operator's: below `$COMPOZY_HOME/providers`, made by the daemon, for nobody
//! else to look into. No credential is ever copied there.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use compozy_domain::{CatalogError, Diagnostic, Layer, Severity};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

const MODE: Mode = Mode::from_raw_mode(0o700);
const CONFIG: &str = ".config";
const DATA: &str = ".local/share";
const CACHE: &str = ".cache";

/// Tools with a variable of their own: how names of their providers begin, the variable, and what it names.
const OWN: [(&str, &str, &str); 3] = [
    ("claude", "CLAUDE_CONFIG_DIR", ".claude"),
    ("codex", "CODEX_HOME", ".codex"),
    ("opencode", "OPENCODE_CONFIG_DIR", ".config/opencode"),
];

/// The variables that lead a program to the home of its provider.
pub(super) fn variables(home: &str, provider: &str) -> Vec<(String, String)> {
    let own = format!("{home}/providers/{provider}");
    let mut variables = vec![("HOME", own.clone()), ("PROVIDER_HOME", own.clone())];
    let below = [
        ("XDG_CONFIG_HOME", CONFIG),
        ("XDG_DATA_HOME", DATA),
        ("XDG_CACHE_HOME", CACHE),
    ];
    let of_tool = own_of(provider).map(|(_, variable, path)| (variable, path));
    for (variable, path) in below.into_iter().chain(of_tool) {
        variables.push((variable, format!("{own}/{path}")));
    }
    let named = variables.into_iter();
    named.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Makes the home of a provider, as far as it is missing, and closes it to others. `provider` is the name of a table of
/// the configuration, and so one that may become a path.
pub(super) fn make(home: &str, provider: &str) -> Result<(), CatalogError> {
    make_all(home, provider).map_err(|error| {
        if Errno::from_io_error(&error) == Some(Errno::NOSPC) {
            return CatalogError::DiskFull;
        }
        let found = Diagnostic::new(
            "provider_home_unusable",
            Severity::Error,
            Layer::User,
            format!("{home}/providers/{provider}"),
            format!(
                "the home of the provider can't be made or used: {}",
                words(&error)
            ),
            "put a directory of the daemon's user there, or set home_policy of the provider to operator",
        );
        CatalogError::Config {
            problems: vec![found],
        }
    })
}

fn make_all(home: &str, provider: &str) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let home = rustix::fs::open(home, flags, Mode::empty())?;
    let providers = enter(home.as_fd(), "providers")?;
    let own = enter(providers.as_fd(), provider)?;
    let of_tool = own_of(provider).map(|(_, _, path)| path);
    for path in [CONFIG, DATA, CACHE].into_iter().chain(of_tool) {
        let mut at = own.try_clone()?;
        for name in path.split('/') {
            at = enter(at.as_fd(), name)?;
        }
    }
    Ok(())
}

/// Opens a directory, which is made if there is none, and takes it from others. A link is followed by nobody here.
fn enter(parent: BorrowedFd<'_>, name: &str) -> io::Result<OwnedFd> {
    match rustix::fs::mkdirat(parent, name, MODE) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = rustix::fs::openat(parent, name, flags, Mode::empty())?;
    // The umask may have taken bits away, somebody else may have given some.
    if Mode::from_raw_mode(rustix::fs::fstat(&directory)?.st_mode) != MODE {
        rustix::fs::fchmod(&directory, MODE)?;
    }
    Ok(directory)
}

fn own_of(provider: &str) -> Option<(&'static str, &'static str, &'static str)> {
    OWN.into_iter().find(|(tool, _, _)| {
        let rest = provider.strip_prefix(tool);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_']))
    })
}

fn words(error: &io::Error) -> &'static str {
    match Errno::from_io_error(error) {
        Some(Errno::LOOP | Errno::NOTDIR) => "something else than a directory is in its place",
        Some(Errno::ACCESS | Errno::PERM) => "the daemon may not",
        Some(Errno::ROFS) => "the disk is read-only",
        _ => "the disk fails",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn every_directory_that_is_named_is_there_and_closed() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().to_str().unwrap();
        for provider in ["claude", "codex-beta", "acme"] {
            make(path, provider).unwrap();
            make(path, provider).unwrap();
            for (name, directory) in variables(path, provider) {
                let mode = std::fs::metadata(&directory).unwrap().permissions().mode();
                assert_eq!(mode & 0o7777, 0o700, "{name}");
            }
        }
        assert!(variables(path, "claudette").len() == 5 && variables(path, "claude").len() == 6);
    }

    #[test]
    fn what_is_too_open_is_tightened_and_a_link_is_not_followed() {
        let (home, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = home.path().to_str().unwrap();
        let providers = home.path().join("providers");
        std::fs::create_dir(&providers).unwrap();
        std::fs::set_permissions(&providers, std::fs::Permissions::from_mode(0o755)).unwrap();
        make(path, "acme").unwrap();
        let mode = std::fs::metadata(&providers).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o700);
        std::os::unix::fs::symlink(elsewhere.path(), providers.join("linked")).unwrap();
        let error = make(path, "linked").unwrap_err();
        let CatalogError::Config { problems } = error else {
            unreachable!("a home that can't be used is a broken configuration")
        };
        assert!(problems[0].path.ends_with("/providers/linked"));
        assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }
}
