//! What to watch and from where.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use compozy_proto::change::v1::{ChangeKind, OnExpired, WatchCatalogRequest, WatchStart};
use compozy_proto::workspace::v1::WorkspaceRef;

use super::WatchNotice;

/// Where a watch begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum WatchFrom {
    /// With what commits from now on.
    #[default]
    Now,
    /// With the current rows, then what has changed since.
    Snapshot,
    /// With the oldest change that is retained.
    Earliest,
    /// After this token: that of a watch with the same filters, or the `revision` of any answer.
    Token(String),
}

/// The choices of a watch. The default is everything, from now on.
#[derive(Clone, Default)]
#[must_use]
pub struct WatchRequest {
    from: WatchFrom,
    workspaces: Vec<WorkspaceRef>,
    ungrouped: bool,
    kinds: Vec<ChangeKind>,
    include_internal: bool,
    include_rows: bool,
    heartbeat: Option<Duration>,
    on_expired: OnExpired,
    observer: Option<Observer>,
}

/// Who wants to know about the connection.
pub(super) type Observer = Arc<dyn Fn(&WatchNotice) + Send + Sync>;

impl WatchRequest {
    /// Everything, from now on.
    pub fn new() -> Self {
        Self::default()
    }

    /// Where to begin.
    pub fn from(mut self, from: WatchFrom) -> Self {
        self.from = from;
        self
    }

    /// The current rows first.
    pub fn snapshot(self) -> Self {
        self.from(WatchFrom::Snapshot)
    }

    /// The oldest retained change first.
    pub fn earliest(self) -> Self {
        self.from(WatchFrom::Earliest)
    }

    /// On from a token: see [`WatchFrom::Token`].
    pub fn resume(self, token: impl Into<String>) -> Self {
        self.from(WatchFrom::Token(token.into()))
    }

    /// Only what belongs to these workspaces. Each reference is looked up once: the filter is the workspace, also when
    /// it is renamed or moved while it is watched.
    pub fn workspaces(mut self, workspaces: impl IntoIterator<Item = WorkspaceRef>) -> Self {
        self.workspaces.extend(workspaces);
        self
    }

    /// Sessions without a workspace, together with workspaces in addition to them.
    pub fn ungrouped(mut self) -> Self {
        self.ungrouped = true;
        self
    }

    /// Only these kinds.
    pub fn kinds(mut self, kinds: impl IntoIterator<Item = ChangeKind>) -> Self {
        self.kinds.extend(kinds);
        self
    }

    /// Also internal sessions.
    pub fn include_internal(mut self) -> Self {
        self.include_internal = true;
        self
    }

    /// The current row with each change.
    pub fn include_rows(mut self) -> Self {
        self.include_rows = true;
        self
    }

    /// How long the server may be silent, 1 s to 5 min; the connection counts as lost after three times
    /// that. Default: 10 s.
    pub fn heartbeat(mut self, heartbeat: Duration) -> Self {
        self.heartbeat = Some(heartbeat);
        self
    }

    /// Go on with a [`WatchEvent::Resync`](super::WatchEvent::Resync) when the token has expired, instead of ending with
    /// `RESUME_TOKEN_EXPIRED`.
    pub fn resync_when_expired(mut self) -> Self {
        self.on_expired = OnExpired::Resync;
        self
    }

    /// Tells about the connection, for a status line or a log. Called while the watch is polled, so it
    /// should be quick.
    pub fn observe(mut self, observer: impl Fn(&WatchNotice) + Send + Sync + 'static) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// The token that it begins from.
    pub(super) fn token(&self) -> Option<&str> {
        match &self.from {
            WatchFrom::Token(token) => Some(token),
            WatchFrom::Now | WatchFrom::Snapshot | WatchFrom::Earliest => None,
        }
    }

    /// The first message to the server, and who wants to know about the connection.
    pub(super) fn into_parts(self) -> (WatchCatalogRequest, Option<Observer>) {
        let Self {
            from,
            workspaces,
            ungrouped,
            kinds,
            include_internal,
            include_rows,
            heartbeat,
            on_expired,
            observer,
        } = self;
        let (start, resume_token) = match from {
            WatchFrom::Now => (WatchStart::Now, String::new()),
            WatchFrom::Snapshot => (WatchStart::Snapshot, String::new()),
            WatchFrom::Earliest => (WatchStart::Earliest, String::new()),
            WatchFrom::Token(token) => (WatchStart::Unspecified, token),
        };
        let message = WatchCatalogRequest {
            resume_token,
            start: start.into(),
            workspaces,
            ungrouped,
            kinds: kinds.into_iter().map(i32::from).collect(),
            include_internal,
            include_rows,
            // One that the contract cannot say is one that it does not allow either.
            heartbeat: heartbeat.map(|span| prost_types::Duration::try_from(span).unwrap_or_default()),
            on_expired: on_expired.into(),
        };
        (message, observer)
    }
}

impl fmt::Debug for WatchRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (message, observer) = self.clone().into_parts();
        formatter
            .debug_struct("WatchRequest")
            .field("message", &message)
            .field("is_observed", &observer.is_some())
            .finish()
    }
}
