//! The user's configuration.

use super::{Check, Context, Report};
use crate::accept::{Listener, TlsSource};
use crate::config::Config;
use crate::failure::Failure;

#[derive(Debug)]
pub(super) struct ConfigCheck;

const NAME: &str = "config";

#[tonic::async_trait]
impl Check for ConfigCheck {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn run(&self, context: &Context) -> Result<Vec<Report>, Failure> {
        let path = context.home.config_path();
        let config = match &context.config {
            Ok(config) => config,
            Err(failure) => return Ok(vec![Report::error(NAME, failure.to_string(), "mend the file")]),
        };
        let remedy = "correct or remove the key";
        let mut reports: Vec<Report> = config
            .warnings
            .iter()
            .map(|warning| Report::warning(NAME, warning, remedy))
            .collect();
        for failure in unusable(config).await {
            reports.push(Report::error(NAME, failure.to_string(), remedy));
        }
        if reports.is_empty() {
            let state = if path.exists() {
                "can be used"
            } else {
                "is not there: defaults apply"
            };
            reports.push(Report::ok(NAME, format!("{} {state}", path.display())));
        }
        Ok(reports)
    }
}

/// What a start would refuse although every key has a form that is allowed.
async fn unusable(config: &Config) -> Vec<Failure> {
    let certificates = config.tls.clone().map(TlsSource::load).transpose().err();
    let reaches_out = config.tls.is_some();
    let mut refused: Vec<Failure> = certificates.into_iter().collect();
    // Numbers and health may be told to anybody.
    for (listen, may_reach_out) in [(&config.listen, reaches_out), (&config.telemetry_listen, true)] {
        if let Some(listen) = listen {
            refused.extend(Listener::addresses(listen, may_reach_out).await.err());
        }
    }
    refused
}
