//! `cargo xtask bench`: measures the shipped daemon, in release mode, beside the **floor** of the same run: what the
//! same machine does at that moment for an echo of the same size, for the bare statement, for the bare commit.
//! Prints a table and writes `target/bench.json`. Ratios are the goals (docs/benchmarks.md); absolute figures are
//! noise on a shared machine.
//!
//! The measured process and this one, which asks, are pinned to one core each. Server CPU per call, from the
//! scheduler's statistics, stands beside every rate: it is the steadiest figure.
//!
//! A catalog of 100,000 rows is written by SQL straight into the store (`catalog.rs`), so this crate knows the
//! schema; a migration that changes the tables `workspace` or `session` has to change it here too.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a measurement that can't be taken ends the run, and its output is a table"
)]

mod catalog;
mod catalog_sessions;
mod child;
mod cpu;
mod echo;
mod files;
mod load;
mod measured;
mod rows;
mod server;
mod statements;
mod stream;
mod table;
mod wire;
mod wire_sessions;

use std::process::ExitCode;

use rows::Plan;

const USAGE: &str = "usage: cargo xtask bench [rows...] [--quick]

rows: get list discover create start resolve sessions fanout backlog idle resume writers; all when none is named,
  and watch for the last five, which are those of the change stream
--quick: a tenth of the time, for a look; not for conclusions";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let ["--child", rest @ ..] = &words[..] {
        child::run(rest);
        return ExitCode::SUCCESS;
    }
    let Some(plan) = Plan::parse(&words) else {
        eprintln!("{USAGE}");
        return ExitCode::from(64);
    };
    // One thread: what asks must not take the measured process's core.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    cpu::pin(cpu::Core::Asking);
    let rows = runtime.block_on(rows::measure(&plan));
    let report = table::Report::new(&words, rows);
    println!("\n{report}");
    let path = report.write();
    println!("written to {}", path.display());
    ExitCode::SUCCESS
}
