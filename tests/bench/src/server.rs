//! The daemon under measurement: on a core of its own, reached over TCP.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::time::{Duration, Instant};

use compozy_client::ServingStatus;
use compozy_e2e::{Daemon, Database, Engine, Environment, PostgresServer, utf8};

use crate::catalog_sessions::fill_sessions;
use crate::stream::source::Source;
use crate::stream::writer::Target;
use crate::wire::{Token, Wire, channel};
use crate::wire_sessions::SessionWire;
use crate::{catalog, cpu};

/// Whose disk the rows lie on.
pub(crate) const HOST: &str = "bench";

/// Both engines, the second one as the run's own server.
#[derive(Debug)]
pub(crate) struct Engines {
    pub(crate) postgres: PostgresServer,
}

impl Engines {
    /// A database server with the durability that it has by default, on the core of whoever asks.
    pub(crate) fn start() -> Self {
        let postgres = PostgresServer::start("bench");
        Self {
            postgres: postgres
                .expect("COMPOZY_TEST_POSTGRES_BIN names the programs: run `cargo xtask bench`"),
        }
    }
}

/// A home, its store, and the daemon when it runs.
#[derive(Debug)]
pub(crate) struct Server {
    // In front of the environment, which ends daemons with a look at all processes.
    child: Option<Running>,
    pub(crate) environment: Environment,
    on_postgres: bool,
    port: u16,
}

#[derive(Debug)]
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Server {
    /// A fresh catalog with this many rows; its daemon does not run.
    pub(crate) async fn with_rows(engines: &Engines, engine: &'static str, count: usize) -> Self {
        let on_postgres = engine == "Postgres";
        let environment = Environment::on(if on_postgres {
            Engine::Postgres(Database::on(&engines.postgres.url()))
        } else {
            Engine::Sqlite
        });
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        environment.configure(&format!(
            "[daemon]\nhost_id = \"{HOST}\"\n[grpc]\nlisten = \"127.0.0.1:{port}\"\n[log]\nlevel = \"warn\"\n\
             [limits]\nwatchers = 20000\n\
             [workspaces]\nregister_home = false\nallowed_roots = [\"{}\"]\n",
            utf8(&environment.work)
        ));
        let mut server = Self {
            child: None,
            environment,
            on_postgres,
            port,
        };
        server.start().await;
        server.stop();
        if count > 0 {
            catalog::fill(&server.environment, on_postgres, count);
        }
        server
    }

    /// A fresh catalog with this many sessions; its daemon does not run.
    pub(crate) async fn with_sessions(engines: &Engines, engine: &'static str, count: usize) -> Self {
        let server = Self::with_rows(engines, engine, 0).await;
        fill_sessions(&server.environment, server.on_postgres, count);
        server
    }

    /// A connection of its own to the session catalog.
    pub(crate) async fn connect_to_sessions(&self) -> SessionWire {
        SessionWire::new(channel(self.address()).await, Token::new(&self.token()))
    }

    /// Adds entries to the change log of a daemon that does not run.
    pub(crate) fn fill_log(&self, count: usize) {
        catalog::fill_log(&self.environment, self.on_postgres, count);
    }

    /// Starts the daemon and answers the time from exec until it served.
    pub(crate) async fn start(&mut self) -> Duration {
        if self.environment.home.join("host.toml").exists()
            || self.environment.home.join("daemon.lock").exists()
        {
            catalog::put_observer_off(&self.environment, self.on_postgres);
        }
        let command = self.environment.command("compozyd");
        let begun = Instant::now();
        let child = cpu::on(cpu::Core::Measured, || Daemon::spawn(&self.environment, command));
        self.child = Some(Running(child));
        let socket = self.environment.home.join("daemon.sock");
        while UnixStream::connect(&socket).is_err() {
            assert!(
                begun.elapsed() < Duration::from_secs(30),
                "the daemon does not listen"
            );
            std::thread::sleep(Duration::from_micros(200));
        }
        let client = self.environment.client();
        while client.check_health("").await.unwrap() != ServingStatus::Serving {
            assert!(
                begun.elapsed() < Duration::from_secs(30),
                "the daemon does not serve"
            );
            tokio::time::sleep(Duration::from_micros(500)).await;
        }
        begun.elapsed()
    }

    /// Ends the daemon.
    pub(crate) fn stop(&mut self) {
        self.child = None;
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.as_ref().expect("it runs").0.id()
    }

    /// A connection of its own.
    pub(crate) async fn connect(&self) -> Wire {
        Wire::connect(self.address(), &self.token()).await
    }

    /// Its streams of changes.
    pub(crate) fn source(&self) -> Source {
        Source::daemon(self.address(), &self.token(), self.pid())
    }

    /// Writes that its streams tell of.
    pub(crate) fn target(&self) -> Target {
        Target::Daemon {
            address: self.address(),
            token: self.token(),
        }
    }

    fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.port))
    }

    fn token(&self) -> String {
        let token = fs::read_to_string(self.environment.home.join("client.token")).unwrap();
        token.trim().to_owned()
    }
}
