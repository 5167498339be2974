//! Counts tests from what `cargo test` and our scripts print, and from what tests say they left out.

use std::fmt;

/// How many tests passed, failed and were skipped, and which of them were not carried out.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    passed: u64,
    failed: u64,
    skipped: u64,
    failures: Vec<String>,
    skips: Vec<String>,
}

impl Tally {
    /// What a run is worth that did not come to its first test.
    pub(crate) fn of_failed_run() -> Self {
        Self {
            failed: 1,
            ..Self::default()
        }
    }

    /// Reads one line of a test run; lines that say nothing about a test are passed over.
    pub(crate) fn read_line(&mut self, line: &str) {
        let line = line.trim_end();
        // Not only at the start: a process that a test started may have written half a line before it.
        if let Some((_, counts)) = line.split_once("test result: ") {
            self.passed += count(counts, "passed");
            self.failed += count(counts, "failed");
            self.skipped += count(counts, "ignored");
            return;
        }
        if let Some(counts) = script_counts(line) {
            let [passed, failed, skipped] = counts;
            self.passed += passed;
            self.failed += failed;
            self.skipped += skipped;
            return;
        }
        let Some((name, outcome)) = line
            .strip_prefix("test ")
            .and_then(|rest| rest.split_once(" ... "))
        else {
            return;
        };
        if outcome == "FAILED" {
            self.failures.push(name.to_owned());
        } else if let Some(reason) = outcome.strip_prefix("ignored") {
            let reason = reason.trim_start_matches([',', ' ']);
            self.skips.push(format!(
                "{name}: {}",
                if reason.is_empty() { "ignored" } else { reason }
            ));
        }
    }

    /// Adds what another run counted.
    pub(crate) fn add(&mut self, other: Self) {
        let Self {
            passed,
            failed,
            skipped,
            failures,
            skips,
        } = other;
        self.passed += passed;
        self.failed += failed;
        self.skipped += skipped;
        self.failures.extend(failures);
        self.skips.extend(skips);
    }

    /// Whether nothing at all was counted.
    pub(crate) fn is_empty(&self) -> bool {
        self.passed + self.failed + self.skipped == 0
    }

    /// A test that ended early and said why: the harness counted it as passed.
    pub(crate) fn skipped_itself(&mut self, note: &str) {
        self.passed = self.passed.saturating_sub(1);
        self.skip(note.to_owned());
    }

    /// Something that was left out as a whole.
    pub(crate) fn skip(&mut self, note: String) {
        self.skipped += 1;
        self.skips.push(note);
    }

    /// A run failed. One that counted no failed test did not build or died: that is a failure too.
    pub(crate) fn run_failed(&mut self) {
        if self.failed == 0 {
            self.failed = 1;
        }
    }

    /// Names what failed and what was skipped.
    pub(crate) fn print_names(&self) {
        for name in &self.failures {
            println!("failed: {name}");
        }
        for note in &self.skips {
            println!("skipped: {note}");
        }
    }
}

/// The closing line of every task that tests, in the form that CI reads.
impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} passed, {} failed, {} skipped",
            self.passed, self.failed, self.skipped
        )
    }
}

/// The closing line of a script, `12 passed, 0 failed, 1 skipped`; nothing else may stand on it.
fn script_counts(line: &str) -> Option<[u64; 3]> {
    let mut counts = [0; 3];
    let mut parts = line.split(", ");
    for (count, word) in counts.iter_mut().zip([" passed", " failed", " skipped"]) {
        *count = parts.next()?.strip_suffix(word)?.parse().ok()?;
    }
    parts.next().is_none().then_some(counts)
}

/// The number before `word` in `ok. 12 passed; 0 failed; 1 ignored; ...`.
fn count(counts: &str, word: &str) -> u64 {
    for part in counts.split(['.', ';']) {
        if let Some(number) = part.trim().strip_suffix(word) {
            return number.trim().parse().unwrap_or(0);
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::Tally;

    fn tally(lines: &str) -> Tally {
        let mut tally = Tally::default();
        for line in lines.lines() {
            tally.read_line(line);
        }
        tally
    }

    #[test]
    fn sums_every_binary_of_a_run() {
        let tally = tally(
            "running 3 tests\n\
             test pages::first ... ok\n\
             test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\
             test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 4 filtered out; finished in 1.50s",
        );
        assert_eq!(tally.to_string(), "15 passed, 2 failed, 1 skipped");
    }

    #[test]
    fn reads_the_result_behind_half_a_line_of_somebody_else() {
        let tally = tally("listening on 42test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured");
        assert_eq!(tally.to_string(), "2 passed, 0 failed, 0 skipped");
    }

    #[test]
    fn sums_the_closing_lines_of_scripts() {
        let mut tally = tally("test a::b ... ok\n3 passed, 1 failed, 2 skipped");
        tally.add(super::tests::tally(
            "1 passed, 0 failed, 0 skipped\ntest c ... FAILED",
        ));
        assert_eq!(tally.to_string(), "4 passed, 1 failed, 2 skipped");
        assert_eq!(tally.failures, ["c"]);
        for prose in [
            "it said 3 passed, 1 failed, 2 skipped",
            "3 passed, 1 failed",
            "3 passed, 1 failed, 2 skipped, 1",
        ] {
            assert!(super::tests::tally(prose).is_empty(), "{prose}");
        }
    }

    #[test]
    fn names_what_did_not_pass() {
        let tally = tally(
            "test a ... ok\ntest b ... FAILED\ntest c ... ignored, needs a week\ntest src/lib.rs - d (line 3) ... ignored",
        );
        assert_eq!(tally.failures, ["b"]);
        assert_eq!(
            tally.skips,
            ["c: needs a week", "src/lib.rs - d (line 3): ignored"]
        );
    }

    #[test]
    fn a_test_that_skips_itself_did_not_pass() {
        let mut tally = tally("test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
        tally.skipped_itself("archive: not there");
        assert_eq!(tally.to_string(), "1 passed, 0 failed, 1 skipped");
    }

    #[test]
    fn a_run_that_failed_without_a_failed_test_counts_as_one() {
        let mut dead = tally("test result: ok. 2 passed; 0 failed; 0 ignored");
        dead.run_failed();
        assert_eq!(dead.to_string(), "2 passed, 1 failed, 0 skipped");
        let mut counted = tally("test result: FAILED. 2 passed; 3 failed; 0 ignored");
        counted.run_failed();
        assert_eq!(counted.to_string(), "2 passed, 3 failed, 0 skipped");
    }
}
