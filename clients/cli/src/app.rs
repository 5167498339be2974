//! What every command has at hand: the options, the printer, the way to the daemon.

use std::future::Future;

use compozy_client::{Client, Endpoint, Home, Tls};

use crate::arguments::Globals;
use crate::failure::Failure;
use crate::launch;
use crate::output::{self, Printer};

/// One run of the command line.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) globals: Globals,
    pub(crate) printer: Printer,
}

/// Which server is meant.
#[derive(Debug)]
pub(crate) enum Server {
    /// `--server` or `COMPOZY_SERVER`.
    Named(Endpoint),
    /// The daemon of the home, which may have to be started.
    OfHome(Home),
}

impl App {
    pub(crate) fn new(globals: Globals, printer: Printer) -> Self {
        Self { globals, printer }
    }

    pub(crate) fn server(&self) -> Result<Server, Failure> {
        if let Some(text) = &self.globals.server {
            return Ok(Server::Named(Endpoint::parse(text)?));
        }
        match Endpoint::from_environment()? {
            Some(endpoint) => Ok(Server::Named(endpoint)),
            None => Ok(Server::OfHome(Home::locate()?)),
        }
    }

    /// The home of a command that works on files of this machine: a named server is none of its business.
    pub(crate) fn own_home(&self, what: &str) -> Result<Home, Failure> {
        match &self.globals.server {
            None => Ok(Home::locate()?),
            Some(server) => Err(Failure::usage(
                format!("{what} the home of this machine, not {server}"),
                "leave out --server, or run it where that daemon's home is",
            )),
        }
    }

    /// Refuses a named server where only files of this machine are looked at.
    pub(crate) fn on_this_machine(&self, what: &str) -> Result<(), Failure> {
        match &self.globals.server {
            None => Ok(()),
            Some(server) => Err(Failure::usage(
                format!("{what} looks at files of this machine and asks no daemon, also not {server}"),
                "leave out --server",
            )),
        }
    }

    /// A client of a daemon that runs: the home's own is started when it does not.
    pub(crate) async fn client(&self) -> Result<Client, Failure> {
        match self.server()? {
            Server::Named(endpoint) => self.connect(endpoint),
            Server::OfHome(home) => {
                self.ensure_running(&home).await?;
                self.connect(Endpoint::of_home(&home))
            }
        }
    }

    /// A client of this very endpoint. Nothing is started, nothing is sent yet.
    pub(crate) fn connect(&self, endpoint: Endpoint) -> Result<Client, Failure> {
        let Globals {
            token_file,
            ca,
            cert,
            key,
            ..
        } = &self.globals;
        let tls = Tls {
            ca: ca.clone(),
            certificate: cert.clone(),
            key: key.clone(),
        };
        let mut builder = Client::builder()
            .endpoint(endpoint)
            .program("compozy-cli", env!("CARGO_PKG_VERSION"));
        builder = builder.tls(tls);
        if let Some(path) = token_file {
            builder = builder.token_file(path);
        }
        Ok(builder.build()?)
    }

    /// Waits for somebody else, with a spinner when it takes long and a person looks on.
    pub(crate) async fn wait<T>(&self, doing: &'static str, work: impl Future<Output = T>) -> T {
        // On the heap: a call with its message is large, and would be copied from layer to layer.
        output::spinner::during(doing, Box::pin(work)).await
    }

    /// Whether the daemon looks at the disk of this machine, so that a path means the same to both.
    pub(crate) async fn is_on_this_host(&self, client: &Client) -> Result<bool, Failure> {
        if client.endpoint().starts_with("unix://") {
            return Ok(true);
        }
        let Some(own) = Home::locate().ok().and_then(|home| launch::host_id(&home)) else {
            return Ok(false);
        };
        let info = self
            .wait("asking which host the daemon is on", client.get_server_info())
            .await?;
        Ok(info.host_id == own)
    }

    async fn ensure_running(&self, home: &Home) -> Result<(), Failure> {
        if launch::answers(home).await {
            let is_there = !launch::has_just_started(home)
                || self
                    .wait("waiting for the daemon", launch::wait_for_start(home))
                    .await;
            if is_there {
                return Ok(());
            }
        }
        if self.globals.no_autostart {
            let message = format!("no daemon runs on {}", home.path().display());
            return Err(Failure::no_daemon(
                message,
                "start one with `compozy daemon start`",
            ));
        }
        self.wait("starting the daemon", launch::start(home)).await
    }
}
