//! The watch checker: random traffic by many writers, watchers that stall, drop, reconnect and lie about tokens, and
//! daemons and databases that are killed, paused and cut off. Everything is recorded, and what was recorded is held
//! against the promises of `CatalogChangeService`.
//!
//! `COMPOZY_CHECKER_SECONDS` runs longer, `COMPOZY_CHECKER_SEED` repeats the choices of a run that failed; what happens
//! at which moment is the machine's. `cargo xtask checker` sets both.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod beginning;
mod board;
mod bound;
mod call;
mod catalog;
mod check;
mod directed;
mod entry;
mod faults;
mod hand_made;
mod history;
mod lap;
mod leaving;
mod lies;
mod listing;
mod log_check;
mod log_reader;
mod model_check;
mod planted;
mod profile_traffic;
mod reference;
mod rounds;
mod servers;
mod session_traffic;
mod settling;
mod stream_check;
mod traffic;
mod transition_check;
mod violation;
mod watching;

use tokio::sync::Mutex;

/// Courses take turns: each is load enough for a small machine.
static TURN: Mutex<()> = Mutex::const_new(());

/// What twenty watchers get is one order, that of the log, and of each record that of its commits (N093, N094, N186);
/// whoever falls behind and catches up has the list in the end (N101); a trim is told and never a silent hole (N113,
/// N191); kill -9 and drain lose nothing and repeat nothing (N118, N120, N176). A lap in the tests brings a few kills
/// and some thousand deliveries; `cargo xtask checker` as many as one likes.
#[tokio::test(flavor = "multi_thread")]
async fn course_of_one_daemon_on_sqlite() {
    let _turn = TURN.lock().await;
    rounds::run("course_of_one_daemon_on_sqlite", 1, 1).await;
}

/// Besides: sixteen writers on both and watchers on both see one order (N127), tokens and heartbeats of one go on at the
/// other (N130, N137), Postgres is stopped, crashes and is cut off (N121), a new epoch is told (N190).
#[tokio::test(flavor = "multi_thread")]
async fn course_of_two_daemons_on_one_postgres() {
    let _turn = TURN.lock().await;
    rounds::run("course_of_two_daemons_on_one_postgres", 2, 2).await;
}

/// Besides: the watchers of a daemon that is killed go on at the others (N131).
#[tokio::test(flavor = "multi_thread")]
async fn course_of_five_daemons_on_one_postgres() {
    let _turn = TURN.lock().await;
    rounds::run("course_of_five_daemons_on_one_postgres", 5, 3).await;
}

/// The shipped daemon is sound and the check is not blind: it finds every bug that is planted, and nothing without.
#[tokio::test(flavor = "multi_thread")]
async fn planted_bugs_are_found() {
    let _turn = TURN.lock().await;
    let program = planted::build();
    planted::nothing_is_found("planted_bugs_are_found", &program).await;
    for bug in &planted::BUGS {
        planted::is_found("planted_bugs_are_found", &program, bug).await;
    }
}
