//! The end of the real process: what it leaves behind, and how long it takes.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use compozy_proto::change::v1::{WatchCatalogRequest, WatchStart};
use rustix::process::Signal;
use tonic::{Code, Request};
use tonic_types::StatusExt;

use crate::binary::Place;
use crate::running::{explained, socket_channel, spawn, until};
use crate::site::{Site, register, roots};
use crate::telemetry;
use crate::watches::Watch;

on_both_engines! {
    n179_n181_a_call_that_takes_too_long_is_cut_off_and_its_write_is_whole_or_not_there,
    n180_a_write_that_was_answered_before_the_end_is_there,
}

fn configure(place: &Place, config: &str) {
    std::fs::create_dir(place.home.path()).unwrap();
    std::fs::write(place.home.config_path(), config).unwrap();
}

/// The address of the daemon's telemetry, as its log tells it.
fn telemetry_address(place: &Place) -> String {
    let log = place.log();
    let line = log.iter().find(|line| line["message"] == "telemetry").unwrap();
    line["listener"].as_str().unwrap().to_owned()
}

async fn n179_n181_a_call_that_takes_too_long_is_cut_off_and_its_write_is_whole_or_not_there(site: Site) {
    let place = Place::new();
    configure(
        &place,
        "daemon.drain_timeout = \"1s\"\ntelemetry.listen = \"127.0.0.1:0\"\nworkspaces.register_home = false\n",
    );
    let mut daemon = place.serving(place.command_on(&site.url())).await;
    let channel = socket_channel(&daemon.socket).await;
    let blocked = site.block_writes().await;
    let root = site.folder();
    let slow = {
        let (channel, root) = (channel.clone(), root.clone());
        spawn(async move { register(&channel, &root).await })
    };
    let address = telemetry_address(&place);
    until("the slow call is in flight", async || {
        telemetry::calls_in_flight_at(&address).await > 0
    })
    .await;
    let begun = Instant::now();
    daemon.signal(Signal::TERM);
    let cut = slow.await.unwrap().unwrap_err();
    assert_eq!(
        (cut.code(), explained(&cut).reason.as_str()),
        (Code::Unavailable, "DRAINING")
    );
    assert_eq!(explained(&cut).metadata["outcome"], "unknown");
    assert!(cut.get_details_retry_info().is_some());
    assert!(daemon.wait().await.success());
    assert!(
        begun.elapsed() < Duration::from_millis(2_500),
        "{:?}",
        begun.elapsed()
    );
    blocked.let_go().await;

    let daemon = place.serving(place.command_on(&site.url())).await;
    let channel = socket_channel(&daemon.socket).await;
    let rows = roots(&channel).await.len();
    let everything = Request::new(WatchCatalogRequest {
        start: WatchStart::Earliest.into(),
        ..WatchCatalogRequest::default()
    });
    let mut watch = Watch::open(&channel, everything).await.unwrap();
    assert_eq!(watch.synced().await.len(), rows, "row and entry belong together");
    assert!(rows <= 1);
    let again = register(&channel, &root).await.unwrap();
    assert_eq!(again.created, rows == 0);
    assert!(daemon.stop().await.success());
}

async fn n180_a_write_that_was_answered_before_the_end_is_there(site: Site) {
    let place = Place::new();
    configure(&place, "workspaces.register_home = false\n");
    let mut daemon = place.serving(place.command_on(&site.url())).await;
    let (told, mut answers) = tokio::sync::mpsc::unbounded_channel();
    let mut writers = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let channel = socket_channel(&daemon.socket).await;
        let folders: Vec<PathBuf> = (0..400).map(|_| site.folder()).collect();
        let told = told.clone();
        writers.spawn(async move {
            for folder in folders {
                if register(&channel, &folder).await.is_err() {
                    return true;
                }
                told.send(folder).unwrap();
            }
            false
        });
    }
    drop(told);
    let mut answered = Vec::new();
    while answered.len() < 40 {
        answered.push(answers.recv().await.expect("the writers ended early"));
    }
    daemon.signal(Signal::TERM);
    assert!(daemon.wait().await.success());
    while let Some(folder) = answers.recv().await {
        answered.push(folder);
    }
    assert!(
        writers
            .join_all()
            .await
            .into_iter()
            .all(|ended_by_the_server| ended_by_the_server)
    );

    let daemon = place.serving(place.command_on(&site.url())).await;
    let found = roots(&socket_channel(&daemon.socket).await).await;
    for folder in answered {
        assert!(found.contains(&folder), "{} was answered", folder.display());
    }
    assert!(daemon.stop().await.success());
}
