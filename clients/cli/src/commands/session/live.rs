//! `session list --watch`: the first page as it is now. Changes only say when to look again, since whether a session
//! is on the page and where is the daemon's to decide.

use std::collections::BTreeMap;
use std::time::Duration;

use compozy_client::proto::change::v1::ChangeKind;
use compozy_client::{CatalogWatch, Error, WatchEvent, WatchRequest};
use futures::TryStreamExt;
use serde_json::Value;

use super::list::List;
use crate::app::App;
use crate::commands::watch::{observer, reader_gone};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{LiveView, PageView, SessionListView, SessionView, Sourced};

/// Changes that come together are looked at together: nothing new for so long, or so long at most.
const QUIET: Duration = Duration::from_millis(50);
const LONGEST_GATHERING: Duration = Duration::from_millis(500);
/// Pause before a look that failed is repeated.
const PAUSE: Duration = Duration::from_secs(1);
/// Ages on a terminal are no older than this.
const REDRAW: Duration = Duration::from_secs(5);

pub(super) async fn run(app: &App, list: &List) -> Result<Exit, Failure> {
    let page = look(list).await.map_err(|error| list.failure(error))?;
    let mut watch = list.client.watch(request(app, list, &page.page.revision));
    let mut shown = Shown::default();
    shown.begin(app, list, page)?;
    let mut ages = tokio::time::interval(REDRAW);
    let mut is_stale = false;
    loop {
        tokio::select! {
            event = watch.try_next() => match event.map_err(|error| list.failure(error))? {
                None => return Ok(Exit::Ok),
                Some(event) => is_stale |= is_change(&event),
            },
            _ = ages.tick(), if app.printer.is_watched() => shown.redraw(app)?,
            () = tokio::time::sleep(PAUSE), if is_stale => {}
            () = reader_gone() => return Err(Failure::ClosedPipe),
        }
        if !is_stale {
            continue;
        }
        gather(list, &mut watch).await?;
        match look(list).await {
            Ok(page) => {
                shown.update(app, list, page)?;
                is_stale = false;
            }
            // The watch goes on by itself when the daemon comes back, and so does this.
            Err(error) if error.is_retryable() => {}
            Err(error) => return Err(list.failure(error)),
        }
    }
}

fn request(app: &App, list: &List, revision: &str) -> WatchRequest {
    // A session is shown with the name of its workspace, and goes with it.
    let kinds = [
        ChangeKind::Session,
        ChangeKind::AccountOrder,
        ChangeKind::Workspace,
    ];
    let mut request = WatchRequest::new()
        .resume(revision)
        .kinds(kinds)
        .resync_when_expired();
    if let Some(selected) = &list.selected {
        request = request.workspaces([selected.reference.clone()]);
    }
    let filter = list.request.filter.as_ref();
    if filter.is_some_and(|filter| filter.include_internal) {
        request = request.include_internal();
    }
    if app.printer.is_watched() {
        return request;
    }
    request.observe(observer(app.printer.clone()))
}

async fn look(list: &List) -> Result<SessionListView, Error> {
    let answer = list.client.list_sessions(list.request.clone()).await?;
    let sessions = answer.sessions.into_iter().map(SessionView::from).collect();
    Ok(list.view(sessions, answer.page.map(PageView::from).unwrap_or_default()))
}

/// Whether the page may be another one than before.
fn is_change(event: &WatchEvent) -> bool {
    !matches!(event, WatchEvent::Synced)
}

/// Takes what comes until it is quiet.
async fn gather(list: &List, watch: &mut CatalogWatch) -> Result<(), Failure> {
    let end = tokio::time::Instant::now() + LONGEST_GATHERING;
    loop {
        let quiet = (tokio::time::Instant::now() + QUIET).min(end);
        match tokio::time::timeout_at(quiet, watch.try_next()).await {
            Ok(Ok(Some(_))) => {}
            Ok(Err(error)) => return Err(list.failure(error)),
            Ok(Ok(None)) | Err(_) => return Ok(()),
        }
    }
}

/// What the reader knows.
#[derive(Default)]
struct Shown {
    page: Option<SessionListView>,
    rows: BTreeMap<String, Value>,
}

impl Shown {
    fn begin(&mut self, app: &App, list: &List, page: SessionListView) -> Result<(), Failure> {
        let total = page.page.total;
        if app.printer.is_watched() {
            self.page = Some(page);
            return self.redraw(app);
        }
        for session in page.sessions {
            self.rows.insert(session.id.clone(), written(&session)?);
            let session = Box::new(session);
            tell(app, list, LiveView::Row { session })?;
        }
        tell(app, list, LiveView::Synced { total })
    }

    fn update(&mut self, app: &App, list: &List, page: SessionListView) -> Result<(), Failure> {
        if app.printer.is_watched() {
            self.page = Some(page);
            return self.redraw(app);
        }
        let mut before = std::mem::take(&mut self.rows);
        let mut changed = Vec::new();
        for session in page.sessions {
            let now = written(&session)?;
            if before.remove(&session.id).as_ref() != Some(&now) {
                changed.push(session.clone());
            }
            self.rows.insert(session.id, now);
        }
        for session_id in before.into_keys() {
            tell(app, list, LiveView::Removed { session_id })?;
        }
        for session in changed {
            let session = Box::new(session);
            tell(app, list, LiveView::Changed { session })?;
        }
        Ok(())
    }

    fn redraw(&self, app: &App) -> Result<(), Failure> {
        match &self.page {
            Some(page) => app.printer.redraw(page),
            None => Ok(()),
        }
    }
}

fn written(session: &SessionView) -> Result<Value, Failure> {
    serde_json::to_value(session)
        .map_err(|error| Failure::defect(format!("a row cannot be written: {error}")))
}

fn tell(app: &App, list: &List, answer: LiveView) -> Result<(), Failure> {
    match list.source() {
        Some(resolution_source) => app.printer.event(&Sourced {
            resolution_source,
            answer,
        }),
        None => app.printer.event(&answer),
    }
}
