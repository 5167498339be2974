//! `cargo xtask fuzz`: the files of `services/resolver/tests/fuzz` under libFuzzer, led by what they cover, for as long
//! as somebody likes. A bounded run of the same targets is among the tests.

use std::path::Path;
use std::process::Command;

use crate::testing::cargo;
use crate::{Result, commands};

/// The package with one program for each target.
const PACKAGE: &str = "services/resolver/fuzz";
/// Hand-written files of each target, which every test run reads, too.
const SEEDS: &str = "services/resolver/tests/fuzz/seeds";
const TARGETS: [&str; 5] = ["config", "config_edit", "dotenv", "front_matter", "mcp_json"];
/// The measurement of files as large as may be, which is no target.
const LARGE: &str = "large";
/// Of each target, unless the caller says otherwise.
const SECONDS: u64 = 120;
/// What lets libFuzzer see which branches were taken. Stable: it asks the compiler for a pass of LLVM.
const COVERAGE: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Ccodegen-units=1 --cfg=fuzzing";
/// Of one file: seconds, mebibytes of memory, bytes.
const BOUNDS: [&str; 3] = ["-timeout=10", "-rss_limit_mb=1024", "-max_len=4096"];

/// What to try, and for how long.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    targets: Vec<String>,
    seconds: u64,
}

impl Options {
    /// `[target] [seconds]`; `None` if the words are something else.
    pub(crate) fn parse(words: &[&str]) -> Option<Self> {
        let (targets, seconds): (&[&str], _) = match words {
            [] => (&TARGETS, SECONDS),
            [target] if is_target(target) => (&[target], SECONDS),
            [seconds] => (&TARGETS, seconds.parse().ok()?),
            [target, seconds] if is_target(target) => (&[target], seconds.parse().ok()?),
            _ => return None,
        };
        let targets = targets.iter().map(|&target| target.to_owned()).collect();
        (seconds > 0).then_some(Self { targets, seconds })
    }
}

fn is_target(word: &str) -> bool {
    word == LARGE || TARGETS.contains(&word)
}

/// Runs the targets one after the other. Stops at the first that finds something: its file is named, and is tried in
/// every test run once it lies among the seeds.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    if options.targets == [LARGE] {
        return large(root);
    }
    let machine = machine()?;
    let output = root.join("target/fuzz");
    for target in &options.targets {
        build(root, &output, &machine, target)?;
        let corpus = output.join("corpus").join(target);
        let found = output.join("found").join(target);
        std::fs::create_dir_all(&corpus)?;
        std::fs::create_dir_all(&found)?;
        let mut program = Command::new(output.join(&machine).join("release").join(target));
        program
            .current_dir(root)
            .args(BOUNDS)
            .arg(format!("-max_total_time={}", options.seconds))
            .arg(format!("-artifact_prefix={}/", found.display()))
            .arg(&corpus)
            .arg(root.join(SEEDS).join(target));
        commands::run(&mut program)?;
    }
    Ok(())
}

fn build(root: &Path, output: &Path, machine: &str, target: &str) -> Result<()> {
    let mut build = cargo(root);
    // With a target named, build scripts are built without the flags.
    build
        .args(["build", "--release", "--target", machine, "--bin", target])
        .arg("--manifest-path")
        .arg(root.join(PACKAGE).join("Cargo.toml"))
        .arg("--target-dir")
        .arg(output)
        .env("RUSTFLAGS", COVERAGE);
    commands::run(&mut build)
}

/// The machine that the compiler builds for.
fn machine() -> Result<String> {
    let mut compiler = Command::new("rustc");
    let output = compiler.args(["--print", "host-tuple"]).output()?;
    let machine = String::from_utf8(output.stdout)?.trim().to_owned();
    if machine.is_empty() {
        return Err("rustc does not say for which machine it builds".into());
    }
    Ok(machine)
}

fn large(root: &Path) -> Result<()> {
    let mut test = cargo(root);
    test.args([
        "test",
        "--release",
        "--package",
        "compozy-resolver",
        "--test",
        "fuzz",
        "large",
    ])
    .args(["--", "--nocapture", "--test-threads=1"])
    .env("COMPOZY_FUZZ_BYTES", (1_u64 << 20).to_string());
    commands::run(&mut test)
}

#[cfg(test)]
mod tests {
    use super::{Options, TARGETS};

    #[test]
    fn a_target_and_seconds_may_be_given() {
        let parsed =
            |words: &[&str]| Options::parse(words).map(|options| (options.targets.len(), options.seconds));
        assert_eq!(parsed(&[]), Some((TARGETS.len(), 120)));
        assert_eq!(parsed(&["600"]), Some((TARGETS.len(), 600)));
        assert_eq!(parsed(&["config"]), Some((1, 120)));
        assert_eq!(parsed(&["config", "5"]), Some((1, 5)));
        assert_eq!(parsed(&["large"]), Some((1, 120)));
        assert_eq!(parsed(&["config", "0"]), None);
        assert_eq!(parsed(&["confg"]), None);
        assert_eq!(parsed(&["config", "5", "6"]), None);
    }
}
