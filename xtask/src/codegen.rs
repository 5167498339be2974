//! Generates the committed code below every `gen` folder from `proto/`, and checks that it is current.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use prost::Message as _;

/// The committed folder, relative to the repository's root.
const RUST_GEN: &str = "clients/rust-proto/src/gen";

/// Writes the generated code, or with `check` compares it with what is committed.
pub(crate) fn run(root: &Path, check: bool) -> Result<(), Box<dyn Error>> {
    let target = root.join(RUST_GEN);
    if !check {
        generate(root, &target)?;
        return Ok(());
    }
    let fresh = tempfile::tempdir()?;
    generate(root, fresh.path())?;
    let (committed, generated) = (names(&target)?, names(fresh.path())?);
    let mut stale: Vec<&str> = Vec::new();
    for name in committed.iter().chain(&generated) {
        if fs::read(target.join(name)).ok() != fs::read(fresh.path().join(name)).ok() {
            stale.push(name);
        }
    }
    if stale.is_empty() {
        return Ok(());
    }
    stale.sort_unstable();
    stale.dedup();
    Err(format!(
        "{RUST_GEN} is stale ({}): run `cargo xtask codegen` and commit",
        stale.join(", ")
    )
    .into())
}

fn generate(root: &Path, target: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(target)?;
    let include = root.join("proto");
    let mut files = Vec::new();
    collect(&include, &mut files)?;
    files.sort();
    let descriptors = protox::compile(&files, [&include])?;
    fs::write(target.join("descriptor_set.bin"), descriptors.encode_to_vec())?;
    tonic_prost_build::configure()
        .btree_map(".compozy")
        .out_dir(target)
        .compile_fds(descriptors)?;
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|ending| ending == "proto") {
            files.push(path);
        }
    }
    Ok(())
}

fn names(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    Ok(names)
}
