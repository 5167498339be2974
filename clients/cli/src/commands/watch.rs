//! `watch`: the change stream, a line for each event, until it is interrupted.

use std::io::stdout;
use std::sync::Mutex;
use std::time::Duration;

use clap::{Args, ValueEnum};
use compozy_client::proto::change::v1::ChangeKind;
use compozy_client::{Code, Error, ErrorReason, WatchNotice, WatchRequest};
use futures::TryStreamExt;
use rustix::event::{PollFd, PollFlags, poll};

use crate::app::App;
use crate::duration;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{EventView, Format, NoticeView, Printer};
use crate::reference::not_blank;
use crate::selection::{Selected, SeveralSelector};

/// The server's, if nothing is said.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// Where a watch is comes with every so many heartbeats at most, if nothing else has said it.
const HEARTBEATS_OF_A_POSITION: u32 = 6;
/// Pause between two looks whether somebody still reads. Without them a command whose reader has gone would stay
/// until the next change, which may never come.
const READER_CHECK: Duration = Duration::from_secs(1);

/// What to follow, and from where.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy watch\n  compozy watch --snapshot --rows\n  compozy watch --workspace api --kind workspace -o jsonl\n  compozy watch --from-token \"$TOKEN\" -o jsonl\n\nWith -o jsonl, every change and every \"synced\" and \"resync\" holds a token that --from-token goes on from, with the same filters: --workspace or COMPOZY_WORKSPACE, --here, --ungrouped, --kind and --include-internal."
)]
pub(crate) struct WatchArguments {
    #[command(flatten)]
    selector: SeveralSelector,
    /// Sessions without a workspace; with workspaces in addition to them
    #[arg(long)]
    ungrouped: bool,
    /// Only changes of this kind; may be repeated
    #[arg(long, value_name = "KIND", value_enum, ignore_case = true)]
    kind: Vec<Kind>,
    /// Go on after this token, or from the revision of any answer
    #[arg(long, value_name = "TOKEN", value_parser = not_blank(), conflicts_with_all = ["snapshot", "earliest"])]
    from_token: Option<String>,
    /// Show what is there first
    #[arg(long, conflicts_with = "earliest")]
    snapshot: bool,
    /// Begin with the oldest change that is kept
    #[arg(long)]
    earliest: bool,
    /// Show the changed record with each change
    #[arg(long)]
    rows: bool,
    /// Also internal sessions
    #[arg(long)]
    include_internal: bool,
    /// What to do when the changes after the token are no longer kept
    #[arg(long, value_name = "ACTION", value_enum, default_value = "fail")]
    on_expired: OnExpired,
    /// How long the daemon may be silent, 1s to 5m. Default: 10s
    #[arg(long, value_name = "SPAN", value_parser = duration::parse)]
    heartbeat: Option<Duration>,
}

/// What a change is about, by the names of the API.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "SCREAMING_SNAKE_CASE")]
enum Kind {
    Workspace,
    WorkspaceOrder,
    Session,
    AccountOrder,
    Profile,
    Selection,
}

/// What to do about a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OnExpired {
    /// End with an error
    Fail,
    /// Say so, and go on from now
    Resync,
}

pub(crate) async fn run(app: &App, arguments: WatchArguments) -> Result<Exit, Failure> {
    let choices = arguments.selector.choose()?;
    let client = app.client().await?;
    let mut selected = Vec::with_capacity(choices.len());
    for choice in &choices {
        selected.push(choice.select(app, &client).await?);
    }
    let period = arguments.heartbeat.unwrap_or(HEARTBEAT) * HEARTBEATS_OF_A_POSITION;
    let request = request(arguments).workspaces(selected.iter().map(|one| one.reference.clone()));
    let mut watch = client.watch(request.observe(observer(app.printer.clone())));
    let source = selected.first().map(Selected::resolution_source);
    let mut saved = watch.token().map(str::to_owned);
    let mut positions = tokio::time::interval(period);
    loop {
        let event = tokio::select! {
            event = watch.try_next() => event,
            _ = positions.tick() => {
                // Whoever keeps the last token must not be left with one that gets too old while nothing happens.
                let token = watch.token().map(str::to_owned);
                if token != saved && let Some(token) = &token {
                    app.printer.event(&EventView::position(token.clone(), source))?;
                }
                saved = token;
                continue;
            }
            () = reader_gone() => return Err(Failure::ClosedPipe),
        };
        // It ends with an error only.
        let Some(event) = event.map_err(|error| failure(error, &selected))? else {
            return Ok(Exit::Ok);
        };
        saved = watch.token().map(str::to_owned);
        if let Some(view) = EventView::new(event, watch.token(), source) {
            app.printer.event(&view)?;
        }
    }
}

fn request(arguments: WatchArguments) -> WatchRequest {
    let WatchArguments {
        selector: _,
        ungrouped,
        kind,
        from_token,
        snapshot,
        earliest,
        rows,
        include_internal,
        on_expired,
        heartbeat,
    } = arguments;
    let mut request = WatchRequest::new().kinds(kind.into_iter().map(wire_kind));
    if let Some(token) = from_token {
        request = request.resume(token);
    }
    if snapshot {
        request = request.snapshot();
    }
    if earliest {
        request = request.earliest();
    }
    if ungrouped {
        request = request.ungrouped();
    }
    if rows {
        request = request.include_rows();
    }
    if include_internal {
        request = request.include_internal();
    }
    if on_expired == OnExpired::Resync {
        request = request.resync_when_expired();
    }
    match heartbeat {
        Some(heartbeat) => request.heartbeat(heartbeat),
        None => request,
    }
}

/// Tells that the connection is lost and that it is back: once each, not for every attempt, and not at all when
/// the daemon asks to come again and is there.
pub(super) fn observer(printer: Printer) -> impl Fn(&WatchNotice) + Send + Sync {
    let is_told = Mutex::new(false);
    move |notice| {
        let Ok(mut is_told) = is_told.lock() else { return };
        match notice {
            WatchNotice::Reconnecting {
                error: Some(error), ..
            } if !*is_told => {
                *is_told = true;
                let sentence = format!("{error}; trying again");
                tell(&printer, &sentence, &NoticeView::reconnecting(error));
            }
            WatchNotice::Reconnected if *is_told => {
                *is_told = false;
                tell(&printer, "the connection is back", &NoticeView::Reconnected);
            }
            _ => {}
        }
    }
}

fn tell(printer: &Printer, sentence: &str, notice: &NoticeView) {
    if printer.format() == Format::Human {
        return printer.note(sentence);
    }
    // Whoever has gone is noticed with the next event.
    let _ = printer.line(notice);
}

/// Says where a reference comes from when it is the one that failed.
fn failure(error: Error, selected: &[Selected]) -> Failure {
    let is_about_it =
        error.code() == Code::NotFound || error.reason() == ErrorReason::WorkspaceReferenceAmbiguous;
    match selected.first() {
        Some(first) if is_about_it => first.failure(error),
        _ => error.into(),
    }
}

/// Ends when stdout is a pipe that nobody reads any more.
pub(super) async fn reader_gone() {
    loop {
        tokio::time::sleep(READER_CHECK).await;
        let stdout = stdout();
        // Asked for nothing, it tells errors only.
        let mut looked = [PollFd::new(&stdout, PollFlags::empty())];
        let at_once = rustix::event::Timespec::default();
        if poll(&mut looked, Some(&at_once)).is_ok() && looked[0].revents().contains(PollFlags::ERR) {
            return;
        }
    }
}

fn wire_kind(kind: Kind) -> ChangeKind {
    match kind {
        Kind::Workspace => ChangeKind::Workspace,
        Kind::WorkspaceOrder => ChangeKind::WorkspaceOrder,
        Kind::Session => ChangeKind::Session,
        Kind::AccountOrder => ChangeKind::AccountOrder,
        Kind::Profile => ChangeKind::Profile,
        Kind::Selection => ChangeKind::Selection,
    }
}
