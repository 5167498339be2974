//! `compozyd run`: the daemon in the foreground, until a signal or the Shutdown method ends it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{RunArguments, runtime};
use crate::app::{Setup, Starting};
use crate::clock::SystemClock;
use crate::config::{Config, Overrides};
use crate::failure::{Failure, FailureKind};
use crate::home::{self, Finding, Home};
use crate::lock::DaemonLock;
use crate::random::SystemRandom;
use crate::shutdown::Shutdown;
use crate::telemetry::Traces;
use crate::{log, plug};

/// How long the last spans may take when everything else is done.
const LAST_SPANS: Duration = Duration::from_secs(4);

pub(super) fn run(arguments: &RunArguments) -> Result<(), Failure> {
    let runtime = runtime()?;
    // Before anything else: whoever starts a daemon may end it in order from its first moments on.
    let signals = {
        let _inside = runtime.enter();
        Signals::listen()?
    };
    let home = Home::locate()?;
    home::ensure_home(&home)?;
    // From here on nobody else changes this home. Released by the kernel when the process is gone.
    let _lock = DaemonLock::acquire(&home)?;
    home::remove_leftovers(home.path());
    let findings = home::prepare(&home)?;
    let overrides = Overrides {
        listen: arguments.listen.clone(),
        ..Overrides::from_environment()
    };
    let config = Arc::new(Config::load(&home, &overrides)?);
    // Blocking work that hangs on a dead disk must not hold the process.
    let last_chance = Duration::from_secs(1).min(config.drain_timeout / 4);
    let done = runtime.block_on(serve(home, config, findings, signals));
    runtime.shutdown_timeout(last_chance);
    done
}

async fn serve(
    home: Home,
    config: Arc<Config>,
    findings: Vec<Finding>,
    signals: Signals,
) -> Result<(), Failure> {
    let clock: Arc<dyn compozy_domain::Clock> = Arc::new(SystemClock);
    let traces = Traces::begin()?;
    log::begin(&home, &config.log, &clock, traces.as_ref().map(Traces::tracer))?;
    warn(&config, &findings);
    let setup = Setup {
        home,
        config,
        runtime_dir: std::env::var_os("XDG_RUNTIME_DIR")
            .filter(|path| !path.is_empty())
            .map(PathBuf::from),
        clock,
        random: Arc::new(SystemRandom),
    };
    let shutdown = Shutdown::new();
    let done = tokio::select! {
        done = run_app(setup, shutdown.clone()) => done,
        () = signals.obey(shutdown) => Ok(()),
    };
    if let Err(failure) = &done {
        // The person at the terminal is told by the process's last words.
        tracing::error!(target: log::LAST_WORDS, %failure, "ended by a failure");
    }
    if let Some(traces) = traces {
        traces.end(LAST_SPANS).await;
    }
    done
}

/// Runs until the end that `shutdown` begins, be it in the middle of the start.
async fn run_app(setup: Setup, shutdown: Shutdown) -> Result<(), Failure> {
    let draining = shutdown.draining();
    // Names of addresses are looked up here, which may take as long as their server likes.
    let listening = draining
        .run_until_cancelled(Starting::listen(setup, shutdown))
        .await;
    let Some(starting) = listening.transpose()? else {
        return Ok(());
    };
    if let Some(app) = starting.open(plug::open).await? {
        // What could not end in time was cut, as daemon.drain_timeout says; that is an orderly end too.
        let _clean = app.finish().await;
    }
    Ok(())
}

fn warn(config: &Config, findings: &[Finding]) {
    for warning in &config.warnings {
        tracing::warn!(warning, "configuration");
    }
    for finding in findings {
        tracing::warn!(path = %finding.path.display(), problem = finding.problem, "home");
    }
    if !config.store.is_postgres() && !config.store.full_durability {
        tracing::warn!("store.durability = \"normal\": a loss of power may lose the last answered writes");
    }
}

/// The signals that end the process in order.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn listen() -> Result<Self, Failure> {
        let listen = |kind| {
            signal(kind).map_err(|error| {
                Failure::new(
                    FailureKind::Internal,
                    format!("signals can't be received: {error}"),
                )
            })
        };
        Ok(Self {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
        })
    }

    /// The first signal begins the end, the second one ends the patience. Never returns.
    async fn obey(mut self, shutdown: Shutdown) {
        let first = self.next().await;
        shutdown.begin(first);
        self.next().await;
        shutdown.hurry();
        std::future::pending::<()>().await;
    }

    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}
