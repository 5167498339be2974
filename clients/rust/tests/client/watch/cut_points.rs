//! Wherever streams end: what is handed out is the log, each entry once and in order.

use std::sync::Mutex;

use bytes::Bytes;
use compozy_client::{WatchEvent, WatchRequest};
use proptest::prelude::*;
use tonic::{Code, Status};

use super::feed::{asked, batch, change, encoded, ends, failed, going_away, heartbeat, next, stays, synced};
use crate::server::{Answer, Beat, Scripted};

/// What one stream does before it ends.
#[derive(Debug, Clone)]
struct Cut {
    /// Sizes of the batches that it sends.
    batches: Vec<usize>,
    /// A heartbeat comes after each of them.
    with_heartbeats: bool,
    /// Bytes of a further batch that come before the end.
    partial: usize,
    end: End,
}

#[derive(Debug, Clone, Copy)]
enum End {
    Connection,
    NoTrailers,
    Ok,
    StoreAway,
    Proxy,
    GoingAway,
    Page,
}

fn cut() -> impl Strategy<Value = Cut> {
    let end = prop_oneof![
        Just(End::Connection),
        Just(End::NoTrailers),
        Just(End::Ok),
        Just(End::StoreAway),
        Just(End::Proxy),
        Just(End::GoingAway),
        Just(End::Page),
    ];
    (
        prop::collection::vec(1_usize..6, 0..4),
        any::<bool>(),
        0_usize..120,
        end,
    )
        .prop_map(|(batches, with_heartbeats, partial, end)| Cut {
            batches,
            with_heartbeats,
            partial,
            end,
        })
}

/// The stream that goes on after entry number `after` of a log of `length` entries.
fn stream(cut: &Cut, after: usize, length: usize) -> Answer {
    let mut beats = Vec::new();
    let mut done = after;
    for size in &cut.batches {
        let until = (done + size).min(length);
        if until > done {
            beats.push(Beat::Bytes(encoded(batch(done + 1..=until))));
        }
        done = until;
        if cut.with_heartbeats {
            beats.push(heartbeat(&format!("t{done}")));
        }
    }
    let further: Bytes = encoded(batch(done + 1..=done + 3));
    let whole_status = |beats: &mut Vec<Beat>, status| beats.push(Beat::End(status));
    match cut.end {
        End::Page => return Answer::Page(502),
        End::Connection => {
            beats.push(Beat::Bytes(further.slice(..cut.partial.min(further.len() - 1))));
            beats.push(Beat::Cut);
        }
        End::NoTrailers => {
            beats.push(Beat::Bytes(further.slice(..cut.partial.min(further.len() - 1))));
            return ends(beats);
        }
        End::Ok => whole_status(&mut beats, Status::ok("")),
        End::StoreAway => whole_status(&mut beats, failed(Code::Unavailable, "STORE_UNAVAILABLE", None)),
        End::Proxy => whole_status(&mut beats, Status::internal("stream reset")),
        End::GoingAway => beats.push(going_away(&format!("t{done}"))),
    }
    stays(beats)
}

async fn reads_the_log(length: usize, cuts: Vec<Cut>) {
    let cuts = Mutex::new(cuts.into_iter());
    let server = Scripted::on_port(move |number, seen| {
        let token = asked(seen).resume_token;
        if number == 0 {
            assert_eq!(token, "t0");
            // So that the server is known: before that a watch gives up after four attempts.
            return ends(vec![synced("t0")]);
        }
        let after: usize = token.strip_prefix('t').unwrap().parse().unwrap();
        match cuts.lock().unwrap().next() {
            Some(cut) => stream(&cut, after, length),
            None if after < length => stays(vec![Beat::Bytes(encoded(batch(after + 1..=length)))]),
            None => stays(Vec::new()),
        }
    })
    .await;
    let mut watch = server.client().watch(WatchRequest::new().resume("t0"));
    assert_eq!(next(&mut watch).await, WatchEvent::Synced);
    for number in 1..=length {
        assert_eq!(next(&mut watch).await, WatchEvent::Changed(change(number)));
        assert_eq!(watch.token().unwrap(), format!("t{number}"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_entry_once_and_in_order(length in 1_usize..40, cuts in prop::collection::vec(cut(), 0..6)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(reads_the_log(length, cuts));
    }
}
