//! `cargo xtask checker`: the watch checker for as long as somebody likes. A short run of it is one of the tests.

use std::path::Path;

use crate::testing::{PROGRAMS, cargo};
use crate::{Result, commands, postgres, testing};

/// Unless the caller says otherwise: ten minutes.
const SECONDS: u64 = 600;
/// Of one run of the test, which has to end within what any command may take.
const RUN_MAX: u64 = 1_200;

/// How long, and with which choices.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    seconds: u64,
    seed: Option<u64>,
}

impl Options {
    /// `[seconds] [seed]`; `None` if the words are something else.
    pub(crate) fn parse(words: &[&str]) -> Option<Self> {
        let (seconds, seed) = match words {
            [] => (SECONDS, None),
            [seconds] => (seconds.parse().ok()?, None),
            [seconds, seed] => (seconds.parse().ok()?, Some(seed.parse().ok()?)),
            _ => return None,
        };
        (seconds > 0).then_some(Self { seconds, seed })
    }
}

/// Runs the courses of the checker, one run after the other. Stops at the first that finds something.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let programs = postgres::find_programs()?;
    testing::build(root)?;
    let seed = match options.seed {
        Some(seed) => seed,
        None => getrandom::u64()?,
    };
    let mut left = options.seconds;
    let mut number = 0;
    while left > 0 {
        let seconds = left.min(RUN_MAX);
        let mut command = cargo(root);
        // Of the whole workspace, as the binaries were built: a package by itself would be built with other features.
        command
            .args(["test", "--workspace", "--test", "checker"])
            .args(["course_", "--", "--nocapture"])
            .env(PROGRAMS, &programs)
            .env("COMPOZY_CHECKER_SECONDS", seconds.to_string())
            .env("COMPOZY_CHECKER_SEED", seed.wrapping_add(number).to_string());
        commands::run(&mut command)?;
        left -= seconds;
        number += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Options;

    #[test]
    fn seconds_and_a_seed_may_be_given() {
        let parsed = |words: &[&str]| Options::parse(words).map(|options| (options.seconds, options.seed));
        assert_eq!(parsed(&[]), Some((600, None)));
        assert_eq!(parsed(&["60"]), Some((60, None)));
        assert_eq!(parsed(&["60", "7"]), Some((60, Some(7))));
        assert_eq!(parsed(&["0"]), None);
        assert_eq!(parsed(&["60", "x"]), None);
        assert_eq!(parsed(&["60", "7", "8"]), None);
    }
}
