//! From checked values, flags and variables to the configuration: precedence, defaults, and what only makes
//! sense together.

use std::path::PathBuf;
use std::time::Duration;

use compozy_domain::{Diagnostic, HostId, Layer, Severity};

use super::values::Values;
use super::{
    Config, Limits, Listen, LogConfig, LogStderr, Overrides, STORE_VARIABLE, SessionsConfig, StoreConfig,
    TlsFiles, WorkspacesConfig, settings,
};
use crate::home::Home;

const HOUR: Duration = Duration::from_secs(3_600);

/// Settles everything.
pub(super) fn settle(home: &Home, values: Values, overrides: &Overrides) -> Result<Config, Vec<Diagnostic>> {
    let mut settling = Settling {
        home,
        values,
        problems: Vec::new(),
    };
    let store = settling.store(overrides);
    let register_home = settling
        .values
        .flag("workspaces.register_home")
        .unwrap_or(!store.is_postgres());
    let allowed_roots = settling.paths("workspaces.allowed_roots");
    let config = Config {
        socket: settling.path("daemon.socket"),
        host_id: settling.host_id(),
        drain_timeout: settling.span("daemon.drain_timeout", Duration::from_secs(20)),
        listen: settling.listen(overrides),
        tls: settling.tls(),
        allowed_origins: settling.values.texts("http.allowed_origins"),
        store,
        workspaces: WorkspacesConfig {
            allowed_roots,
            register_home,
        },
        changes_retain: settling.span("changes.retain", 168 * HOUR),
        changes_retain_entries: settling.count("changes.retain_entries", 1_000_000),
        sessions: SessionsConfig {
            start_timeout: settling.span("session.start_timeout", Duration::from_secs(60)),
            runtime_ttl: settling.span("session.runtime_ttl", Duration::from_secs(30)),
            stale_after: settling.span(
                "agents.heartbeat.session_health_stale_after",
                Duration::from_secs(120),
            ),
            stop_waits: settling.limits().calls / 2,
        },
        memory_auto_create: settling
            .values
            .flag("memory.workspace.auto_create")
            .unwrap_or(true),
        limits: settling.limits(),
        log: settling.log(),
        telemetry_listen: settling.address("telemetry.listen"),
        tokens_file: settling.path("auth.tokens_file"),
        settings: Vec::new(),
        warnings: Vec::new(),
    };
    if settling.problems.is_empty() {
        let settings = settings::of(&config, &settling.values, overrides);
        Ok(Config { settings, ..config })
    } else {
        Err(settling.problems)
    }
}

struct Settling<'h> {
    home: &'h Home,
    values: Values,
    problems: Vec<Diagnostic>,
}

impl Settling<'_> {
    fn span(&self, key: &str, default: Duration) -> Duration {
        self.values.span(key).unwrap_or(default)
    }

    fn count(&self, key: &str, default: u64) -> u64 {
        self.values.count(key).unwrap_or(default)
    }

    /// The table of keys holds the range, so a count always fits.
    fn size(&self, key: &str, default: usize) -> usize {
        self.values
            .count(key)
            .and_then(|count| usize::try_from(count).ok())
            .unwrap_or(default)
    }

    fn address(&self, key: &'static str) -> Option<Listen> {
        self.values.text(key).map(|address| Listen {
            address: address.to_owned(),
            key,
        })
    }

    fn path(&mut self, key: &str) -> Option<PathBuf> {
        let text = self.values.text(key)?.to_owned();
        self.absolute(key, &text)
    }

    fn paths(&mut self, key: &str) -> Vec<PathBuf> {
        let texts = self.values.texts(key);
        texts.iter().filter_map(|text| self.absolute(key, text)).collect()
    }

    fn absolute(&mut self, key: &str, text: &str) -> Option<PathBuf> {
        let path = match text.split_once('/').unwrap_or((text, "")) {
            ("$COMPOZY_HOME", rest) => self.home.path().join(rest),
            ("~", rest) => std::env::home_dir().unwrap_or_default().join(rest),
            _ => PathBuf::from(text),
        };
        if path.is_absolute() {
            return Some(path);
        }
        // The form was checked; what is left is a user without a home directory.
        let problem = format!("`{key}` leads to no absolute path: there is no home directory for ~");
        self.problem(key, problem, "write an absolute path");
        None
    }

    /// The form was checked when the file was read.
    fn host_id(&self) -> Option<HostId> {
        HostId::parse(self.values.text("daemon.host_id")?)
    }

    fn problem(&mut self, key: &str, message: impl Into<String>, remedy: &str) {
        let path = self.home.config_path().to_string_lossy().into_owned();
        let found = Diagnostic::new(
            "config_bad_value",
            Severity::Error,
            Layer::User,
            path,
            message,
            remedy,
        );
        let found = found.about(key);
        self.problems.push(match self.values.place(key) {
            Some((line, column)) => found.at(line, column),
            None => found,
        });
    }

    /// The flag wins over `grpc.listen`, which wins over `http.port`.
    fn listen(&mut self, overrides: &Overrides) -> Option<Listen> {
        if let Some(address) = &overrides.listen {
            return Some(Listen {
                address: address.clone(),
                key: "--listen",
            });
        }
        if let Some(listen) = self.address("grpc.listen") {
            return Some(listen);
        }
        let port = self.values.count("http.port")?;
        let host = self.values.text("http.host").unwrap_or("localhost");
        let bracketed = host.contains(':') && !host.starts_with('[');
        let host = if bracketed {
            format!("[{host}]")
        } else {
            host.to_owned()
        };
        Some(Listen {
            address: format!("{host}:{port}"),
            key: "http.host",
        })
    }

    fn tls(&mut self) -> Option<TlsFiles> {
        let (cert, key) = (self.path("grpc.tls.cert"), self.path("grpc.tls.key"));
        let client_ca = self.path("grpc.tls.client_ca");
        match (cert, key) {
            (Some(cert), Some(key)) => Some(TlsFiles { cert, key, client_ca }),
            (None, None) if client_ca.is_none() => None,
            _ => {
                let keys = ["grpc.tls.cert", "grpc.tls.key", "grpc.tls.client_ca"];
                let last = keys.into_iter().max_by_key(|key| self.values.place(key));
                let message = "`grpc.tls.cert` and `grpc.tls.key` have to be set together";
                self.problem(
                    last.unwrap_or("grpc.tls.cert"),
                    message,
                    "set both, or none of grpc.tls",
                );
                None
            }
        }
    }

    fn store(&mut self, overrides: &Overrides) -> StoreConfig {
        let (key, text) = match &overrides.store_url {
            Some(url) => (STORE_VARIABLE, Some(url.as_str())),
            None => ("store.url", self.values.text("store.url")),
        };
        let url = match text {
            None => format!("sqlite://{}", self.home.catalog_path().display()),
            Some(text) => text.replacen("$COMPOZY_HOME", &self.home.path().to_string_lossy(), 1),
        };
        let sqlite_file = url.strip_prefix("sqlite://").map(|file| file.starts_with('/'));
        let postgres = url.starts_with("postgres://") || url.starts_with("postgresql://");
        if !sqlite_file.unwrap_or(postgres) {
            // The text may hold a password, so it is not repeated.
            let message = format!("`{key}` has to be sqlite:///absolute/path or postgres://...");
            self.problem(key, message, "correct its value");
        }
        StoreConfig {
            url,
            full_durability: self.values.text("store.durability") != Some("normal"),
            transaction_pooler: self.values.text("store.pooler") == Some("transaction"),
        }
    }

    fn limits(&self) -> Limits {
        Limits {
            connections: self.size("limits.connections", 1_024),
            streams_per_connection: u32::try_from(self.count("limits.streams_per_connection", 256))
                .unwrap_or(256),
            watchers: self.size("limits.watchers", 4_096),
            handshakes: self.size("limits.handshakes", 64),
            handshake_timeout: self.span("grpc.handshake_timeout", Duration::from_secs(10)),
            calls: self.size("limits.calls", 1_024),
            calls_per_second: u32::try_from(self.count("limits.calls_per_second", 0)).unwrap_or(0),
            connection_age: self.span("grpc.connection_age", HOUR),
            connection_age_grace: self.span("grpc.connection_age_grace", Duration::from_secs(60)),
            keepalive_interval: self.span("grpc.keepalive_interval", Duration::from_secs(60)),
            keepalive_timeout: self.span("grpc.keepalive_timeout", Duration::from_secs(20)),
        }
    }

    fn log(&mut self) -> LogConfig {
        let level = self.values.text("log.level").unwrap_or("info").to_owned();
        if level.parse::<tracing_subscriber::filter::Targets>().is_err() {
            let message = "`log.level` has to be error, warn, info, debug or trace";
            self.problem("log.level", message, "correct its value");
        }
        let stderr = match self.values.text("log.stderr") {
            Some("text") => LogStderr::Text,
            Some("json") => LogStderr::Json,
            Some("none") => LogStderr::None,
            _ => LogStderr::Auto,
        };
        LogConfig {
            level,
            max_bytes: self.count("log.max_bytes", 32 * 1024 * 1024),
            max_age: self.span("log.max_age", 168 * HOUR),
            keep: self.size("log.keep", 8),
            stderr,
        }
    }
}
