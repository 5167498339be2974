//! `daemon status`: whether one runs, and which. Starts none.

use compozy_client::proto::admin::v1::admin_service_server::SERVICE_NAME as ADMIN;
use compozy_client::proto::admin::v1::{GetServerInfoResponse, StoreKind};
use compozy_client::proto::change::v1::catalog_change_service_server::SERVICE_NAME as CHANGES;
use compozy_client::proto::profile::v1::profile_service_server::SERVICE_NAME as PROFILES;
use compozy_client::proto::workspace::v1::workspace_service_server::SERVICE_NAME as WORKSPACES;
use compozy_client::{Client, Code, Endpoint};

use crate::app::{App, Server};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::launch;
use crate::output::time::Time;
use crate::output::{ServiceView, StatusView};

pub(crate) async fn run(app: &App) -> Result<Exit, Failure> {
    let endpoint = match app.server()? {
        Server::Named(endpoint) => endpoint,
        Server::OfHome(home) => {
            let endpoint = Endpoint::of_home(&home);
            if !launch::listens(&home.socket_path()).await {
                app.printer.answer(&not_running(&endpoint))?;
                return Ok(Exit::Ok);
            }
            endpoint
        }
    };
    let client = app.connect(endpoint.clone())?;
    let view = app
        .wait("asking the daemon", look(&client, not_running(&endpoint)))
        .await?;
    app.printer.answer(&view)?;
    Ok(Exit::Ok)
}

/// What is known without asking anybody.
fn not_running(endpoint: &Endpoint) -> StatusView {
    let socket = endpoint.socket_path().map(|path| path.display().to_string());
    StatusView {
        server: endpoint.to_string(),
        socket,
        ..StatusView::default()
    }
}

async fn look(client: &Client, mut view: StatusView) -> Result<StatusView, Failure> {
    view.running = true;
    for service in ["", WORKSPACES, PROFILES, CHANGES, ADMIN] {
        view.services
            .push(ServiceView::new(service, client.check_health(service).await?));
    }
    match client.get_server_info().await {
        Ok(info) => describe(&mut view, info),
        // A daemon without its store cannot tell everything; that it runs is worth telling then.
        Err(error) if error.code() == Code::Unavailable => {}
        Err(error) => return Err(error.into()),
    }
    Ok(view)
}

fn describe(view: &mut StatusView, info: GetServerInfoResponse) {
    let backend = match info.store_kind() {
        StoreKind::Unspecified => "UNSPECIFIED",
        StoreKind::Sqlite => "SQLITE",
        StoreKind::Postgres => "POSTGRES",
    };
    let GetServerInfoResponse {
        version,
        catalog_id,
        host_id,
        store_kind: _,
        limits: _,
        directory_picker: _,
        started_at,
        process_id,
    } = info;
    view.pid = Some(process_id);
    view.version = Some(version);
    view.backend = Some(backend);
    view.catalog_id = Some(catalog_id);
    view.host_id = Some(host_id);
    view.started_at = started_at.and_then(|time| Time::new(time.seconds, time.nanos));
    view.uptime_seconds = view.started_at.map(|time| time.age().as_secs());
}
