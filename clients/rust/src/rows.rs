//! All rows of a list, page after page, as a stream.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use compozy_proto::page::v1::PageInfo;
use compozy_proto::profile::v1::{ListProfilesRequest, ListProfilesResponse, Profile};
use compozy_proto::session::v1::{ListSessionsRequest, ListSessionsResponse, Session};
use compozy_proto::workspace::v1::{ListWorkspacesRequest, ListWorkspacesResponse, Workspace};
use futures::Stream;
use futures::future::BoxFuture;

use crate::{Client, Error};

/// The workspaces that a request matches.
pub type WorkspaceRows = Rows<ListWorkspacesRequest>;
/// The profiles that a request matches.
pub type ProfileRows = Rows<ListProfilesRequest>;
/// The sessions that a request matches.
pub type SessionRows = Rows<ListSessionsRequest>;

/// The rows that a request matches, in its order. Ends after the last row, or after the first
/// error. Nothing is asked for before it is polled.
pub struct Rows<R: Listing> {
    client: Client,
    request: R,
    /// Rows of the page that came last and were not handed out yet.
    rows: VecDeque<R::Row>,
    page: Option<PageInfo>,
    asking: Option<BoxFuture<'static, Result<Answer<R::Row>, Error>>>,
    failed: bool,
}

/// What came with one call.
type Answer<T> = (Vec<T>, Option<PageInfo>);

/// The request of a list that comes in counted pages. Those of the contract are all there are.
pub trait Listing: sealed::Pages + fmt::Debug + Clone + Unpin + Send + 'static {
    /// What the list holds.
    type Row: Unpin + Send + 'static;

    #[doc(hidden)]
    fn ask(self, client: Client) -> BoxFuture<'static, Result<Answer<Self::Row>, Error>>;
}

mod sealed {
    /// How the walk steers a request.
    pub trait Pages {
        fn cursor(&self) -> &str;
        fn set_cursor(&mut self, cursor: String);
    }
}

impl Client {
    /// All workspaces that `request` matches. Its cursor says where to start, its limit how many
    /// come with one call.
    pub fn workspace_rows(&self, request: ListWorkspacesRequest) -> WorkspaceRows {
        Rows::new(self, request)
    }

    /// All profiles that `request` matches, in the same way.
    pub fn profile_rows(&self, request: ListProfilesRequest) -> ProfileRows {
        Rows::new(self, request)
    }

    /// All sessions that `request` matches, in the same way.
    pub fn session_rows(&self, request: ListSessionsRequest) -> SessionRows {
        Rows::new(self, request)
    }
}

impl<R: Listing> Rows<R> {
    fn new(client: &Client, request: R) -> Self {
        Self {
            client: client.clone(),
            request,
            rows: VecDeque::new(),
            page: None,
            asking: None,
            failed: false,
        }
    }

    /// The exact number of matches over all pages; `None` before the first page came.
    pub fn total(&self) -> Option<i64> {
        self.page.as_ref().map(|page| page.total)
    }

    /// Head of the change log in the snapshot of the last page: where a watch goes on from.
    pub fn revision(&self) -> Option<&str> {
        self.page.as_ref().map(|page| page.revision.as_str())
    }

    /// What the server said about the last page that came.
    pub fn page(&self) -> Option<&PageInfo> {
        self.page.as_ref()
    }

    /// Where to start again so that no row is missed: the cursor of the first page that was not
    /// handed out completely. Empty for the first page; `None` when nothing is left.
    pub fn cursor(&self) -> Option<&str> {
        let next = self.page.as_ref().map(|page| page.next_cursor.as_deref());
        match next {
            Some(next) if self.rows.is_empty() => next,
            // The request's cursor is that of the page in hand until the next one is asked for.
            _ => Some(self.request.cursor()),
        }
    }

    /// Takes the next page over; the cursor of a page that says it has a successor must be there
    /// and be a new one, or the walk would never end.
    fn accept(&mut self, (rows, page): Answer<R::Row>) -> Result<(), Error> {
        let page =
            page.ok_or_else(|| Error::broken_answer("the server sent a page that does not describe itself"))?;
        let next = page.next_cursor.as_deref().unwrap_or_default();
        if page.has_more && (next.is_empty() || next == self.request.cursor()) {
            return Err(Error::broken_answer(
                "the server says that there is more and not where",
            ));
        }
        self.rows = rows.into();
        self.page = Some(page);
        Ok(())
    }

    fn ask(&mut self) -> BoxFuture<'static, Result<Answer<R::Row>, Error>> {
        if let Some(next) = self.page.as_ref().and_then(|page| page.next_cursor.clone()) {
            self.request.set_cursor(next);
        }
        self.request.clone().ask(self.client.clone())
    }
}

impl<R: Listing> Stream for Rows<R> {
    type Item = Result<R::Row, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some(row) = this.rows.pop_front() {
                return Poll::Ready(Some(Ok(row)));
            }
            if this.failed || this.page.as_ref().is_some_and(|page| !page.has_more) {
                return Poll::Ready(None);
            }
            if this.asking.is_none() {
                this.asking = Some(this.ask());
            }
            let Some(asking) = this.asking.as_mut() else {
                continue;
            };
            let answer = std::task::ready!(asking.as_mut().poll(context));
            this.asking = None;
            if let Err(error) = answer.and_then(|answer| this.accept(answer)) {
                this.failed = true;
                return Poll::Ready(Some(Err(error)));
            }
        }
    }
}

impl<R: Listing> fmt::Debug for Rows<R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Rows")
            .field("request", &self.request)
            .field("page", &self.page)
            .field("waiting_rows", &self.rows.len())
            .finish_non_exhaustive()
    }
}

impl sealed::Pages for ListWorkspacesRequest {
    fn cursor(&self) -> &str {
        &self.cursor
    }

    fn set_cursor(&mut self, cursor: String) {
        self.cursor = cursor;
    }
}

impl Listing for ListWorkspacesRequest {
    type Row = Workspace;

    fn ask(self, client: Client) -> BoxFuture<'static, Result<Answer<Workspace>, Error>> {
        Box::pin(async move {
            let ListWorkspacesResponse { workspaces, page } = client.list_workspaces(self).await?;
            Ok((workspaces, page))
        })
    }
}

impl sealed::Pages for ListProfilesRequest {
    fn cursor(&self) -> &str {
        &self.cursor
    }

    fn set_cursor(&mut self, cursor: String) {
        self.cursor = cursor;
    }
}

impl Listing for ListProfilesRequest {
    type Row = Profile;

    fn ask(self, client: Client) -> BoxFuture<'static, Result<Answer<Profile>, Error>> {
        Box::pin(async move {
            let ListProfilesResponse { profiles, page } = client.list_profiles(self).await?;
            Ok((profiles, page))
        })
    }
}

impl sealed::Pages for ListSessionsRequest {
    fn cursor(&self) -> &str {
        &self.cursor
    }

    fn set_cursor(&mut self, cursor: String) {
        self.cursor = cursor;
    }
}

impl Listing for ListSessionsRequest {
    type Row = Session;

    fn ask(self, client: Client) -> BoxFuture<'static, Result<Answer<Session>, Error>> {
        Box::pin(async move {
            let ListSessionsResponse { sessions, page } = client.list_sessions(self).await?;
            Ok((sessions, page))
        })
    }
}
