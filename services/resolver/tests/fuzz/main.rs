//! Files of other people against their readers: seeds and what becomes of them, a bounded number and always the same
//! ones. `cargo xtask fuzz` runs the same targets for longer, led by what they cover.
//!
//! A failure prints the smallest file that still shows it, and leaves it on disk. Put into `seeds/`, it is tried in
//! every run from then on.
#![allow(clippy::unwrap_used, reason = "a test may end where it fails")]
#![allow(clippy::print_stdout, reason = "what is printed repeats a run")]

mod bounded;
mod large;
mod mutation;
mod targets;

use bounded::run;

#[test]
fn front_matters_are_read_whatever_stands_in_them() {
    run("front_matter", 6_000);
}

#[test]
fn configurations_are_read_and_merged_whatever_stands_in_them() {
    run("config", 2_500);
}

#[test]
fn an_edit_of_a_configuration_leaves_the_rest_alone() {
    run("config_edit", 2_500);
}

#[test]
fn mcp_files_are_read_whatever_stands_in_them() {
    run("mcp_json", 8_000);
}

#[test]
fn env_files_are_read_whatever_stands_in_them() {
    run("dotenv", 20_000);
}
