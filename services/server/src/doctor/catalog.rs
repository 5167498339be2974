//! The catalog: whether it can be used, what is wrong in it, whether its times can be.

use std::time::Duration;

use compozy_store::{CatalogStore as _, IntentStore as _, SessionStore as _, SqlStore};

use super::{Check, Context, Report};
use crate::clock::rfc3339;
use crate::failure::{Failure, FailureKind};
use crate::random::SystemRandom;
use crate::{lock, plug};

/// A big catalog is read completely.
const PATIENCE: Duration = Duration::from_secs(10 * 60);
/// Clocks of several machines never agree quite.
const CLOCK_SLACK: Duration = Duration::from_secs(5 * 60);

/// Where a check of something in the catalog begins.
pub(super) enum Look {
    /// It is open.
    Open(Box<SqlStore>),
    /// There is nothing to look at; this says why.
    Nothing(Report),
}

/// Opens the catalog for a check that is not about the catalog itself: that one says what is wrong with it.
pub(super) async fn look(context: &Context, name: &'static str) -> Look {
    match open(context).await {
        Ok(Some(store)) => Look::Open(Box::new(store)),
        Ok(None) => Look::Nothing(Report::ok(name, "there is no catalog yet")),
        Err(_) => Look::Nothing(Report::warning(
            name,
            "not looked at, because the catalog can't be opened",
            "do what the check 'catalog' says and run doctor again",
        )),
    }
}

/// The host whose disk a daemon of this home looks at; `None` if it looks at none, or was never started.
pub(super) fn own_host(context: &Context) -> Option<compozy_domain::HostId> {
    let configured = context
        .config
        .as_ref()
        .ok()
        .and_then(|config| config.host_id.clone());
    let own = configured.or_else(|| crate::host::read(&context.home).ok().flatten());
    own.filter(|host| !host.is_none())
}

/// A check that the store could not answer.
pub(super) fn unanswered(error: &compozy_store::Error) -> Failure {
    Failure::new(
        FailureKind::Unavailable,
        format!("the catalog can't be read: {error}"),
    )
}

async fn open(context: &Context) -> Result<Option<SqlStore>, Failure> {
    let config = context.config.clone()?;
    plug::look_at(&config.store, context.clock.as_ref(), &SystemRandom).await
}

#[derive(Debug)]
pub(super) struct CatalogCheck;

#[tonic::async_trait]
impl Check for CatalogCheck {
    fn name(&self) -> &'static str {
        "catalog"
    }

    fn patience(&self) -> Duration {
        PATIENCE
    }

    async fn run(&self, context: &Context) -> Result<Vec<Report>, Failure> {
        let store = match open(context).await {
            Ok(Some(store)) => store,
            Ok(None) => {
                let message = "there is no catalog yet: the first start of compozyd makes it";
                return Ok(vec![Report::ok(self.name(), message)]);
            }
            Err(failure) if context.config.is_err() => return Err(failure),
            Err(failure) => {
                let remedy = match failure.kind() {
                    FailureKind::Unavailable | FailureKind::Away => {
                        "see that the database answers, then run doctor again"
                    }
                    FailureKind::Config => "install a newer release of compozyd",
                    _ => "mend that, or restore a backup, then run doctor again",
                };
                return Ok(vec![Report::error(self.name(), failure.to_string(), remedy)]);
            }
        };
        let mut reports = Vec::new();
        if context.fix {
            reports.extend(mend_counts(context).await?);
        }
        let examined = store.examine().await;
        store.close().await;
        for finding in examined.map_err(|error| unanswered(&error))? {
            reports.push(if finding.is_error {
                Report::error(self.name(), finding.message, finding.remedy)
            } else {
                Report::warning(self.name(), finding.message, finding.remedy)
            });
        }
        if reports.is_empty() {
            let place = context
                .config
                .as_ref()
                .map_or("", |config| plug::place(&config.store));
            let message = format!("{place}: schema, rows and change log are right");
            reports.push(Report::ok(self.name(), message));
        }
        Ok(reports)
    }
}

/// Puts kept numbers of sessions right, beside the daemon if one serves.
async fn mend_counts(context: &Context) -> Result<Option<Report>, Failure> {
    let config = context.config.clone()?;
    let store = plug::maintain(&config.store, context.clock.as_ref(), &SystemRandom).await?;
    let differed = store.recount_sessions().await;
    store.close().await;
    let differed = differed.map_err(|error| unanswered(&error))?;
    let message = format!("{differed} kept numbers of sessions were put right");
    Ok((differed > 0).then(|| Report::ok("catalog", message)))
}

#[derive(Debug)]
pub(super) struct ClockCheck;

#[tonic::async_trait]
impl Check for ClockCheck {
    fn name(&self) -> &'static str {
        "clock"
    }

    async fn run(&self, context: &Context) -> Result<Vec<Report>, Failure> {
        let store = match look(context, self.name()).await {
            Look::Open(store) => store,
            Look::Nothing(report) => return Ok(vec![report]),
        };
        let newest = store.newest_at().await;
        store.close().await;
        let (newest, now) = (newest.map_err(|error| unanswered(&error))?, context.clock.now());
        if newest <= now.plus(CLOCK_SLACK) {
            return Ok(vec![Report::ok(self.name(), "no record is of the future")]);
        }
        let message = format!(
            "the clock says {}, the newest record is of {}",
            rfc3339(now),
            rfc3339(newest)
        );
        let remedy =
            "set the clock; if it is right, the catalog was written with a wrong one, which does no harm";
        Ok(vec![Report::warning(self.name(), message, remedy)])
    }
}

#[derive(Debug)]
pub(super) struct IntentCheck;

#[tonic::async_trait]
impl Check for IntentCheck {
    fn name(&self) -> &'static str {
        "unfinished"
    }

    async fn run(&self, context: &Context) -> Result<Vec<Report>, Failure> {
        let store = match look(context, self.name()).await {
            Look::Open(store) => store,
            Look::Nothing(report) => return Ok(vec![report]),
        };
        let Some(host) = own_host(context) else {
            store.close().await;
            return Ok(vec![Report::ok(self.name(), "this home looks at no disk")]);
        };
        // Nobody is called that, so on SQLite those of a running daemon count too.
        let found = store
            .abandoned_intents(&host, "doctor", context.clock.now())
            .await;
        store.close().await;
        let message = match found.map_err(|error| unanswered(&error))?.len() {
            0 => "no change of an identity file was cut off".to_owned(),
            count if lock::holder(&context.home).is_some() => {
                format!(
                    "changes of identity files that are under way or were cut off: {count}; the daemon settles them"
                )
            }
            count => {
                format!("changes of identity files that were cut off: {count}; the next start settles them")
            }
        };
        Ok(vec![Report::ok(self.name(), message)])
    }
}
