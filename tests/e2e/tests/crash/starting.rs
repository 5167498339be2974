//! Kills while the daemon makes and rewrites the files of its home.

use std::fs;
use std::time::Duration;

use compozy_e2e::{Daemon, Draw, Engine, Environment, list_all, names, register};
use serde_json::Value;

/// From the start of the process to the kill, at most: a bit longer than a start takes.
const START_MAX: Duration = Duration::from_millis(150);

/// C154: whenever it dies, each file of the home is whole or not there, and the next start works.
pub(crate) async fn kills_while_it_starts(seed: u64, rounds: u64) {
    let mut draw = Draw::seeded(seed);
    let environment = Environment::on(Engine::Sqlite);
    let (mut host, mut token) = (None, None);
    for _ in 0..rounds {
        let mut child = Daemon::spawn(&environment, environment.command("compozyd"));
        // The moment of the kill is meant to be anywhere.
        tokio::time::sleep(START_MAX.mul_f64(draw.below(1_000) as f64 / 1_000.0)).await;
        child.kill().unwrap();
        child.wait().unwrap();
        keeps(
            &mut host,
            fs::read_to_string(environment.home.join("host.toml")).ok(),
            "host_id",
        );
        keeps(
            &mut token,
            fs::read_to_string(environment.home.join("client.token")).ok(),
            "",
        );
        if let Ok(note) = fs::read_to_string(environment.home.join("daemon.json")) {
            let note: Value = serde_json::from_str(&note).unwrap();
            assert!(note["pid"].is_u64(), "{note}");
        }
    }
    let daemon = Daemon::start(&environment).await;
    register(daemon.client(), environment.make("a")).await.unwrap();
    assert_eq!(list_all(daemon.client()).await.len(), 1);
    daemon.stop();
    let known = [
        "agents",
        "client.token",
        "compozy.db",
        "config.toml",
        "daemon.lock",
        "gateway",
        "host.toml",
        "logs",
    ];
    let left: Vec<String> = names(&environment.home)
        .into_iter()
        .filter(|name| !known.contains(&name.as_str()))
        .filter(|name| !matches!(name.as_str(), "loops" | "profiles" | "sessions" | "skills"))
        .filter(|name| !name.starts_with("compozy.db-"))
        .collect();
    assert!(left.is_empty(), "left behind: {left:?}");
}

/// A file that is made once is whole from then on, and stays the same.
fn keeps(before: &mut Option<String>, now: Option<String>, holds: &str) {
    let Some(now) = now else {
        assert!(before.is_none(), "a file of the home is gone");
        return;
    };
    assert!(now.trim().len() > 20 && now.contains(holds), "{now:?}");
    assert_eq!(before.get_or_insert_with(|| now.clone()), &now);
}
