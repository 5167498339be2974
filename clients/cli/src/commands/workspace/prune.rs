//! `workspace prune`: registrations whose directories have been gone for long.

use std::time::Duration;

use clap::Args;
use compozy_client::proto::workspace::v1::PruneWorkspacesRequest;

use crate::app::App;
use crate::duration;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::PruneView;

/// Remove the registrations whose directories have been missing for a while
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  compozy workspace prune --dry-run\n  compozy workspace prune --missing-for 90d"
)]
pub(crate) struct PruneArguments {
    /// For how long the directory has to have been missing, as in 30d, 12h or 1h30m; at
    /// least 1m
    #[arg(long, value_name = "SPAN", default_value = "30d", value_parser = duration::parse)]
    missing_for: Duration,
    /// Remove nothing, and show what would be removed
    #[arg(long)]
    dry_run: bool,
}

pub(crate) async fn run(app: &App, arguments: &PruneArguments) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let seconds = i64::try_from(arguments.missing_for.as_secs()).unwrap_or(i64::MAX);
    let request = PruneWorkspacesRequest {
        missing_for: Some(prost_types::Duration { seconds, nanos: 0 }),
        validate_only: arguments.dry_run,
        request_id: String::new(),
    };
    let mut view = PruneView::from(
        app.wait("pruning", client.prune_workspaces(request.clone()))
            .await?,
    );
    view.is_trial = arguments.dry_run;
    // One call removes a bounded number. A trial would name the same ones again.
    let mut before = 0;
    while view.has_more() && !arguments.dry_run && view.count() > before {
        before = view.count();
        let further = app
            .wait("pruning", client.prune_workspaces(request.clone()))
            .await?;
        view.extend(PruneView::from(further));
    }
    app.printer.answer(&view)?;
    Ok(Exit::Ok)
}
