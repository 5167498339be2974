//! A run that ends: every seed, then so many files that are made of them, chosen by a number that is printed.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use crate::mutation::{Chance, mutate};
use crate::targets::{Target, target};

/// Chooses what is tried; the same number, the same files.
const SEED: &str = "COMPOZY_FUZZ_SEED";
/// How many times as many files as usual.
const TIMES: &str = "COMPOZY_FUZZ_TIMES";
/// Bytes of a file that is made.
const BYTES_MAX: usize = 4_096;
/// Tries to make a failing file smaller.
const TRIES_MAX: usize = 400;

/// Tries the seeds of a target, then this many other files.
pub(crate) fn run(name: &str, count: u64) {
    let target = target(name).unwrap();
    let seed = number(SEED).unwrap_or(1);
    let count = count * number(TIMES).unwrap_or(1);
    println!("{name}: {SEED}={seed}, {count} files");
    let seeds = seeds(name);
    for (path, bytes) in &seeds {
        if let Some(fault) = fault(target, bytes) {
            panic!("{name}: {}: {fault}", path.display());
        }
    }
    for at in 0..count {
        let mut chance = Chance::new(seed, at);
        let bytes = made(target, &seeds, &mut chance);
        if fault(target, &bytes).is_some() {
            tell(target, bytes, &format!("{SEED}={seed}, file {at}"));
        }
    }
}

/// Every file of a target's folder, by name.
pub(crate) fn seeds(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = folder(name);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} holds no seeds", folder.display());
    paths
        .into_iter()
        .map(|path| {
            let bytes = fs::read(&path).unwrap();
            (path, bytes)
        })
        .collect()
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fuzz/seeds")
        .join(name)
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{variable} has to be a number")),
    )
}

fn made(target: &Target, seeds: &[(PathBuf, Vec<u8>)], chance: &mut Chance) -> Vec<u8> {
    let mut bytes = match chance.one_in(8) {
        true => Vec::new(),
        false => seeds[chance.below(seeds.len())].1.clone(),
    };
    let mut goes_on = true;
    while goes_on {
        let other = &seeds[chance.below(seeds.len())].1;
        mutate(&mut bytes, target.pieces, other, chance);
        goes_on = !chance.one_in(4);
    }
    bytes.truncate(BYTES_MAX);
    bytes
}

/// What is wrong with how a file is read.
fn fault(target: &Target, bytes: &[u8]) -> Option<String> {
    match catch_unwind(AssertUnwindSafe(|| target.check(bytes))) {
        Ok(held) => held.err(),
        Err(payload) => {
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
            Some(format!(
                "panicked: {}",
                text.unwrap_or("with something that is no text")
            ))
        }
    }
}

fn tell(target: &Target, bytes: Vec<u8>, origin: &str) -> ! {
    let bytes = smaller(target, bytes);
    let fault = fault(target, &bytes).unwrap_or_default();
    let name = target.name;
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{name}"));
    fs::write(&path, &bytes).unwrap();
    panic!(
        "{name} ({origin}): {fault}\n\nThe file, which is also {}:\n\n  b\"{}\"\n\n\
         To try it again, copy it into {} and run this test.",
        path.display(),
        bytes.escape_ascii(),
        folder(name).display(),
    );
}

/// The file without whatever is not needed to fail.
fn smaller(target: &Target, mut bytes: Vec<u8>) -> Vec<u8> {
    let mut tries = 0;
    let mut size = bytes.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < bytes.len() && tries < TRIES_MAX {
            tries += 1;
            let end = (at + size).min(bytes.len());
            let without = [&bytes[..at], &bytes[end..]].concat();
            if fault(target, &without).is_some() {
                bytes = without;
            } else {
                at = end;
            }
        }
        size /= 2;
    }
    bytes
}
