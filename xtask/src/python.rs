//! Test scripts in Python: each in an environment with the packages that its requirements pin, its cases
//! counted like every other test's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tally::Tally;
use crate::{Result, commands, system, testing};

/// A script and the file that pins what it imports, both relative to the repository's root.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) path: &'static str,
    pub(crate) requirements: &'static str,
}

/// The command that runs a script. With `install`, Debian's package brings what a bare Python lacks.
pub(crate) fn command(root: &Path, script: &Script, install: bool) -> Result<Command> {
    let python = environment(root, script.requirements, install)?;
    // For certificates, which the scripts let `deploy/make-secrets` make.
    system::ensure("openssl", "openssl", install)?;
    let mut command = Command::new(python);
    command.current_dir(root).arg(script.path);
    // What the scripts share: how cases are counted, how a daemon is started.
    command.env("PYTHONPATH", root.join("xtask/python"));
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command.env("COMPOZY_TEST_PROGRAMS", programs()?);
    // The script counts what it skips by itself, and names it in its output.
    command.env_remove(testing::SKIPPED);
    Ok(command)
}

/// Runs a script, shows its output and counts its cases.
pub(crate) fn run(command: &mut Command, tally: &mut Tally) -> Result<()> {
    let mut own = Tally::default();
    let outcome = commands::stream(command, |line| own.read_line(line));
    let outcome = match outcome {
        Ok(()) if own.is_empty() => Err("the script counted no case".into()),
        outcome => outcome,
    };
    if outcome.is_err() {
        own.run_failed();
    }
    tally.add(own);
    outcome
}

/// The folder of `compozyd` and `compozy`: this very program was built into it too.
fn programs() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    Ok(own.parent().ok_or("a program lies in a folder")?.to_owned())
}

/// The `python` of an environment that holds exactly what the requirements pin. Made once in the target
/// folder, and again when the requirements change.
fn environment(root: &Path, requirements: &str, install: bool) -> Result<PathBuf> {
    let wanted =
        fs::read_to_string(root.join(requirements)).map_err(|error| format!("{requirements}: {error}"))?;
    let folder = root
        .join("target/tools/python")
        .join(requirements.replace('/', "-"));
    let (python, made_for) = (folder.join("bin/python"), folder.join("made-for.txt"));
    // The link leads to the system's Python, which may have been replaced since.
    let whole = fs::read_to_string(&made_for).is_ok_and(|text| text == wanted)
        && commands::read(Command::new(&python).arg("--version")).is_ok();
    if whole {
        return Ok(python);
    }
    let system_python = system_python(install)?;
    println!("installing what {requirements} pins");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    commands::run(Command::new(system_python).args(["-m", "venv"]).arg(&folder))?;
    let mut pip = Command::new(&python);
    pip.current_dir(root)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    commands::run(pip.args(["--requirement", requirements]))?;
    fs::write(made_for, wanted)?;
    Ok(python)
}

/// A Python that can make environments: Debian keeps that part in a package of its own.
fn system_python(install: bool) -> Result<PathBuf> {
    if let Some(python) = capable_python() {
        return Ok(python);
    }
    if !(install && system::can_install()) {
        return Err("no python3 found that has the modules venv and ensurepip".into());
    }
    system::install("python3-venv")?;
    capable_python().ok_or_else(|| "the package python3-venv brought no such Python".into())
}

fn capable_python() -> Option<PathBuf> {
    let python = system::on_path("python3")?;
    let mut command = Command::new(&python);
    command.args([
        "-c",
        "import importlib.util as u; print(all(map(u.find_spec, ('venv', 'ensurepip'))))",
    ]);
    (commands::read(&mut command).ok()?.trim() == "True").then_some(python)
}
