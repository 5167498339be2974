//! Tools of the build that are fetched on first use, at the version that is written down here or in
//! `package.json`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Result, commands, system, testing};

const CARGO_DENY: &str = "0.20.2";

/// `buf`, as `package.json` pins it. Its install script is not run: the program itself comes as an
/// ordinary package for this platform.
pub(crate) fn buf(root: &Path) -> Result<PathBuf> {
    let package: serde_json::Value = serde_json::from_str(&fs::read_to_string(root.join("package.json"))?)?;
    let pinned = package["devDependencies"]["@bufbuild/buf"]
        .as_str()
        .ok_or("package.json pins no buf")?;
    let program = root.join("node_modules/.bin/buf");
    if version(&program, "--version").as_deref() != Some(pinned) {
        println!("installing buf {pinned}");
        commands::run(
            Command::new("npm")
                .current_dir(root)
                .args(["ci", "--ignore-scripts"]),
        )?;
    }
    Ok(program)
}

/// `cargo-deny`, built once into the target folder.
pub(crate) fn cargo_deny(root: &Path) -> Result<PathBuf> {
    let folder = root.join("target/tools");
    let program = folder.join("bin/cargo-deny");
    if version(&program, "--version").as_deref() != Some(CARGO_DENY) {
        println!("installing cargo-deny {CARGO_DENY}, which takes a few minutes");
        let mut command = testing::cargo(root);
        // It runs for seconds: time spent on optimising it is never won back.
        command
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
            .env("CARGO_PROFILE_RELEASE_LTO", "off");
        command.env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
        command.args([
            "install",
            "cargo-deny",
            "--version",
            CARGO_DENY,
            "--locked",
            "--force",
            "--root",
        ]);
        commands::run(command.arg(&folder))?;
    }
    Ok(program)
}

/// A program that Go's own command builds, at one version of its module.
#[derive(Debug)]
pub(crate) struct GoProgram {
    module: &'static str,
    /// Below the module; empty when the module itself is the program.
    package: &'static str,
    version: &'static str,
}

/// Calls a server by what its reflection tells.
pub(crate) const GRPCURL: GoProgram = GoProgram {
    module: "github.com/fullstorydev/grpcurl",
    package: "/cmd/grpcurl",
    version: "v1.9.4",
};
/// Asks a server's health.
pub(crate) const HEALTH_PROBE: GoProgram = GoProgram {
    module: "github.com/grpc-ecosystem/grpc-health-probe",
    package: "",
    version: "v0.4.63",
};
/// Reads a compose file as `docker compose` does: it is the library behind it.
pub(crate) const COMPOSE_READER: GoProgram = GoProgram {
    module: "github.com/compose-spec/compose-go/v2",
    package: "/cmd",
    version: "v2.16.2",
};

/// A Go program, built once into the target folder; nothing on a machine without Go.
pub(crate) fn go_program(root: &Path, wanted: &GoProgram) -> Result<Option<PathBuf>> {
    let Some(go) = system::on_path("go") else {
        return Ok(None);
    };
    let GoProgram {
        module,
        package,
        version,
    } = wanted;
    // A folder each: some programs bear names as general as `cmd`.
    let folder = root.join("target/tools/go").join(module).join(version);
    let name = package.rsplit('/').next().filter(|name| !name.is_empty());
    let name = name.or(module.rsplit('/').next()).ok_or("a module has a name")?;
    let program = folder.join(name);
    if !program.is_file() {
        println!("building {module} {version}");
        let mut command = Command::new(go);
        command
            .current_dir(root)
            .env("GOBIN", &folder)
            .env("GOWORK", "off");
        commands::run(command.arg("install").arg(format!("{module}{package}@{version}")))?;
    }
    Ok(Some(program))
}

/// The last word of what a program says about its version; nothing when it is not there.
fn version(program: &Path, argument: &str) -> Option<String> {
    if !program.is_file() {
        return None;
    }
    let text = commands::read(Command::new(program).arg(argument)).ok()?;
    text.split_whitespace().last().map(str::to_owned)
}
