//! `cargo xtask corpus`: every definition of other people's repositories is in the answer of a resolve, or CI is red.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::testing::cargo;
use crate::{Result, commands};

/// Names a directory of repositories, or an archive of one, for CI.
const PLACE: &str = "COMPOZY_CORPUS";
/// Where the archive lies if nobody names a place.
const ARCHIVE: &str = "../shared/data/definitions.tar.gz";
/// The page that the report goes to.
const PAGE: &str = "docs/corpus.md";

/// What to resolve, and how.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// A directory of repositories, or an archive of one.
    place: PathBuf,
    /// Whether the report goes to its page.
    write: bool,
    /// Whether the times are those of what is shipped; a build of its own.
    release: bool,
}

impl Options {
    /// Reads the words of the command line.
    pub(crate) fn parse(words: &[&str]) -> Option<Self> {
        let (place, write) = match words {
            [place] => (place, false),
            [place, "--write"] | ["--write", place] => (place, true),
            _ => return None,
        };
        Some(Self {
            place: PathBuf::from(place),
            write,
            release: true,
        })
    }

    /// What CI runs; `None` where there is no corpus.
    pub(crate) fn of_ci(root: &Path) -> Option<Self> {
        let place = std::env::var_os(PLACE).map_or_else(|| root.join(ARCHIVE), PathBuf::from);
        place.exists().then_some(Self {
            place,
            write: false,
            release: false,
        })
    }
}

/// Resolves the repositories and prints the report; an error if a file is missing from it.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let unpacked = tempfile::tempdir()?;
    let place = options.place.canonicalize();
    let place = place.map_err(|error| format!("{}: {error}", options.place.display()))?;
    let directory = if place.is_dir() {
        place
    } else {
        unpack(&place, unpacked.path())?;
        unpacked.path().to_owned()
    };
    let mut program = cargo(root);
    program.args([
        "run",
        "--quiet",
        "--package",
        "compozy-resolver",
        "--example",
        "corpus",
    ]);
    if options.release {
        program.arg("--release");
    }
    program.arg("--").arg(directory);
    let mut report = String::new();
    commands::stream(&mut program, |line| report.push_str(line))?;
    if options.write {
        std::fs::write(root.join(PAGE), page(&report))?;
        println!("written to {PAGE}");
    }
    Ok(())
}

fn unpack(archive: &Path, into: &Path) -> Result<()> {
    let mut tar = Command::new("tar");
    commands::run(tar.arg("-xzf").arg(archive).arg("-C").arg(into))
}

fn page(report: &str) -> String {
    format!(
        "# Definitions in the wild

<!-- Written by `cargo xtask corpus <archive> --write`. -->

Every `SKILL.md` and `AGENT.md` of a few public repositories (archive `definitions.tar.gz`, which names them), resolved as
a user would: each repository is a workspace, and everything that it keeps skills in is a source.

- *On disk*: files of these names, links included. *In reach*: of those, below a directory that is scanned. *In the
  answer*: of those, listed by a resolve of the whole repository, *shadowed* ones as losers of their name. *Missing* has to
  be 0: nothing vanishes.
- The other columns are about each source on its own, so that equal names of two sources don't hide each other: *usable*,
  of those *recovered* (a plain value that YAML does not take), *broken* with its reason, and *repeated* in one source.
- Times are medians with the files in the page cache. *Cold*: a resolve. *Bare reads*: opening and reading the same files.
  *Warm*: telling that nothing has changed. *Bare stats*: `lstat` of the same paths.

{report}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_needed_and_the_page_is_asked_for() {
        let place = PathBuf::from("d");
        let options = |write| Options {
            place: place.clone(),
            write,
            release: true,
        };
        assert_eq!(Options::parse(&["d"]), Some(options(false)));
        assert_eq!(Options::parse(&["d", "--write"]), Some(options(true)));
        assert_eq!(Options::parse(&[]), None);
        assert_eq!(Options::parse(&["a", "b"]), None);
    }
}
