//! Sessions in a store that is damaged, or that a newer release has had.

use std::fs;
use std::path::Path;

use compozy_client::{Client, Code, Error};
use compozy_e2e::{Daemon, Environment, Run, by_id, register};
use compozy_proto::session::v1::{ListSessionsRequest, SessionFilter, SessionSort};

use crate::doctor_store::change_store;
use crate::sessions::{created, everything, listed, new_in};

const PAGE: usize = 4_096;
/// Sessions enough to fill many pages.
const SESSIONS: usize = 60;
/// The name of the one whose pages are damaged.
const NEEDLE: &str = "needle in the catalog";

/// Flips every page of a file that holds a text.
fn flip_pages(path: &Path, text: &str) {
    let mut bytes = fs::read(path).unwrap();
    let mut found: Vec<usize> = bytes
        .windows(text.len())
        .enumerate()
        .filter(|(_, window)| *window == text.as_bytes())
        .map(|(at, _)| at / PAGE * PAGE)
        .collect();
    found.dedup();
    assert!(!found.is_empty(), "the text lies somewhere");
    for at in found {
        for byte in &mut bytes[at..at + PAGE] {
            *byte = !*byte;
        }
    }
    fs::write(path, bytes).unwrap();
}

/// Every page of a list until the one that fails: no page before it may be the last one.
async fn walk(client: &Client, filter: SessionFilter, sort: SessionSort) -> Result<(), Error> {
    let mut cursor = String::new();
    loop {
        let request = ListSessionsRequest {
            filter: Some(filter.clone()),
            sort: sort.into(),
            limit: 10,
            cursor,
            ..Default::default()
        };
        let answer = client.list_sessions(request).await?;
        assert!(!answer.sessions.is_empty(), "never an empty page");
        match answer.page.unwrap().next_cursor {
            Some(next) => cursor = next,
            None => return Ok(()),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s350_a_damaged_page_is_said_and_never_an_empty_list() {
    let environment = Environment::new();
    let daemon = Daemon::start(&environment).await;
    let client = daemon.client();
    let registered = register(client, environment.make("a")).await.unwrap();
    let a = registered.workspace.unwrap().id;
    for number in 0..SESSIONS {
        let mut request = new_in(&a);
        request.name = format!("number {number}");
        if number == SESSIONS / 2 {
            NEEDLE.clone_into(&mut request.name);
        }
        request.labels = (0..8).map(|key| (format!("key-{key}"), "v".repeat(60))).collect();
        client.create_session(request).await.unwrap();
    }
    daemon.stop();
    // Into the file itself.
    change_store(&environment, "");
    let store = environment.home.join("compozy.db");
    flip_pages(&store, NEEDLE);
    let damaged = fs::read(&store).unwrap();
    let daemon = Daemon::start(&environment).await;
    let of_a = SessionFilter {
        workspace: Some(by_id(&a)),
        ..everything()
    };
    for (filter, sort) in [
        (everything(), SessionSort::Recent),
        (everything(), SessionSort::LastActivity),
        (everything(), SessionSort::Attention),
        (of_a.clone(), SessionSort::Recent),
        (of_a, SessionSort::Manual),
    ] {
        let error = walk(daemon.client(), filter, sort).await.unwrap_err();
        assert_eq!(
            (error.code(), error.reason_name()),
            (Code::DataLoss, "STORE_CORRUPT"),
            "{sort:?}: {error:?}"
        );
    }
    drop(daemon);
    assert!(fs::read(&store).unwrap() == damaged, "the file was rewritten");
}

/// C181 says the same of workspaces.
#[tokio::test(flavor = "multi_thread")]
async fn s351_sessions_of_a_newer_release_are_served_or_left_alone() {
    let environment = Environment::new();
    let daemon = Daemon::start(&environment).await;
    let registered = register(daemon.client(), environment.make("a")).await.unwrap();
    let a = registered.workspace.unwrap().id;
    let first = created(daemon.client(), &a).await;
    daemon.stop();

    change_store(&environment, "UPDATE schema_version SET version = version + 1");
    let daemon = Daemon::start(&environment).await;
    assert_eq!(
        listed(daemon.client(), everything()).await,
        std::slice::from_ref(&first)
    );
    let second = created(daemon.client(), &a).await;
    daemon.stop();

    change_store(&environment, "UPDATE schema_version SET oldest_binary = '99.1.0'");
    let store = environment.home.join("compozy.db");
    let before = fs::read(&store).unwrap();
    let refused = Run::of(&environment, "compozyd", &[]).done();
    assert!(refused.exit > 0, "{refused:?}");
    for version in ["99.1.0", env!("CARGO_PKG_VERSION")] {
        assert!(refused.stderr.contains(version), "{}", refused.stderr);
    }
    assert!(fs::read(&store).unwrap() == before, "a byte was changed");

    // What the newer release allows again is all there.
    let allowed = format!(
        "UPDATE schema_version SET oldest_binary = '{}'",
        env!("CARGO_PKG_VERSION")
    );
    change_store(&environment, &allowed);
    let daemon = Daemon::start(&environment).await;
    assert_eq!(listed(daemon.client(), everything()).await, [second, first]);
}
