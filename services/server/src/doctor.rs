//! Is everything as it should be? Each check looks at one thing and says what to do; a check that fails to run is
//! itself a report, and the others go on. Nothing is written unless `--fix` asks for it.

mod catalog;
mod config;
mod daemon;
mod home;
mod identity;
mod log;
mod profiles;
mod workspaces;

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use compozy_domain::Clock;
use futures::FutureExt;
use serde::Serialize;

use crate::config::{Config, Overrides};
use crate::failure::Failure;
use crate::home::Home;

/// How long most checks may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// As it should be.
    Ok,
    /// Works, but somebody should look.
    Warning,
    /// Does not work, or is not safe.
    Error,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The check.
    pub name: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What was found, with the path or id.
    pub message: String,
    /// What to do; empty when there is nothing to do.
    pub remedy: String,
}

impl Report {
    /// All is well.
    pub fn ok(name: &'static str, message: impl Into<String>) -> Self {
        Self {
            name,
            severity: Severity::Ok,
            message: message.into(),
            remedy: String::new(),
        }
    }

    /// Somebody should look.
    pub fn warning(name: &'static str, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            name,
            severity: Severity::Warning,
            message: message.into(),
            remedy: remedy.into(),
        }
    }

    /// Something is wrong.
    pub fn error(name: &'static str, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            name,
            severity: Severity::Error,
            message: message.into(),
            remedy: remedy.into(),
        }
    }
}

/// What checks look at.
#[derive(Debug, Clone)]
pub struct Context {
    /// The home.
    pub home: Home,
    /// The configuration, if it can be used.
    pub config: Result<Arc<Config>, Failure>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Whether to mend what can be mended safely.
    pub fix: bool,
}

impl Context {
    /// Reads the configuration of a home.
    #[must_use]
    pub fn new(home: Home, clock: Arc<dyn Clock>, fix: bool) -> Self {
        let config = Config::load(&home, &Overrides::from_environment()).map(Arc::new);
        Self {
            home,
            config,
            clock,
            fix,
        }
    }
}

/// One check.
#[tonic::async_trait]
pub trait Check: Send + Sync + fmt::Debug {
    /// Its name, one word.
    fn name(&self) -> &'static str;

    /// How long it may take.
    fn patience(&self) -> Duration {
        PATIENCE
    }

    /// Looks. Says at least one thing.
    ///
    /// # Errors
    /// When it can't look; that becomes a report too.
    async fn run(&self, context: &Context) -> Result<Vec<Report>, Failure>;
}

/// Every check, in the order in which a person should read them.
#[must_use]
pub fn checks() -> Vec<Box<dyn Check>> {
    vec![
        Box::new(home::HomeCheck),
        Box::new(config::ConfigCheck),
        Box::new(identity::HostCheck),
        Box::new(identity::TokenCheck),
        Box::new(daemon::LockCheck),
        Box::new(daemon::SocketCheck),
        Box::new(log::LogCheck),
        Box::new(catalog::CatalogCheck),
        Box::new(catalog::ClockCheck),
        Box::new(catalog::IntentCheck),
        Box::new(workspaces::IdentityFileCheck),
        Box::new(profiles::ProfileDirectoryCheck),
    ]
}

/// Runs checks, each whatever the others do.
pub async fn examine(checks: &[Box<dyn Check>], context: &Context) -> Vec<Report> {
    let mut reports = Vec::new();
    for check in checks {
        let run = AssertUnwindSafe(check.run(context)).catch_unwind();
        let failed = match tokio::time::timeout(check.patience(), run).await {
            Ok(Ok(Ok(found))) => {
                reports.extend(found);
                continue;
            }
            Ok(Ok(Err(failure))) => failure.to_string(),
            Ok(Err(_panic)) => "it panicked, which is a defect of this program".to_owned(),
            Err(_) => format!("it took longer than {} s", check.patience().as_secs()),
        };
        let message = format!("this check could not be run: {failed}");
        reports.push(Report::error(
            check.name(),
            message,
            "mend that and run doctor again",
        ));
    }
    reports
}

#[cfg(test)]
mod tests;
