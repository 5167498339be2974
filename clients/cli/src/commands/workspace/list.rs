//! `workspace list`: one counted page, or all of them.

use clap::{Args, ValueEnum};
use compozy_client::WorkspaceRows;
use compozy_client::proto::workspace::v1::{ListWorkspacesRequest, WorkspaceOrder, WorkspaceStatus};
use futures::TryStreamExt;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Format, PageView, WorkspaceListView, WorkspaceView};

/// Rows that come with one call when all are asked for.
const LARGEST_PAGE: i32 = 100;

/// List the registered directories
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy workspace list\n  compozy workspace list --order updated --query api --limit 10\n  compozy workspace list --status ROOT_MISSING\n  compozy workspace list --all -o jsonl"
)]
pub(crate) struct ListArguments {
    /// The order of the rows
    #[arg(long, value_enum, default_value = "manual")]
    order: Order,
    /// Only workspaces with this text in id, name, title or root
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    query: String,
    /// Only workspaces whose root was last seen like this; may be repeated
    #[arg(long, value_name = "STATUS", value_enum, ignore_case = true)]
    status: Vec<Status>,
    /// Look at the roots now and show how they are
    #[arg(long)]
    include_status: bool,
    /// Rows on the page, 1 to 100; 0 = 50
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    limit: Option<i32>,
    /// Where the page begins: next_cursor of the page before
    #[arg(long, value_name = "CURSOR", default_value = "", hide_default_value = true)]
    cursor: String,
    /// Every page, to the end
    #[arg(long)]
    all: bool,
}

/// The order of a list.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Order {
    /// As people have put them
    Manual,
    /// By name
    Name,
    /// Newest registration first
    Created,
    /// Latest change first
    Updated,
}

/// How a root was last seen, by the names of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "SCREAMING_SNAKE_CASE")]
enum Status {
    Ok,
    RootMissing,
    RootNotDirectory,
    RootUnreadable,
    IdentityMissing,
    IdentityInvalid,
    IdentityUnreadable,
    IdentityChanged,
    OtherHost,
    /// Nobody has looked yet
    NotObserved,
}

pub(crate) async fn run(app: &App, arguments: ListArguments) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let all = arguments.all;
    let is_filtered = !arguments.query.is_empty() || !arguments.status.is_empty();
    let request = request(arguments);
    if !all {
        let answer = app.wait("listing", client.list_workspaces(request)).await?;
        let workspaces = answer.workspaces.into_iter().map(WorkspaceView::from).collect();
        app.printer.answer(&WorkspaceListView {
            workspaces,
            page: answer.page.map(PageView::from).unwrap_or_default(),
            is_filtered,
        })?;
        return Ok(Exit::Ok);
    }
    let mut rows = client.workspace_rows(request);
    let streamed = app.printer.format() == Format::Jsonl;
    let mut workspaces = Vec::new();
    while let Some(workspace) = app.wait("listing", rows.try_next()).await? {
        let view = WorkspaceView::from(workspace);
        if streamed {
            app.printer.line(&view)?;
        } else {
            workspaces.push(view);
        }
    }
    let page = last_page(&rows);
    if streamed {
        app.printer.page_line(&page)?;
    } else {
        app.printer.answer(&WorkspaceListView {
            workspaces,
            page,
            is_filtered,
        })?;
    }
    Ok(Exit::Ok)
}

fn request(arguments: ListArguments) -> ListWorkspacesRequest {
    let ListArguments {
        order,
        query,
        status,
        include_status,
        limit,
        cursor,
        all,
    } = arguments;
    ListWorkspacesRequest {
        limit: limit.unwrap_or(if all { LARGEST_PAGE } else { 0 }),
        cursor,
        order_by: order_by(order).into(),
        name_prefix: String::new(),
        query,
        statuses: status
            .iter()
            .filter_map(|status| observed(*status))
            .map(i32::from)
            .collect(),
        not_observed: status.contains(&Status::NotObserved),
        include_status,
    }
}

fn last_page(rows: &WorkspaceRows) -> PageView {
    rows.page().cloned().map(PageView::from).unwrap_or_default()
}

fn order_by(order: Order) -> WorkspaceOrder {
    match order {
        Order::Manual => WorkspaceOrder::Manual,
        Order::Name => WorkspaceOrder::Name,
        Order::Created => WorkspaceOrder::Created,
        Order::Updated => WorkspaceOrder::Updated,
    }
}

fn observed(status: Status) -> Option<WorkspaceStatus> {
    Some(match status {
        Status::Ok => WorkspaceStatus::Ok,
        Status::RootMissing => WorkspaceStatus::RootMissing,
        Status::RootNotDirectory => WorkspaceStatus::RootNotDirectory,
        Status::RootUnreadable => WorkspaceStatus::RootUnreadable,
        Status::IdentityMissing => WorkspaceStatus::IdentityMissing,
        Status::IdentityInvalid => WorkspaceStatus::IdentityInvalid,
        Status::IdentityUnreadable => WorkspaceStatus::IdentityUnreadable,
        Status::IdentityChanged => WorkspaceStatus::IdentityChanged,
        Status::OtherHost => WorkspaceStatus::OtherHost,
        Status::NotObserved => return None,
    })
}
