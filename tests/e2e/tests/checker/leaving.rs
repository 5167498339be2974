//! The end of a lap: nothing is written any more, and everything has to have come.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use compozy_client::Client;
use compozy_e2e::Draw;
use compozy_proto::change::v1::WatchStart;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::beginning::Beginning;
use crate::board::Phase;
use crate::history::{End, Origin};
use crate::watching::{AFTER_A_FAILURE, Followed, Habits, Reading, Recorded, Watching};

/// Within this time a quiet server has told everything.
const FINAL_PATIENCE: Duration = Duration::from_secs(60);

impl Watching {
    /// Comes back with the last token of a filter, again and again until `synced` has come.
    pub(crate) async fn take_leave(&mut self, number: usize) {
        let last = self.followed.len() - 1;
        self.followed.swap(number, last);
        let begun = Instant::now();
        loop {
            let token = self.present().tokens.last().cloned();
            let beginning = token.map_or_else(Beginning::snapshot, Beginning::behind);
            self.stream(beginning, Reading::ToTheEnd).await;
            let stream = self.present().watcher.streams.last().expect("one was opened");
            // Nobody can watch what is gone, who has no token of before.
            if stream.complete || stream.end == End::gone() {
                break;
            }
            if begun.elapsed() > FINAL_PATIENCE {
                self.present().watcher.stranded = true;
                break;
            }
            sleep(AFTER_A_FAILURE).await;
        }
        self.followed.swap(number, last);
    }
}

/// Reads the whole log from each server, and a snapshot: nobody else is at it any more, so nothing may be left out.
pub(crate) async fn audit(sockets: &[PathBuf], clients: &[Client], draw: &mut Draw) -> Recorded {
    let (sender, phase) = watch::channel(Phase::Quiet(Instant::now()));
    let mut recorded = Recorded::default();
    for (number, socket) in sockets.iter().enumerate() {
        let mut watching = Watching::new(
            draw.fork(),
            vec![socket.clone()],
            vec![clients[number].clone()],
            Arc::default(),
            Habits::default(),
            phase.clone(),
        );
        for start in [WatchStart::Earliest, WatchStart::Snapshot] {
            watching.followed.push(Followed::default());
            let beginning = Beginning {
                origin: if start == WatchStart::Earliest {
                    Origin::Earliest
                } else {
                    Origin::Snapshot
                },
                token: String::new(),
                start,
            };
            watching.stream(beginning, Reading::ToTheEnd).await;
            let watcher = &mut watching.present().watcher;
            let stream = watcher.streams.last_mut().expect("it was opened");
            stream.exact = true;
            stream.server = number;
            watcher.stranded = !stream.complete;
        }
        recorded
            .watchers
            .extend(watching.followed.into_iter().map(|followed| followed.watcher));
    }
    drop(sender);
    recorded
}
