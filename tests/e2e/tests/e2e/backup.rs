//! A backup while the daemon goes on, and a home that is filled from it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use compozy_client::Client;
use compozy_e2e::{
    Daemon, Database, Engine, Environment, Run, fingerprint, list_all, names, register, until_async, utf8,
};
use compozy_proto::workspace::v1::ListWorkspacesRequest;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tokio::task::JoinSet;

fn sha256(path: &Path) -> String {
    let digest = Sha256::digest(fs::read(path).unwrap());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn backup(environment: &Environment, name: &str) -> (PathBuf, Value) {
    let directory = environment.work.join(name);
    let answer = Run::compozy(environment, &["daemon", "backup", &utf8(&directory)])
        .done()
        .json();
    (directory, answer)
}

fn restore(environment: &Environment, from: &Path) -> compozy_e2e::Done {
    Run::of(environment, "compozyd", &["restore", &utf8(from)]).done()
}

async fn page(client: &Client, cursor: &str) -> Result<(Vec<String>, Option<String>), compozy_client::Error> {
    let request = ListWorkspacesRequest {
        limit: 5,
        cursor: cursor.to_owned(),
        ..Default::default()
    };
    let answer = client.list_workspaces(request).await?;
    let ids = answer.workspaces.into_iter().map(|row| row.id).collect();
    Ok((ids, answer.page.unwrap().next_cursor))
}

/// Registrations that go on and on, and what was answered so far.
#[derive(Debug, Default)]
struct Load {
    answered: Mutex<BTreeMap<String, String>>,
    end: AtomicBool,
}

impl Load {
    async fn run(self: Arc<Self>, client: Client, folder: PathBuf) {
        for number in 0.. {
            if self.end.load(Ordering::Relaxed) {
                return;
            }
            let root = folder.join(format!("p{number}"));
            fs::create_dir_all(&root).unwrap();
            let workspace = register(&client, &root).await.unwrap().workspace.unwrap();
            self.answered
                .lock()
                .unwrap()
                .insert(workspace.id, workspace.root_dir);
        }
    }

    fn answered(&self) -> BTreeMap<String, String> {
        self.answered.lock().unwrap().clone()
    }
}

/// What is in a backup; sessions come with their issue. The second half of W324, whose first one is in `replicas`:
/// a cursor of before goes on in the restored home.
#[tokio::test(flavor = "multi_thread")]
async fn w324_a_backup_under_load_restores_every_write_answered_before_it() {
    let environment = Environment::new();
    let daemon = Daemon::start(&environment).await;
    let load = Arc::new(Load::default());
    let mut workers = JoinSet::new();
    for worker in 0..8 {
        let folder = environment.make(&format!("w{worker}"));
        workers.spawn(Arc::clone(&load).run(environment.client(), folder));
    }
    until_async("writes to be answered", || async { load.answered().len() > 100 }).await;
    let (_, cursor) = page(daemon.client(), "").await.unwrap();
    let before = load.answered();
    let (directory, answer) = backup(&environment, "bk");
    load.end.store(true, Ordering::Relaxed);
    while let Some(ended) = workers.join_next().await {
        ended.unwrap();
    }
    assert!(load.answered().len() > before.len(), "the daemon went on");
    assert_eq!(answer["directory"], utf8(&directory));
    let manifest: Value =
        serde_json::from_slice(&fs::read(directory.join("manifest.json")).unwrap()).unwrap();
    for file in manifest["files"].as_array().unwrap() {
        let path = directory.join(file["path"].as_str().unwrap());
        assert_eq!(file["sha256"], sha256(&path));
        assert_eq!(file["size"], path.metadata().unwrap().len());
    }
    daemon.stop();
    let restored = Environment::bare(Engine::Sqlite);
    restore(&restored, &directory).exits(0);
    let daemon = Daemon::start(&restored).await;
    let rows = list_all(daemon.client()).await;
    let there: BTreeMap<String, String> = rows.into_iter().map(|row| (row.id, row.root_dir)).collect();
    for (id, root) in &before {
        assert_eq!(there.get(id), Some(root), "answered before the backup");
    }
    let (ids, _) = page(daemon.client(), &cursor.unwrap()).await.unwrap();
    assert_eq!(ids.len(), 5);
    Run::compozy(&restored, &["doctor"]).done().exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn c179_a_restore_needs_an_empty_home_and_a_whole_backup() {
    let environment = Environment::new();
    let daemon = Daemon::start(&environment).await;
    register(daemon.client(), environment.make("a")).await.unwrap();
    let (directory, _) = backup(&environment, "bk");
    daemon.stop();
    let before = fingerprint(&environment.home);
    let refused = restore(&environment, &directory);
    assert!(
        refused.exit > 0 && refused.stderr.contains(&utf8(&environment.home)),
        "{refused:?}"
    );
    assert_eq!(fingerprint(&environment.home), before);
    let manifest = directory.join("manifest.json");
    let mut falsified: Value = serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
    falsified["files"][0]["sha256"] = Value::from("0".repeat(64));
    fs::write(&manifest, falsified.to_string()).unwrap();
    let empty = Environment::bare(Engine::Sqlite);
    fs::create_dir(&empty.home).unwrap();
    let refused = restore(&empty, &directory);
    assert!(
        refused.exit > 0 && refused.stderr.contains("compozy.db"),
        "{refused:?}"
    );
    assert!(names(&empty.home).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn c180_on_postgres_a_backup_prints_the_dump_command() {
    let Some(database) = Database::fresh("c180_on_postgres_a_backup_prints_the_dump_command") else {
        return;
    };
    let environment = Environment::on(Engine::Postgres(database));
    let _daemon = Daemon::start(&environment).await;
    let (directory, answer) = backup(&environment, "bk");
    let command = answer["dump_command"].as_str().unwrap();
    assert!(command.contains("pg_dump"), "{command}");
    let url = environment.database().url();
    let password = url.split(['@', ':']).nth(2).unwrap();
    assert!(!command.contains(password), "the password stays where it is");
    assert!(!directory.join("compozy.db").exists() && !directory.join("manifest.json").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn w323_a_rotated_key_stays_valid_until_the_next_rotation() {
    let environment = Environment::new();
    let daemon = Daemon::start(&environment).await;
    for number in 0..12 {
        register(daemon.client(), environment.make(&format!("p{number}")))
            .await
            .unwrap();
    }
    let (_, cursor) = page(daemon.client(), "").await.unwrap();
    let cursor = cursor.unwrap();
    Run::of(&environment, "compozyd", &["rotate-key"]).done().exits(0);
    assert_eq!(page(daemon.client(), &cursor).await.unwrap().0.len(), 5);
    Run::of(&environment, "compozyd", &["rotate-key"]).done().exits(0);
    let error = page(daemon.client(), &cursor).await.unwrap_err();
    assert_eq!(error.reason_name(), "CURSOR_INVALID");
    assert_eq!(
        error.metadata().get("cause").map(String::as_str),
        Some("key_retired")
    );
    let (_, fresh) = page(daemon.client(), "").await.unwrap();
    page(daemon.client(), &fresh.unwrap()).await.unwrap();
}
