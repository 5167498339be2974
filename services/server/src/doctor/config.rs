//! The user's configuration.

use super::{Check, Context, Report};
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
