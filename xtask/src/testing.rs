//! `cargo xtask test`: a Postgres of its own, the binaries, every test, one count at the end.

use std::path::Path;
use std::process::Command;

use crate::postgres::Postgres;
use crate::steps::Steps;
use crate::tally::Tally;
use crate::{Result, commands, suites};

/// Where tests find the Postgres to use: a superuser's URL, so that each makes its own database.
const URL: &str = "COMPOZY_TEST_POSTGRES_URL";
/// Where tests find Postgres' programs, for those that start, stop or dump one themselves.
pub(crate) const PROGRAMS: &str = "COMPOZY_TEST_POSTGRES_BIN";
/// A file to which a test that ends early appends one line, `<its name>: <why>`.
pub(crate) const SKIPPED: &str = "COMPOZY_TEST_SKIPPED";

/// What the caller of `cargo xtask test` asked for.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// Leave the system as it is: install no missing package.
    pub(crate) no_install: bool,
    /// Passed on to `cargo test`; a selection of packages replaces the whole workspace.
    pub(crate) arguments: Vec<String>,
}

/// Whether this is CI, where nothing may be left out.
pub(crate) fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true" || value == "1")
}

/// The `cargo` that started this process, in the repository's root. CI starts cold, where incremental
/// state only costs.
pub(crate) fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    if in_ci() {
        command.env("CARGO_INCREMENTAL", "0").env("CARGO_NET_RETRY", "5");
    }
    command
}

/// The task by itself; answers whether everything passed.
pub(crate) fn run_alone(root: &Path, options: &Options) -> Result<bool> {
    let mut steps = Steps::default();
    let tally = run(root, options, &mut steps);
    let succeeded = steps.summary();
    tally.print_names();
    println!("{tally}");
    Ok(succeeded)
}

/// Tests, as steps of a larger task. Whatever fails is remembered in the steps.
pub(crate) fn run(root: &Path, options: &Options, steps: &mut Steps) -> Tally {
    let mut tally = Tally::default();
    let database = steps
        .step("start Postgres", || database(!options.no_install, &mut tally))
        .flatten();
    let built = steps.step("build the binaries", || build(root));
    // The tests of selected packages may be fine without the binary that does not build.
    if built.is_none() && scope(&options.arguments).is_some() {
        tally.run_failed();
        return tally;
    }
    steps.step("test", || run_tests(root, options, database.as_ref(), &mut tally));
    // Whoever asks for some tests asks for those of a crate.
    if options.arguments.is_empty() && built.is_some() {
        for suite in [&suites::DEPLOYMENT, &suites::FOREIGN] {
            steps.step(suite.name, || {
                suite.run(root, !options.no_install, database.as_ref(), &mut tally)
            });
        }
    }
    // Stops the server before the caller reads the count: it is always the last thing printed.
    drop(database);
    tally
}

/// Builds every program, `compozyd` and `compozy` among them.
pub(crate) fn build(root: &Path) -> Result<()> {
    let mut command = cargo(root);
    command.args(["build", "--workspace", "--bins"]);
    commands::run(&mut command)
}

/// A database for the tests, and the server when it is ours.
#[derive(Debug)]
pub(crate) struct Database {
    url: String,
    programs: Option<String>,
    _server: Option<Postgres>,
}

impl Database {
    /// Tells a command's tests where it is.
    pub(crate) fn name_in(&self, command: &mut Command) {
        command.env(URL, &self.url);
        if let Some(programs) = &self.programs {
            command.env(PROGRAMS, programs);
        }
    }
}

/// The Postgres that the environment names, or one of our own. Without one the Postgres tests are
/// left out, which CI does not accept.
fn database(install: bool, tally: &mut Tally) -> Result<Option<Database>> {
    if let Some(url) = std::env::var(URL).ok().filter(|url| !url.trim().is_empty()) {
        println!("using the Postgres that {URL} names");
        return Ok(Some(Database {
            url,
            programs: std::env::var(PROGRAMS).ok(),
            _server: None,
        }));
    }
    match Postgres::start(install) {
        Ok(server) => {
            println!("{} in {}", server.version(), server.folder().display());
            let programs = server.programs().display().to_string();
            Ok(Some(Database {
                url: server.url(),
                programs: Some(programs),
                _server: Some(server),
            }))
        }
        Err(error) if in_ci() || commands::interrupted() => Err(error),
        Err(error) => {
            println!("Postgres is left out: {error}");
            tally.skip(format!("everything on Postgres: {error}"));
            Ok(None)
        }
    }
}

/// Runs the tests and counts them; an error when one failed, and in CI when one did without Postgres.
fn run_tests(root: &Path, options: &Options, database: Option<&Database>, tally: &mut Tally) -> Result<()> {
    let skipped = tempfile::NamedTempFile::new()?;
    let mut command = cargo(root);
    command
        .arg("test")
        .args(scope(&options.arguments))
        .arg("--no-fail-fast")
        .args(&options.arguments);
    command
        .env(SKIPPED, skipped.path())
        .env_remove(URL)
        .env_remove(PROGRAMS);
    if let Some(database) = database {
        database.name_in(&mut command);
    }
    let outcome = commands::stream(&mut command, |line| tally.read_line(line));
    let notes = std::fs::read_to_string(skipped.path())?;
    for note in notes.lines() {
        tally.skipped_itself(note);
    }
    if outcome.is_err() {
        tally.run_failed();
        return outcome;
    }
    let without_postgres = notes
        .lines()
        .find(|note| note.to_lowercase().contains("postgres"));
    match without_postgres {
        Some(note) if in_ci() => Err(format!("Postgres must not be skipped in CI: {note}").into()),
        _ => Ok(()),
    }
}

/// Everything, unless the caller selects packages. What stands behind a second `--` is for the
/// test binaries and selects none.
fn scope(arguments: &[String]) -> Option<&'static str> {
    let own = arguments.iter().take_while(|word| *word != "--");
    let selects = |word: &String| {
        word.starts_with("-p") || word.starts_with("--package") || word.starts_with("--manifest-path")
    };
    if own.into_iter().any(selects) {
        None
    } else {
        Some("--workspace")
    }
}

#[cfg(test)]
mod tests {
    use super::scope;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_selection_of_packages_replaces_the_whole_workspace() {
        assert_eq!(scope(&words("")), Some("--workspace"));
        assert_eq!(scope(&words("conformance -- --nocapture")), Some("--workspace"));
        assert_eq!(scope(&words("-p compozy-store pages")), None);
        assert_eq!(scope(&words("--package=compozy-store")), None);
        assert_eq!(scope(&words("pages -- -p")), Some("--workspace"));
    }
}
