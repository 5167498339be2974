//! Kills the real daemon at random points under load, again and again, and holds what is left against a model: every
//! answered write is there, an unanswered one wholly or not at all, and nothing else. Of each profile there is one
//! directory, under the name that the profile has.
//!
//! `COMPOZY_CRASH_ROUNDS` runs longer, `COMPOZY_CRASH_SEED` repeats the choices of a run that failed; when exactly
//! the process dies is the machine's.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod files;
mod operation;
mod profile_choosing;
mod profile_held;
mod profile_operation;
mod profile_rounds;
mod profile_worker;
mod rounds;
mod session_held;
mod session_operation;
mod session_rounds;
mod session_worker;
mod starting;
mod verify;
mod worker;

use compozy_e2e::{Database, Draw, Engine, Environment};

use crate::rounds::Rounds;

/// Rounds on SQLite, and the quarter of them on Postgres, unless the environment says otherwise.
const ROUNDS: u64 = 200;

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap())
}

fn rounds() -> u64 {
    number("COMPOZY_CRASH_ROUNDS").unwrap_or(ROUNDS)
}

fn seed() -> u64 {
    let seed = number("COMPOZY_CRASH_SEED").unwrap_or_else(Draw::new_seed);
    println!("COMPOZY_CRASH_SEED={seed}");
    seed
}

/// Nothing happens to a session by itself: every change is some worker's.
fn environment(engine: Engine) -> Environment {
    let environment = Environment::on(engine);
    environment.configure(
        "[workspaces]\nregister_home = false\n[session]\nstart_timeout = \"1h\"\n\
         [agents.heartbeat]\nsession_health_stale_after = \"1h\"\n",
    );
    environment
}

/// W283, W284, W285, W316 and R106 happen in here by chance; the summary says how often.
#[tokio::test(flavor = "multi_thread")]
async fn w283_w284_w285_w316_r106_kills_under_load_on_sqlite() {
    let environment = environment(Engine::Sqlite);
    let summary = Rounds::new(&environment, seed()).run(rounds()).await;
    println!("{summary:?}");
    if rounds() >= ROUNDS {
        assert!(
            summary.found_applied > 0 && summary.found_absent > 0,
            "kills hit both sides of a commit"
        );
        assert!(
            summary.files_before_rows > 0,
            "kills hit between a file and its row"
        );
        let profiles = &summary.profiles;
        assert!(
            profiles.renames_applied > 0 && profiles.directories_before_rows > 0,
            "kills hit both halves of a rename"
        );
        let sessions = &summary.sessions;
        assert!(
            sessions.found_applied > 0 && sessions.found_absent > 0,
            "kills hit both sides of a commit"
        );
    }
}

/// The lease of a killed process protects what it left for a minute, unless the directory is registered again.
#[tokio::test(flavor = "multi_thread")]
async fn kills_under_load_on_postgres() {
    let Some(database) = Database::fresh("kills_under_load_on_postgres") else {
        return;
    };
    let environment = environment(Engine::Postgres(database));
    let summary = Rounds::new(&environment, seed()).run(rounds().div_ceil(4)).await;
    println!("{summary:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn c154_kills_while_the_daemon_starts() {
    starting::kills_while_it_starts(seed(), rounds().div_ceil(4)).await;
}
