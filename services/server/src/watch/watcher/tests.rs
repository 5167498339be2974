//! A watcher by itself, over a real log of hand-made entries: what its map takes, and what its tokens stand for at
//! moments that a client on a wire cannot choose.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use compozy_domain::{
    ChangeEntry, ChangeKind, ChangeOp, ChangeReason, HostId, NewChange, SessionId, Timestamp, Visibility,
    WatchFilter, WorkspaceId, limits,
};
use compozy_resolver::Disk;
use compozy_store::conformance::execute;
use compozy_store::{Access, Durability, OpenOptions, SqlStore, StoreAddress};
use prometheus_client::metrics::gauge::Gauge;

use super::*;
use crate::clock::SystemClock;
use crate::random::SystemRandom;
use crate::resume_token::{self, WatchTokens};
use crate::tasks::Tasks;
use crate::telemetry::Metrics;
use crate::watch::Seats;

struct Bench {
    store: Arc<SqlStore>,
    parts: Arc<Parts>,
    tasks: Tasks,
}

impl Bench {
    async fn new(settings: WatchSettings) -> Self {
        let options = OpenOptions {
            address: StoreAddress::SqliteMemory,
            access: Access::Serve,
            durability: Durability::Normal,
            binary: "0.1.0",
            now: Timestamp::from_nanos(1),
            random: &SystemRandom,
        };
        let store = Arc::new(SqlStore::open(options).await.unwrap());
        let head = "CREATE TRIGGER by_hand AFTER INSERT ON change BEGIN \
                    UPDATE change_head SET head = NEW.position; END";
        execute(&store, head).await.unwrap();
        let stored: Arc<dyn compozy_store::Store> = Arc::clone(&store) as _;
        let (tasks, metrics) = (Tasks::new(), WatchMetrics::new(&Metrics::new()));
        let log = Log::open(Arc::clone(&stored), settings, Arc::clone(&metrics))
            .await
            .unwrap();
        tasks.spawn(Arc::clone(&log).follow(tasks.stopping()));
        let registry = Registry::new(crate::registry::Parts {
            store: Arc::clone(&stored),
            files: Arc::new(Disk::new()),
            clock: Arc::new(SystemClock),
            random: Arc::new(SystemRandom),
            tasks: tasks.clone(),
            host: HostId::parse("h1").unwrap(),
            owner: "test".to_owned(),
            settings: crate::registry::Settings::default(),
        });
        let parts = Arc::new(Parts {
            log,
            rows: Rows::new(Arc::clone(&stored), Arc::new(SystemClock)),
            registry,
            seal: Arc::new(Seal::load(Arc::clone(&stored)).await.unwrap()),
            clock: Arc::new(SystemClock),
            random: Arc::new(SystemRandom),
            settings,
            metrics,
        });
        Self { store, parts, tasks }
    }

    /// Appends entries of the sessions with these numbers, in this workspace.
    async fn append(&self, numbers: std::ops::Range<usize>, place: &str) {
        let sql = format!(
            "WITH RECURSIVE n(i) AS (SELECT {} UNION ALL SELECT i + 1 FROM n WHERE i < {}) \
             INSERT INTO change (position, kind, op, reason, host_id, workspace_id, session_id, version, at) \
             SELECT h.head + n.i + 1 - {}, 'session', 'upserted', 'state', 'h1', '{place}', \
               'sess-' || printf('%016d', n.i), 1, 1 FROM n, (SELECT head FROM change_head) h",
            numbers.start,
            numbers.end - 1,
            numbers.start,
        );
        execute(&self.store, &sql).await.unwrap();
        self.parts.log.present().await.unwrap();
    }

    /// A watcher that has told everything up to now.
    fn watcher(&self, filter: WatchFilter) -> Watcher {
        let present = self.parts.log.known();
        let bound = convert::binding(&filter);
        Watcher::begin(Beginning {
            parts: Arc::clone(&self.parts),
            filter,
            principal: Arc::new(Principal::local()),
            include_rows: false,
            heartbeat: Duration::from_secs(300),
            tokens: WatchTokens::new(Arc::clone(&self.parts.seal), &present.epoch, bound),
            epoch: present.epoch,
            cursor: present.head,
            lost: None,
            phase: Phase::Live,
            moved: self.parts.log.moved(),
            look_again: Box::new(|| Ok(Arc::new(Principal::local()))),
            ending: Box::pin(std::future::pending()),
            seat: Seats::new(1, Gauge::default()).take(true).unwrap(),
        })
    }

    async fn position(&self, token: &str) -> i64 {
        resume_token::decode(&self.parts.seal, token)
            .await
            .unwrap()
            .revision
            .position
    }
}

/// Every client has fallen behind that has more than one message to take.
fn impatient(behind_bytes: usize) -> WatchSettings {
    WatchSettings {
        behind_after: Duration::ZERO,
        behind_bytes,
        ..WatchSettings::default()
    }
}

fn changes(message: pb::WatchCatalogResponse) -> Vec<pb::Change> {
    match message.message.unwrap() {
        pb::watch_catalog_response::Message::Changes(batch) => batch.changes,
        other => panic!("{other:?}"),
    }
}

/// What one entry takes at most beside a bound that it does not fit into any more.
fn one_entry() -> usize {
    let mut behind = Behind::default();
    behind.put(ChangeEntry {
        position: 1,
        change: NewChange {
            session_id: Some(SessionId::from_stored("sess-0000000000000000".to_owned())),
            ..NewChange::of_workspace(
                ChangeKind::Session,
                (ChangeOp::Upserted, ChangeReason::State),
                &HostId::parse("h1").unwrap(),
                &WorkspaceId::from_stored("ws_0123456789abcdef".to_owned()),
                1,
                Timestamp::from_nanos(1),
            )
        },
    });
    behind.bytes()
}

#[tokio::test]
async fn n097_n103_the_map_of_a_client_that_does_not_read_stays_within_its_bound() {
    const THINGS: usize = 20_000;
    const BOUND: usize = 256 * 1024;
    let bench = Bench::new(impatient(BOUND)).await;
    let mut watcher = bench.watcher(WatchFilter::default());
    bench.append(0..1, "ws_a").await;
    assert_eq!(changes(watcher.next().await.unwrap().unwrap()).len(), 1);
    // Without being asked it takes nothing at all.
    bench.append(1..THINGS, "ws_a").await;
    assert_eq!(watcher.behind.bytes(), 0);
    let (mut told, mut most) = (1, 0);
    watcher.pause = Duration::from_secs(1);
    loop {
        if let Some(message) = watcher.changes() {
            told += changes(message).len();
        } else if !watcher.gather().await.unwrap() {
            break;
        }
        most = most.max(watcher.behind.bytes());
        assert!(watcher.ready.len() <= limits::BATCH_CHANGES_MAX);
    }
    assert!(most >= BOUND && most <= BOUND + one_entry(), "{most} bytes");
    assert_eq!(told, THINGS, "and each thing was told once");
    assert_eq!(watcher.behind.bytes(), 0, "which gives everything back");
    bench.tasks.join(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn n066_while_changes_are_collected_a_token_stands_where_everything_was_told() {
    let bench = Bench::new(impatient(1024 * 1024)).await;
    let of_a = WatchFilter::new(
        vec![WorkspaceId::from_stored("ws_a".to_owned())],
        false,
        vec![],
        false,
    );
    let mut watcher = bench.watcher(of_a);
    // Told once, then a long hidden stretch.
    bench.append(0..1, "ws_a").await;
    changes(watcher.next().await.unwrap().unwrap());
    bench.append(0..3_000, "ws_b").await;
    while watcher.gather().await.unwrap() {}
    let behind_hidden = watcher.place();
    assert_eq!(behind_hidden, bench.parts.log.known().head);
    // Two chunks are to be collected; a heartbeat is due after the first.
    bench.append(0..1_000, "ws_a").await;
    bench.append(1_000..2_000, "ws_a").await;
    watcher.pause = Duration::from_secs(1);
    assert!(watcher.gather().await.unwrap());
    assert!(
        !watcher.behind.is_empty() && !watcher.has_collected(),
        "it is in the middle of it"
    );
    assert_eq!(watcher.place(), behind_hidden);
    watcher.beat.as_mut().reset(Instant::now());
    let message = watcher.next().await.unwrap().unwrap().message.unwrap();
    let pb::watch_catalog_response::Message::Heartbeat(beat) = message else {
        panic!("{message:?}")
    };
    assert_eq!(
        bench.position(&beat.token).await,
        behind_hidden,
        "no token goes back"
    );
    let mut next = behind_hidden;
    for change in changes(watcher.next().await.unwrap().unwrap()) {
        next += 1;
        assert_eq!(bench.position(&change.token).await, next);
    }
    bench.tasks.join(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn n196_no_token_stands_for_half_of_a_snapshot() {
    let bench = Bench::new(WatchSettings::default()).await;
    let mut watcher = bench.watcher(WatchFilter::default());
    watcher.phase = Phase::snapshot();
    watcher.ending = Box::pin(std::future::ready(pb::GoingAwayReason::ConnectionAge));
    assert_eq!(watcher.next().await.unwrap().unwrap_err(), CatalogError::Draining);
    assert!(watcher.next().await.is_none(), "that was the last of it");
    // Once everything up to `synced` is told it is a goodbye with a token.
    let mut watcher = bench.watcher(WatchFilter::default());
    watcher.ending = Box::pin(std::future::ready(pb::GoingAwayReason::ConnectionAge));
    let message = watcher.next().await.unwrap().unwrap().message.unwrap();
    assert!(matches!(
        message,
        pb::watch_catalog_response::Message::GoingAway(_)
    ));
    assert!(watcher.next().await.is_none());
    bench.tasks.join(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn n197_what_is_collected_is_looked_at_again_before_it_is_told() {
    let bench = Bench::new(impatient(1024 * 1024)).await;
    let mut watcher = bench.watcher(WatchFilter::default());
    bench.append(0..1_000, "ws_a").await;
    bench.append(1_000..2_000, "ws_a").await;
    watcher.pause = Duration::from_secs(1);
    assert!(watcher.gather().await.unwrap());
    assert!(!watcher.behind.is_empty());
    // A is taken off the caller's list meanwhile.
    let narrowed = Principal {
        visibility: Visibility::Only(vec![WorkspaceId::from_stored("ws_b".to_owned())]),
        ..Principal::local()
    };
    let narrowed = Arc::new(narrowed);
    watcher.look_again = Box::new(move || Ok(Arc::clone(&narrowed)));
    watcher.beat.as_mut().reset(Instant::now());
    let message = watcher.next().await.unwrap().unwrap().message.unwrap();
    assert!(matches!(
        message,
        pb::watch_catalog_response::Message::Heartbeat(_)
    ));
    bench.append(0..1, "ws_b").await;
    let told = changes(watcher.next().await.unwrap().unwrap());
    assert_eq!(
        told.iter()
            .map(|change| change.workspace_id.as_str())
            .collect::<Vec<_>>(),
        ["ws_b"]
    );
    bench.tasks.join(Duration::from_secs(5)).await;
}

#[test]
fn n060_heartbeats_come_a_little_early_and_never_late() {
    let span = Duration::from_secs(10);
    let spans: Vec<_> = (0..200).map(|_| jittered(span, &SystemRandom)).collect();
    assert!(
        spans
            .iter()
            .all(|jittered| *jittered >= span.mul_f64(0.9) && *jittered <= span)
    );
    assert!(spans.iter().any(|jittered| *jittered != spans[0]));
}
