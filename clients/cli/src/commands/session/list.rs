//! `session list`: one counted page, all of them, or a live view.

use clap::Args;
use compozy_client::proto::session::v1::{ListSessionsRequest, SessionFilter, SessionSort};
use compozy_client::{Client, Error, SessionRows};
use futures::TryStreamExt;

use super::filter::{FilterArguments, profile_id};
use super::live;
use super::words::Sort;
use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Format, PageView, SessionListView, SessionView, Sourced};
use crate::selection::{ScopeSelector, Selected};

/// Rows that come with one call when all are asked for.
const LARGEST_PAGE: i32 = 100;

/// List sessions
///
/// Those of all workspaces and in all states, without archived ones, unless the options say otherwise.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy session list\n  compozy session list --here --state active --sort attention\n  compozy session list --badge failed --badge waiting-for-input --watch\n  compozy session list --workspace api --label team=web --created-after 2d\n  compozy session list --all --include-archived -o jsonl"
)]
pub(crate) struct ListArguments {
    #[command(flatten)]
    scope: ScopeSelector,
    #[command(flatten)]
    filter: FilterArguments,
    /// The order of the rows
    #[arg(
        long,
        value_enum,
        ignore_case = true,
        default_value = "recent",
        help_heading = "Which rows"
    )]
    sort: Sort,
    /// Rows on the page, 1 to 100; 0 = 50
    #[arg(
        long,
        value_name = "COUNT",
        allow_negative_numbers = true,
        help_heading = "Which rows"
    )]
    limit: Option<i32>,
    /// Where the page begins: next_cursor of the page before
    #[arg(
        long,
        value_name = "CURSOR",
        default_value = "",
        hide_default_value = true,
        help_heading = "Which rows"
    )]
    cursor: String,
    /// Every page, to the end
    #[arg(long, help_heading = "Which rows")]
    all: bool,
    /// Say how the runtimes do
    #[arg(long, help_heading = "Which rows")]
    include_health: bool,
    /// Keep the first page as it is now: in place on a terminal, otherwise a line for each change
    #[arg(long, conflicts_with_all = ["all", "cursor"], help_heading = "Which rows")]
    watch: bool,
}

impl ListArguments {
    pub(super) fn is_watched(&self) -> bool {
        self.watch
    }
}

pub(crate) async fn run(app: &App, arguments: ListArguments) -> Result<Exit, Failure> {
    let ListArguments {
        scope,
        filter,
        sort,
        limit,
        cursor,
        all,
        include_health,
        watch,
    } = arguments;
    // Before any request.
    let choice = scope.choose()?;
    let (mut filter, profile) = filter.parts()?;
    let client = app.client().await?;
    let selected = match &choice {
        Some(choice) => Some(choice.select(app, &client).await?),
        None => None,
    };
    if let Some(named) = profile {
        filter.profile = profile_id(app, &client, named).await?;
    }
    filter.workspace = selected.as_ref().map(|selected| selected.reference.clone());
    let request = ListSessionsRequest {
        filter: Some(filter),
        sort: SessionSort::from(sort).into(),
        limit: limit.unwrap_or(if all { LARGEST_PAGE } else { 0 }),
        cursor,
        include_health,
    };
    let list = List {
        client,
        request,
        selected,
    };
    if watch {
        return live::run(app, &list).await;
    }
    if all && app.printer.format() == Format::Jsonl {
        return list.stream(app).await;
    }
    let view = if all {
        list.whole(app).await?
    } else {
        list.page(app).await?
    };
    app.printer.answer_from(list.source(), view)?;
    Ok(Exit::Ok)
}

/// A list that is asked for.
pub(super) struct List {
    pub(super) client: Client,
    pub(super) request: ListSessionsRequest,
    pub(super) selected: Option<Selected>,
}

impl List {
    /// How the workspace was told, if one was.
    pub(super) fn source(&self) -> Option<&'static str> {
        self.selected.as_ref().map(Selected::resolution_source)
    }

    pub(super) fn failure(&self, error: Error) -> Failure {
        match &self.selected {
            Some(selected) => selected.failure(error),
            None => error.into(),
        }
    }

    async fn page(&self, app: &App) -> Result<SessionListView, Failure> {
        let answer = app
            .wait("listing", self.client.list_sessions(self.request.clone()))
            .await;
        let answer = answer.map_err(|error| self.failure(error))?;
        let sessions = answer.sessions.into_iter().map(SessionView::from).collect();
        Ok(self.view(sessions, answer.page.map(PageView::from).unwrap_or_default()))
    }

    async fn whole(&self, app: &App) -> Result<SessionListView, Failure> {
        let mut rows = self.client.session_rows(self.request.clone());
        let mut sessions = Vec::new();
        while let Some(session) = self.next(app, &mut rows).await? {
            sessions.push(session);
        }
        Ok(self.view(sessions, last_page(&rows)))
    }

    /// Every row as it comes: there may be more than fit into memory.
    async fn stream(&self, app: &App) -> Result<Exit, Failure> {
        let mut rows = self.client.session_rows(self.request.clone());
        while let Some(answer) = self.next(app, &mut rows).await? {
            match self.source() {
                Some(resolution_source) => app.printer.line(&Sourced {
                    resolution_source,
                    answer,
                })?,
                None => app.printer.line(&answer)?,
            }
        }
        app.printer.page_line(&last_page(&rows))?;
        Ok(Exit::Ok)
    }

    async fn next(&self, app: &App, rows: &mut SessionRows) -> Result<Option<SessionView>, Failure> {
        let row = app.wait("listing", rows.try_next()).await;
        Ok(row.map_err(|error| self.failure(error))?.map(SessionView::from))
    }

    pub(super) fn view(&self, sessions: Vec<SessionView>, page: PageView) -> SessionListView {
        let is_filtered = self.request.filter.as_ref() != Some(&SessionFilter::default());
        SessionListView {
            sessions,
            page,
            is_filtered,
        }
    }
}

fn last_page(rows: &SessionRows) -> PageView {
    rows.page().cloned().map(PageView::from).unwrap_or_default()
}
