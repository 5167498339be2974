//! `compozyd restore`: fills an empty home from a backup.

use std::path::PathBuf;

use super::{RestoreArguments, runtime, tell};
use crate::backup::Backup;
use crate::clock::SystemClock;
use crate::failure::Failure;
use crate::home::Home;
use crate::random::SystemRandom;

pub(super) fn restore(arguments: &RestoreArguments) -> Result<(), Failure> {
    let home = match &arguments.home {
        Some(path) => Home::at(absolute(path)?),
        None => Home::locate()?,
    };
    let backup = Backup::open(&absolute(&arguments.directory)?)?;
    runtime()?.block_on(backup.check_catalog(&SystemClock, &SystemRandom))?;
    backup.fill(&home, &SystemRandom)?;
    tell(&format!(
        "restored catalog {}, as it was at {}, into {}: start compozyd on it",
        backup.catalog_id(),
        backup.made_at(),
        home.path().display()
    ))
}

fn absolute(path: &PathBuf) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| Failure::io("make absolute", path, &error))
}
