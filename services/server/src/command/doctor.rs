//! `compozyd doctor`: every check with its remedy, for a person or a script.

use std::io::{self, Write};
use std::sync::Arc;

use super::{DoctorArguments, Output, runtime};
use crate::clock::SystemClock;
use crate::doctor::{self, Context, Report, Severity};
use crate::failure::{Failure, FailureKind};
use crate::home::Home;

pub(super) fn doctor(arguments: &DoctorArguments) -> Result<(), Failure> {
    let context = Context::new(Home::locate()?, Arc::new(SystemClock), arguments.fix);
    let reports = runtime()?.block_on(doctor::examine(&doctor::checks(), &context));
    print(arguments.output, &reports)
        .map_err(|error| Failure::new(FailureKind::Io, format!("the result can't be printed: {error}")))?;
    if reports.iter().any(|report| report.severity == Severity::Error) {
        return Err(Failure::new(FailureKind::Check, "a check found errors"));
    }
    Ok(())
}

fn print(output: Output, reports: &[Report]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    let printed = match output {
        Output::Json => {
            let object = serde_json::json!({ "checks": reports });
            writeln!(stdout, "{object:#}")
        }
        Output::Human => reports.iter().try_for_each(|report| line(&mut stdout, report)),
    };
    match printed {
        // A reader that had enough is no error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

fn line(output: &mut impl Write, report: &Report) -> io::Result<()> {
    let severity = match report.severity {
        Severity::Ok => "ok",
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    writeln!(output, "{severity:<8} {:<10} {}", report.name, report.message)?;
    if !report.remedy.is_empty() {
        writeln!(output, "{:<19} {}", "", report.remedy)?;
    }
    Ok(())
}
