//! What makes a token start over, seen from outside: the command, and a system that ended before its last commits were
//! on the disk. What goes on without a word: a process that was killed, and a catalog that is served with `full`.

use compozy_proto::change::v1::watch_catalog_response::Message;
use compozy_proto::change::v1::{OnExpired, ResyncReason, WatchCatalogRequest};
use rusqlite::Connection;
use tonic::Request;
use tonic::transport::Channel;

use crate::binary::{Daemon, Place, output, text};
use crate::running::socket_channel;
use crate::site::{Site, register};
use crate::watches::{Watch, wanted};

on_both_engines! {
    n190_after_the_command_new_epoch_a_token_starts_over,
}

/// A place whose daemon makes its catalog so durable.
fn place(durability: &str) -> Place {
    let place = Place::new();
    std::fs::create_dir(place.home.path()).unwrap();
    let config = format!("workspaces.register_home = false\nstore.durability = \"{durability}\"\n");
    std::fs::write(place.home.config_path(), config).unwrap();
    place
}

/// The token of a watch that has told everything so far.
async fn token(daemon: &Daemon) -> String {
    let channel = socket_channel(&daemon.socket).await;
    let mut watch = Watch::open(&channel, wanted("")).await.unwrap();
    watch.synced().await;
    watch.token
}

/// A token is answered with a resync, whatever is to happen with an expired one, and what changes then is told.
async fn starts_over(channel: &Channel, site: &Site, token: &str) {
    for on_expired in [OnExpired::Fail, OnExpired::Resync] {
        let request = Request::new(WatchCatalogRequest {
            resume_token: token.to_owned(),
            on_expired: on_expired.into(),
            ..WatchCatalogRequest::default()
        });
        let mut watch = Watch::open(channel, request).await.unwrap();
        match watch.next().await.unwrap() {
            Some(Message::Resync(resync)) => {
                assert_eq!(resync.reason(), ResyncReason::Epoch);
                assert!(resync.workspace_ids.is_empty(), "all is unknown");
            }
            other => panic!("{other:?} for a token of another epoch"),
        }
        assert!(watch.synced().await.is_empty());
        let added = register(channel, &site.folder()).await.unwrap();
        match watch.next().await.unwrap() {
            Some(Message::Changes(batch)) => {
                assert_eq!(batch.changes[0].workspace_id, added.workspace.unwrap().id);
            }
            other => panic!("{other:?} for a change"),
        }
    }
}

/// A token brings exactly what came after it.
async fn goes_on(channel: &Channel, site: &Site, token: &str) {
    let added = register(channel, &site.folder()).await.unwrap();
    let mut watch = Watch::open(channel, wanted(token)).await.unwrap();
    let changes = watch.synced().await;
    let ids: Vec<&str> = changes
        .iter()
        .map(|change| change.workspace_id.as_str())
        .collect();
    assert_eq!(ids, [added.workspace.unwrap().id]);
}

async fn n190_after_the_command_new_epoch_a_token_starts_over(site: Site) {
    let place = place("full");
    let daemon = place.serving(place.command_on(&site.url())).await;
    let channel = socket_channel(&daemon.socket).await;
    register(&channel, &site.folder()).await.unwrap();
    let before = token(&daemon).await;
    assert!(daemon.stop().await.success());
    let mut command = place.command(&["new-epoch"]);
    command.env("COMPOZY_STORE_URL", site.url());
    let told = output(command).await;
    assert!(told.status.success(), "{}", text(&told.stderr));

    let daemon = place.serving(place.command_on(&site.url())).await;
    let channel = socket_channel(&daemon.socket).await;
    starts_over(&channel, &site, &before).await;
    assert!(daemon.stop().await.success());
}

/// The file of a catalog whose daemon was killed, and what stands there for the boot that it was served in.
fn served_in(site: &Site) -> (Connection, String) {
    let url = site.url();
    let file = Connection::open(url.strip_prefix("sqlite://").unwrap()).unwrap();
    let boot = file.query_row("SELECT made_on FROM change_head", [], |row| row.get(0));
    (file, boot.unwrap())
}

/// On SQLite: Postgres has its own durability, and a start after its crash is the same epoch.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn n190_what_a_token_is_worth_after_a_kill_and_after_a_reboot() {
    let test = "n190_what_a_token_is_worth_after_a_kill_and_after_a_reboot";
    crate::site::on_sqlite(test, after_kill_and_reboot).await;
}

async fn after_kill_and_reboot(site: Site) {
    for (durability, is_rebooted) in [
        ("normal", false),
        ("full", false),
        ("normal", true),
        ("full", true),
    ] {
        let place = place(durability);
        let daemon = place.serving(place.command_on(&site.url())).await;
        let before = token(&daemon).await;
        daemon.kill().await;
        let (file, boot) = served_in(&site);
        // Only a catalog that may lose commits remembers the boot; another boot is all that a reboot changes here.
        assert_eq!(boot.is_empty(), durability == "full");
        if is_rebooted && !boot.is_empty() {
            let sql = "UPDATE change_head SET made_on = 'another boot'";
            assert_eq!(file.execute(sql, []).unwrap(), 1);
        }
        drop(file);

        let daemon = place.serving(place.command_on(&site.url())).await;
        let channel = socket_channel(&daemon.socket).await;
        if is_rebooted && durability == "normal" {
            starts_over(&channel, &site, &before).await;
        } else {
            goes_on(&channel, &site, &before).await;
        }
        assert!(daemon.stop().await.success());
    }
}
