//! Client of the Compozy catalog: what every program would otherwise write badly around the
//! generated stubs. It finds the server and the token, sets deadlines, retries what is safe to
//! retry, fills in request ids, walks pages, and turns every failure into one [`Error`].
//!
//! ```no_run
//! # async fn first() -> Result<(), compozy_client::Error> {
//! use compozy_client::{Client, proto::workspace::v1::ListWorkspacesRequest};
//! use futures::TryStreamExt;
//!
//! let client = Client::builder().build()?;
//! let mut rows = client.workspace_rows(ListWorkspacesRequest::default());
//! while let Some(workspace) = rows.try_next().await? {
//!     println!("{} {}", workspace.name(), workspace.root_dir);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Changes come as a stream that goes on by itself when the server restarts or the connection is cut. A mirror of the
//! workspaces that stays right:
//!
//! ```no_run
//! # async fn second(client: compozy_client::Client) -> Result<(), compozy_client::Error> {
//! use std::collections::BTreeMap;
//!
//! use compozy_client::proto::change::v1::{ChangeKind, row::Record};
//! use compozy_client::{ResyncCause, WatchEvent, WatchRequest};
//! use futures::TryStreamExt;
//!
//! loop {
//!     let mut rows = BTreeMap::new();
//!     let request = WatchRequest::new().snapshot().include_rows().kinds([ChangeKind::Workspace]);
//!     let mut watch = client.watch(request.resync_when_expired());
//!     while let Some(event) = watch.try_next().await? {
//!         let row = match event {
//!             WatchEvent::Row(row) => Some(row),
//!             // None if the workspace has gone since: `Removed` follows.
//!             WatchEvent::Changed(change) => change.row,
//!             WatchEvent::Removed(change) => {
//!                 rows.remove(&change.workspace_id);
//!                 None
//!             }
//!             WatchEvent::Resync { reason: ResyncCause::SnapshotCut, .. } => {
//!                 rows.clear(); // They come again.
//!                 None
//!             }
//!             // Something is missing: from the snapshot again.
//!             WatchEvent::Resync { .. } => break,
//!             _ => None,
//!         };
//!         if let Some(Record::Workspace(workspace)) = row.and_then(|row| row.record) {
//!             rows.insert(workspace.id.clone(), workspace);
//!         }
//!     }
//! }
//! # }
//! ```
//!
//! A [`Client`] is cheap to clone, `Send` and `Sync`; its clones share one connection
//! for calls and a few for watches. It has to be
//! made inside a tokio runtime.

mod accounts;
mod admin;
mod builder;
mod call;
mod dial;
mod endpoint;
mod error;
mod health;
mod home;
mod profiles;
mod request_id;
mod resolution;
mod retry;
mod rows;
mod sessions;
mod stream_lines;
mod tls;
mod token;
mod watch;
mod wire;
mod workspaces;

pub use builder::{Builder, Client};
pub use compozy_proto as proto;
pub use endpoint::{Endpoint, SERVER_VARIABLE};
pub use error::{Code, Error, ErrorKind, FieldViolation};
pub use health::ServingStatus;
pub use home::{DaemonFile, Home};
pub use proto::error::v1::ErrorReason;
pub use retry::{ATTEMPTS, FIRST_DELAY, LONGEST_DELAY};
pub use rows::{Listing, ProfileRows, Rows, SessionRows, WorkspaceRows};
pub use tls::Tls;
pub use token::TOKEN_VARIABLE;
pub use watch::{CatalogWatch, ResyncCause, WatchEvent, WatchFrom, WatchNotice, WatchRequest};

/// How long a call may take unless its caller says otherwise.
pub const DEFAULT_DEADLINE: std::time::Duration = std::time::Duration::from_secs(10);
