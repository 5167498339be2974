//! `daemon health`: a probe for scripts. Starts nothing.

use clap::Args;
use compozy_client::{Endpoint, ServingStatus};

use crate::app::{App, Server};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::launch;
use crate::output::HealthView;

/// Probe whether the daemon serves: exit code 0 if it does, 69 if not
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  compozy daemon health && echo it serves")]
pub(crate) struct HealthArguments {
    /// The service to ask about, as in compozy.workspace.v1.WorkspaceService. Default: all
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    service: String,
}

pub(crate) async fn run(app: &App, arguments: &HealthArguments) -> Result<Exit, Failure> {
    let endpoint = match app.server()? {
        Server::Named(endpoint) => endpoint,
        Server::OfHome(home) => {
            if !launch::listens(&home.socket_path()).await {
                let message = format!("no daemon runs on {}", home.path().display());
                return Err(Failure::no_daemon(
                    message,
                    "start one with `compozy daemon start`",
                ));
            }
            Endpoint::of_home(&home)
        }
    };
    let client = app.connect(endpoint)?;
    let status = app
        .wait("asking the daemon", client.check_health(&arguments.service))
        .await?;
    app.printer.answer(&HealthView::new(&arguments.service, status))?;
    Ok(if status == ServingStatus::Serving {
        Exit::Ok
    } else {
        Exit::Unavailable
    })
}
