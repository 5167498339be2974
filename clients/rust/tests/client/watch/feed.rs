//! What the server of a test sends on a stream, and what a test reads of it. Change number 7 has the
//! token `t7` and belongs to the workspace `ws_7`.

use std::collections::HashMap;
use std::future::Future;
use std::time::Duration;

use compozy_client::proto::change::v1::watch_catalog_response::Message;
use compozy_client::proto::change::v1::{
    Change, ChangeBatch, ChangeOp, GoingAway, Heartbeat, Resync, ResyncReason, Row, SnapshotRow, Synced,
    WatchCatalogRequest, WatchCatalogResponse, row,
};
use compozy_client::proto::workspace::v1::Workspace;
use compozy_client::{CatalogWatch, Error, WatchEvent};
use futures::StreamExt;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

use crate::server::{Answer, Beat, Seen, framed};

/// Nothing takes longer, unless it hangs.
const LIMIT: Duration = Duration::from_secs(30);

pub fn says(message: Message) -> Beat {
    Beat::Bytes(encoded(message))
}

pub fn encoded(message: Message) -> bytes::Bytes {
    let message = WatchCatalogResponse {
        message: Some(message),
    };
    framed(&prost::Message::encode_to_vec(&message))
}

/// A batch of the changes with these numbers.
pub fn batch(numbers: impl IntoIterator<Item = usize>) -> Message {
    Message::Changes(ChangeBatch {
        changes: numbers.into_iter().map(change).collect(),
    })
}

pub fn changes(numbers: impl IntoIterator<Item = usize>) -> Beat {
    says(batch(numbers))
}

pub fn change(number: usize) -> Change {
    Change {
        token: format!("t{number}"),
        op: ChangeOp::Upserted.into(),
        workspace_id: format!("ws_{number}"),
        version: i64::try_from(number).unwrap(),
        ..Change::default()
    }
}

pub fn synced(token: &str) -> Beat {
    let token = token.to_owned();
    says(Message::Synced(Synced { token }))
}

pub fn heartbeat(token: &str) -> Beat {
    let token = token.to_owned();
    says(Message::Heartbeat(Heartbeat { token, at: None }))
}

pub fn row(number: usize) -> Beat {
    let row = Some(plain_row(number));
    says(Message::SnapshotRow(SnapshotRow { row }))
}

pub fn plain_row(number: usize) -> Row {
    let workspace = Workspace {
        id: format!("ws_{number}"),
        ..Workspace::default()
    };
    Row {
        record: Some(row::Record::Workspace(workspace)),
    }
}

pub fn resync(reason: ResyncReason, workspace_ids: &[&str], token: &str) -> Beat {
    says(Message::Resync(Resync {
        workspace_ids: workspace_ids.iter().map(|id| (*id).to_owned()).collect(),
        reason: reason.into(),
        token: token.to_owned(),
    }))
}

pub fn going_away(token: &str) -> Beat {
    let token = token.to_owned();
    says(Message::GoingAway(GoingAway { token, reason: 0 }))
}

/// These, and then the stream stays open.
pub fn stays(beats: Vec<Beat>) -> Answer {
    Answer::Stream(
        futures::stream::iter(beats)
            .chain(futures::stream::pending())
            .boxed(),
    )
}

/// These, and then the stream is at its end.
pub fn ends(beats: Vec<Beat>) -> Answer {
    Answer::Stream(futures::stream::iter(beats).boxed())
}

/// A status with the details of the contract.
pub fn failed(code: Code, reason: &str, retry_after: Option<Duration>) -> Status {
    let mut details = ErrorDetails::with_error_info(reason, "compozy.dev", HashMap::new());
    if let Some(delay) = retry_after {
        details.set_retry_info(Some(delay));
    }
    Status::with_error_details(code, "It failed.", details)
}

/// What a watch asked for.
pub fn asked(seen: &Seen) -> WatchCatalogRequest {
    assert_eq!(seen.path, "/compozy.change.v1.CatalogChangeService/WatchCatalog");
    seen.decode()
}

/// The tokens that were asked for, stream by stream.
pub fn tokens(seen: &[Seen]) -> Vec<String> {
    seen.iter().map(|one| asked(one).resume_token).collect()
}

/// The next event.
pub async fn next(watch: &mut CatalogWatch) -> WatchEvent {
    ending(watch).await.unwrap().unwrap()
}

/// The next item, whatever it is.
pub async fn ending(watch: &mut CatalogWatch) -> Option<Result<WatchEvent, Error>> {
    within(watch.next()).await
}

/// Reads the changes with these numbers and nothing else.
pub async fn expect_changes(watch: &mut CatalogWatch, numbers: impl IntoIterator<Item = usize>) {
    for number in numbers {
        assert_eq!(next(watch).await, WatchEvent::Changed(change(number)));
        assert_eq!(watch.token(), Some(format!("t{number}").as_str()));
    }
}

pub async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, work).await.expect("it hangs")
}

/// Polls the watch, which hands out nothing, until the condition holds.
pub async fn quiet_until(watch: &mut CatalogWatch, condition: impl Fn(&CatalogWatch) -> bool) {
    within(async {
        while !condition(watch) {
            let item = futures::poll!(watch.next());
            assert!(item.is_pending(), "{item:?}");
            tokio::task::yield_now().await;
        }
    })
    .await;
}
