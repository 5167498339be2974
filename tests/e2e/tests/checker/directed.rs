//! What chance brings too seldom, on purpose: a kill right behind an answer, a store that is away for long.

use std::time::Duration;

use compozy_e2e::register;
use compozy_proto::change::v1::{ChangeReason, WatchCatalogRequest, WatchStart};
use rustix::process::Signal;
use tokio::task::block_in_place;
use tokio::time::sleep;

use crate::call::Call;
use crate::entry::Entry;
use crate::faults::trim;
use crate::history::{End, Event};
use crate::log_reader::LogReader;
use crate::servers::{Servers, Setting};

/// For which the store is away: long enough for every retry of a daemon to be tried.
const AWAY: Duration = Duration::from_secs(10);
const WINDOW: u32 = 64 * 1024;

fn setting(on_postgres: bool) -> Setting {
    Setting {
        servers: 1,
        on_postgres,
        program: None,
        variables: Vec::new(),
        config: String::new(),
    }
}

/// One client's way through the streams of one server.
struct Follower<'s> {
    servers: &'s Servers,
    token: String,
    call: Option<Call>,
}

impl Follower<'_> {
    /// The next change. Streams that end are resumed; nothing may be told to be missing.
    async fn change(&mut self) -> Entry {
        loop {
            match self.message().await {
                Event::Change { entry, .. } => return entry,
                Event::Synced | Event::Heartbeat | Event::GoingAway => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// The next message, of this stream or of the one that resumes it.
    async fn message(&mut self) -> Event {
        loop {
            let Some(call) = &mut self.call else {
                self.call = self.open().await;
                continue;
            };
            match call.next().await {
                Ok(events) => {
                    let [(event, token)] = &events[..] else {
                        panic!("one change at a time is written here: {events:?}");
                    };
                    self.token = token.clone().unwrap();
                    return event.clone();
                }
                Err(End::Ok | End::Broken(_) | End::Silent) => self.call = None,
                Err(end) => panic!("{end:?}"),
            }
        }
    }

    async fn open(&self) -> Option<Call> {
        let start = if self.token.is_empty() {
            WatchStart::Now
        } else {
            WatchStart::Unspecified
        };
        let request = WatchCatalogRequest {
            resume_token: self.token.clone(),
            start: start.into(),
            ..Default::default()
        };
        let socket = self.servers.sockets().remove(0);
        match Call::open(socket, WINDOW, request).await {
            Ok(call) => Some(call),
            Err(End::Broken(_)) => {
                sleep(Duration::from_millis(20)).await;
                None
            }
            Err(end) => panic!("{end:?}"),
        }
    }
}

/// N123 and N119: an answered write is told, whenever the daemon is killed.
async fn n119_n123_killed_behind_an_answer(test: &str, on_postgres: bool) {
    let Some(mut servers) = Servers::start(test, &setting(on_postgres)).await else {
        return;
    };
    for round in 0..8 {
        let root = servers.environments[0].make(&format!("p{round}"));
        let answer = register(servers.daemons[0].client(), root).await.unwrap();
        servers.daemons[0].kill();
        servers.restart(0).await;
        let mut follower = Follower {
            servers: &servers,
            token: answer.revision,
            call: None,
        };
        let told = follower.change().await;
        assert_eq!(
            (told.reason, told.workspace),
            (ChangeReason::Created, answer.workspace.unwrap().id)
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn n119_n123_killed_behind_an_answer_on_sqlite() {
    n119_n123_killed_behind_an_answer("n119_n123_killed_behind_an_answer_on_sqlite", false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn n119_n123_killed_behind_an_answer_on_postgres() {
    n119_n123_killed_behind_an_answer("n119_n123_killed_behind_an_answer_on_postgres", true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn n122_nothing_is_lost_while_the_store_is_away() {
    let test = "n122_nothing_is_lost_while_the_store_is_away";
    let Some(mut servers) = Servers::start(test, &setting(true)).await else {
        return;
    };
    let mut postgres = servers.postgres.take().unwrap();
    let mut follower = Follower {
        servers: &servers,
        token: String::new(),
        call: None,
    };
    assert_eq!(follower.message().await, Event::Synced);
    let client = servers.daemons[0].client();
    for round in 0..2 {
        let root = servers.environments[0].make(&format!("p{round}"));
        let answer = register(client, root).await.unwrap();
        assert_eq!(follower.change().await.workspace, answer.workspace.unwrap().id);
        if round == 0 {
            block_in_place(|| postgres.stop());
            sleep(AWAY).await;
            block_in_place(|| postgres.resume());
            client.wait_until_serving(Duration::from_secs(60)).await.unwrap();
        }
    }
    // The catalog's server goes behind its catalog.
    drop(servers);
}

/// N113: a daemon that slept while the log was trimmed beyond what it had read says so to its watchers.
#[tokio::test(flavor = "multi_thread")]
async fn n113_a_trim_behind_the_back_of_a_daemon_is_told() {
    let test = "n113_a_trim_behind_the_back_of_a_daemon_is_told";
    let two = Setting {
        servers: 2,
        ..setting(true)
    };
    let Some(servers) = Servers::start(test, &two).await else {
        return;
    };
    let request = WatchCatalogRequest::default();
    let socket = servers.sockets().remove(1);
    let mut call = Call::open(socket, WINDOW, request).await.unwrap();
    assert_eq!(call.next().await.unwrap()[0].0, Event::Synced);
    servers.daemons[1].signal(Signal::STOP);
    let client = servers.daemons[0].client();
    let mut reader = LogReader::begin(servers.source.clone()).await;
    for number in 0..30 {
        let root = servers.environments[0].make(&format!("p{number}"));
        register(client, root).await.unwrap();
    }
    reader.settle().await;
    trim(&servers, 5).await;
    reader.settle().await;
    assert!(reader.floor() > 0, "the log was trimmed");
    servers.daemons[1].signal(Signal::CONT);
    loop {
        for (event, _) in call.next().await.unwrap() {
            match event {
                Event::Resync { .. } => return,
                Event::Change { entry, .. } => panic!("a hole before {entry}, and no word about it"),
                Event::Heartbeat => {}
                other => panic!("{other:?}"),
            }
        }
    }
}
