//! Backups, restores, keys and epochs, and what doctor says of a catalog: a daemon in this process over a real store
//! and a real socket, and the real `compozyd` for its commands.
#![allow(clippy::unwrap_used, clippy::expect_used, unreachable_pub)]

mod backups;
mod daemon;
mod examined;
mod failing;
mod keys;
mod restores;
