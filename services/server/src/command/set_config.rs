//! `compozyd set-config`: one key of a file, without a daemon. The user's own file must be one that a daemon can start
//! with afterwards.

use compozy_domain::{Diagnostic, Layer};

use super::{Format, SetConfigArguments, tell};
use crate::config::{Config, EditDone, EditFault, EditWanted, Overrides, edit};
use crate::failure::{Failure, FailureKind};
use crate::home::Home;
use crate::random::SystemRandom;

pub(super) fn set_config(arguments: &SetConfigArguments) -> Result<(), Failure> {
    let path =
        std::path::absolute(&arguments.file).map_err(|error| Failure::io("find", &arguments.file, &error))?;
    let layer = arguments.layer.layer();
    let home = Home::at(path.parent().unwrap_or(&path));
    let check = |bytes: &[u8]| match layer {
        Layer::User => Config::check(&home, bytes, &Overrides::default()).map(|_| ()),
        _ => Ok(()),
    };
    let wanted = EditWanted {
        path: &path,
        layer,
        key: &arguments.key,
        value: arguments.value.as_deref().filter(|_| !arguments.unset),
        check: &check,
    };
    let done = edit(&wanted, &SystemRandom).map_err(refused)?;
    tell(&match arguments.format {
        Format::Text => sentence(&wanted, done),
        Format::Json => {
            let EditDone { line, changed } = done;
            serde_json::json!({ "path": path.to_string_lossy(), "key": arguments.key, "line": line, "changed": changed })
                .to_string()
        }
    })
}

fn sentence(wanted: &EditWanted<'_>, done: EditDone) -> String {
    let (key, path) = (wanted.key, wanted.path.display());
    match (done.changed, done.line) {
        (true, Some(line)) => format!("{key} is set in {path}:{line}"),
        (true, None) => format!("{key} is taken out of {path}"),
        (false, Some(line)) => format!("{key} is as wanted in {path}:{line}, nothing was changed"),
        (false, None) => format!("{key} is not in {path}, nothing was changed"),
    }
}

fn refused(fault: EditFault) -> Failure {
    match fault {
        EditFault::DiskFull => Failure::new(
            FailureKind::Io,
            "the disk is full: free some space; nothing was changed",
        ),
        EditFault::Problems(problems) => {
            let told: Vec<String> = problems.iter().map(line).collect();
            Failure::config(format!("nothing was changed\n{}", told.join("\n")))
        }
    }
}

fn line(problem: &Diagnostic) -> String {
    let Diagnostic {
        code,
        message,
        remedy,
        ..
    } = problem;
    format!("{}: {code}: {message}; {remedy}", problem.location())
}
