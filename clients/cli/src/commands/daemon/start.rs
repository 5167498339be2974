//! `daemon start`: in the background, and only if none runs.

use compozy_client::Endpoint;

use crate::app::{App, Server};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::launch;
use crate::output::StartedView;

pub(crate) async fn run(app: &App) -> Result<Exit, Failure> {
    let home = match app.server()? {
        Server::OfHome(home) => home,
        Server::Named(endpoint) => {
            let message = format!("a daemon is started on this home, not at {endpoint}");
            return Err(Failure::usage(
                message,
                "leave out --server, and unset COMPOZY_SERVER",
            ));
        }
    };
    let started = !launch::listens(&home.socket_path()).await;
    if started {
        app.wait("starting the daemon", launch::start(&home)).await?;
    }
    let client = app.connect(Endpoint::of_home(&home))?;
    let info = app.wait("asking the daemon", client.get_server_info()).await?;
    let server = client.endpoint().to_owned();
    app.printer.answer(&StartedView {
        started,
        pid: info.process_id,
        server,
    })?;
    Ok(Exit::Ok)
}
