//! `profile list`: one counted page, or all of them.

use clap::{Args, ValueEnum};
use compozy_client::proto::profile::v1::{ListProfilesRequest, ProfileState};
use futures::TryStreamExt;

use crate::app::App;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Format, PageView, ProfileListView, ProfileView};

/// Rows that come with one call when all are asked for.
const LARGEST_PAGE: i32 = 100;

/// List the profiles
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy profile list\n  compozy profile list --state archived\n  compozy profile list --all -o jsonl"
)]
pub(crate) struct ListArguments {
    /// Only profiles of this state; may be repeated
    #[arg(long, value_name = "STATE", value_enum, ignore_case = true)]
    state: Vec<State>,
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

/// Whether a profile can be selected.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum State {
    /// It can
    Active,
    /// It is kept and cannot
    Archived,
}

pub(crate) async fn run(app: &App, arguments: &ListArguments) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let request = request(arguments);
    if !arguments.all {
        let answer = app.wait("listing", client.list_profiles(request)).await?;
        app.printer.answer(&ProfileListView {
            profiles: answer.profiles.into_iter().map(ProfileView::from).collect(),
            page: answer.page.map(PageView::from).unwrap_or_default(),
        })?;
        return Ok(Exit::Ok);
    }
    let mut rows = client.profile_rows(request);
    let streamed = app.printer.format() == Format::Jsonl;
    let mut profiles = Vec::new();
    while let Some(profile) = app.wait("listing", rows.try_next()).await? {
        let view = ProfileView::from(profile);
        if streamed {
            app.printer.line(&view)?;
        } else {
            profiles.push(view);
        }
    }
    let page = rows.page().cloned().map(PageView::from).unwrap_or_default();
    if streamed {
        app.printer.page_line(&page)?;
    } else {
        app.printer.answer(&ProfileListView { profiles, page })?;
    }
    Ok(Exit::Ok)
}

fn request(arguments: &ListArguments) -> ListProfilesRequest {
    let states = arguments.state.iter().map(|state| match state {
        State::Active => ProfileState::Active.into(),
        State::Archived => ProfileState::Archived.into(),
    });
    ListProfilesRequest {
        limit: arguments
            .limit
            .unwrap_or(if arguments.all { LARGEST_PAGE } else { 0 }),
        cursor: arguments.cursor.clone(),
        states: states.collect(),
    }
}
