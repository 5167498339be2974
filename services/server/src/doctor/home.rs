//! Directories and modes of the home.

use super::{Check, Context, Report};
use crate::failure::Failure;
use crate::home::{Finding, Remedy, findings, prepare};

#[derive(Debug)]
pub(super) struct HomeCheck;

const NAME: &str = "home";

#[tonic::async_trait]
impl Check for HomeCheck {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn run(&self, context: &Context) -> Result<Vec<Report>, Failure> {
        let home = &context.home;
        if !home.path().exists() {
            let message = format!("{} does not exist", home.path().display());
            return Ok(vec![Report::error(
                NAME,
                message,
                "start compozyd, which makes it",
            )]);
        }
        let before = findings(home)?;
        if before.is_empty() {
            let message = format!("{}: directories and modes are right", home.path().display());
            return Ok(vec![Report::ok(NAME, message)]);
        }
        if !context.fix {
            return Ok(before.iter().map(report).collect());
        }
        let after = prepare(home)?;
        let mended = before.iter().filter(|finding| !after.contains(finding));
        let mut reports: Vec<Report> = mended
            .map(|finding| {
                Report::ok(
                    NAME,
                    format!("mended: {} {}", finding.path.display(), finding.problem),
                )
            })
            .collect();
        reports.extend(after.iter().map(report));
        Ok(reports)
    }
}

fn report(finding: &Finding) -> Report {
    let message = format!("{} {}", finding.path.display(), finding.problem);
    let remedy = match finding.remedy {
        Remedy::Prepare => "run `compozyd doctor --fix`, or start compozyd again",
        Remedy::Person => "move it away; the next start makes a new one",
    };
    Report::error(NAME, message, remedy)
}
