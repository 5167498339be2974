//! The daemons of a lap: homes that share a disk and, if there are several, a Postgres of their own.

use std::path::PathBuf;
use std::process::Command;

use compozy_client::Client;
use compozy_e2e::{Daemon, Database, Engine, Environment, PostgresServer};
use futures::future::join_all;

use crate::log_reader::Source;

/// What runs in a lap.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    /// One is on SQLite, several are on Postgres, unless it says so.
    pub(crate) servers: usize,
    pub(crate) on_postgres: bool,
    /// The daemon, if it is not the shipped one.
    pub(crate) program: Option<PathBuf>,
    /// Variables for it.
    pub(crate) variables: Vec<(&'static str, String)>,
    /// More of each `config.toml`.
    pub(crate) config: String,
}

/// The daemons and what they stand on.
#[derive(Debug)]
pub(crate) struct Servers {
    pub(crate) daemons: Vec<Daemon>,
    pub(crate) environments: Vec<Environment>,
    pub(crate) source: Source,
    setting: Setting,
    // Behind all that uses it.
    pub(crate) postgres: Option<PostgresServer>,
}

impl Servers {
    /// Starts them; `None`, said aloud, where there is no Postgres.
    pub(crate) async fn start(test: &str, setting: &Setting) -> Option<Self> {
        let mut postgres = None;
        let engine = if setting.on_postgres {
            let server = PostgresServer::start_without_sync(test)?;
            let engine = Engine::Postgres(Database::on(&server.url()));
            postgres = Some(server);
            engine
        } else {
            Engine::Sqlite
        };
        let config = format!(
            // Nothing happens to a session by itself: every entry is some writer's.
            "[daemon]\nhost_id = \"h1\"\n[workspaces]\nregister_home = false\n\
             [session]\nstart_timeout = \"1h\"\n[agents.heartbeat]\nsession_health_stale_after = \"1h\"\n{}",
            setting.config
        );
        let mut first = Environment::bare(engine);
        first.configure(&config);
        for (name, value) in &setting.variables {
            first.set(name, value);
        }
        let source = Source::of(&first, setting.on_postgres);
        let mut environments = vec![first];
        for _ in 1..setting.servers {
            let beside = environments[0].beside(&config);
            environments.push(beside);
        }
        let mut servers = Self {
            daemons: Vec::new(),
            environments,
            source,
            setting: setting.clone(),
            postgres,
        };
        // The first makes the catalog.
        servers.daemons.push(servers.start_one(0).await);
        let others = (1..servers.setting.servers).map(|number| servers.start_one(number));
        let others = join_all(others).await;
        servers.daemons.extend(others);
        Some(servers)
    }

    /// Runs a subcommand of the daemon on the first home, and waits for its success.
    pub(crate) fn run(&self, arguments: &[&str]) {
        let output = self.command(0).args(arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    /// A client for each.
    pub(crate) fn clients(&self) -> Vec<Client> {
        self.environments.iter().map(Environment::client).collect()
    }

    /// The socket of each.
    pub(crate) fn sockets(&self) -> Vec<PathBuf> {
        let sockets = self
            .environments
            .iter()
            .map(|one| one.client_home().socket_path());
        sockets.collect()
    }

    /// Starts one again that has ended.
    pub(crate) async fn restart(&mut self, number: usize) {
        self.daemons[number] = self.start_one(number).await;
    }

    async fn start_one(&self, number: usize) -> Daemon {
        Daemon::start_command(&self.environments[number], self.command(number)).await
    }

    fn command(&self, number: usize) -> Command {
        let environment = &self.environments[number];
        match &self.setting.program {
            None => environment.command("compozyd"),
            Some(program) => {
                let mut command = Command::new(program);
                environment.apply(&mut command);
                command
            }
        }
    }
}
