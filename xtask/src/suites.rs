//! The suites of tests that are scripts: what `deploy/` holds, checked by the schemas and tools of its
//! readers and by the daemon itself; and clients in other languages and by other people against that daemon.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::python::{self, Script};
use crate::steps::Steps;
use crate::tally::Tally;
use crate::testing::{self, Database};
use crate::{Result, commands, tools};

/// One suite. Its cases need the programs to be built.
#[derive(Debug)]
pub(crate) struct Suite {
    pub(crate) name: &'static str,
    script: Script,
    /// Names the tools that the script's cases use. A case whose tool has no name is skipped.
    find_tools: fn(&Path, &mut Command) -> Result<()>,
}

/// `cargo xtask deploy-check`.
pub(crate) const DEPLOYMENT: Suite = Suite {
    name: "deployment files",
    script: Script {
        path: "deploy/check.py",
        requirements: "deploy/requirements.txt",
    },
    find_tools: find_compose_reader,
};

/// `cargo xtask foreign`.
pub(crate) const FOREIGN: Suite = Suite {
    name: "foreign clients",
    script: Script {
        path: "tests/foreign/run.py",
        requirements: "tests/foreign/requirements.txt",
    },
    find_tools: find_clients,
};

impl Suite {
    /// The suite by itself, on the Postgres that the environment names if it names one; answers whether
    /// everything passed.
    pub(crate) fn run_alone(&self, root: &Path) -> Result<bool> {
        let (mut steps, mut tally) = (Steps::default(), Tally::default());
        let built = steps.step("build the binaries", || testing::build(root));
        let script = || python::run(&mut self.command(root, true)?, &mut tally);
        let passed = built.and_then(|()| steps.step(self.name, script));
        if passed.is_none() {
            tally.run_failed();
        }
        let succeeded = steps.summary();
        tally.print_names();
        println!("{tally}");
        Ok(succeeded)
    }

    /// The suite as a part of all tests. A machine that cannot fetch what the script takes leaves it out,
    /// which CI does not accept.
    pub(crate) fn run(
        &self,
        root: &Path,
        install: bool,
        database: Option<&Database>,
        tally: &mut Tally,
    ) -> Result<()> {
        let mut command = match self.command(root, install) {
            Ok(command) => command,
            Err(error) if testing::in_ci() || commands::interrupted() => {
                tally.add(Tally::of_failed_run());
                return Err(error);
            }
            Err(error) => {
                println!("the {} are left out: {error}", self.name);
                tally.skip(format!("everything about the {}: {error}", self.name));
                return Ok(());
            }
        };
        if let Some(database) = database {
            database.name_in(&mut command);
        }
        python::run(&mut command, tally)
    }

    fn command(&self, root: &Path, install: bool) -> Result<Command> {
        let mut command = python::command(root, &self.script, install)?;
        (self.find_tools)(root, &mut command)?;
        Ok(command)
    }
}

fn find_compose_reader(root: &Path, command: &mut Command) -> Result<()> {
    let reader = tools::go_program(root, &tools::COMPOSE_READER);
    name_tool(command, "COMPOZY_TEST_COMPOSE_READER", reader)
}

fn find_clients(root: &Path, command: &mut Command) -> Result<()> {
    name_tool(command, "COMPOZY_TEST_BUF", tools::buf(root).map(Some))?;
    let grpcurl = tools::go_program(root, &tools::GRPCURL);
    name_tool(command, "COMPOZY_TEST_GRPCURL", grpcurl)?;
    let probe = tools::go_program(root, &tools::HEALTH_PROBE);
    name_tool(command, "COMPOZY_TEST_HEALTH_PROBE", probe)
}

/// A tool that this machine cannot fetch is left out, but in CI.
fn name_tool(command: &mut Command, variable: &str, found: Result<Option<PathBuf>>) -> Result<()> {
    match found {
        Ok(Some(program)) => {
            command.env(variable, program);
        }
        Ok(None) => {}
        Err(error) if testing::in_ci() || commands::interrupted() => return Err(error),
        Err(error) => println!("{variable} is not set: {error}"),
    }
    Ok(())
}
