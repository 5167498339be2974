//! The personal directories of profiles: each belongs to a profile of the catalog. None of them is ever touched here.

use std::fs;

use compozy_domain::ProfileName;
use compozy_store::{CatalogStore as _, ProfileStore as _};

use super::catalog::{Look, look, unanswered};
use super::{Check, Context, Report};
use crate::failure::Failure;

const NAME: &str = "profiles";

#[derive(Debug)]
pub(super) struct ProfileDirectoryCheck;

#[tonic::async_trait]
impl Check for ProfileDirectoryCheck {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn run(&self, context: &Context) -> Result<Vec<Report>, Failure> {
        let store = match look(context, NAME).await {
            Look::Open(store) => store,
            Look::Nothing(report) => return Ok(vec![report]),
        };
        let names = store.profile_names().await;
        store.close().await;
        let names = names.map_err(|error| unanswered(&error))?;
        let place = context.home.profiles_path();
        let mut reports = Vec::new();
        for directory in directories(context)? {
            let is_known =
                directory == ProfileName::DEFAULT || names.iter().any(|name| name.as_str() == directory);
            if !is_known {
                reports.push(orphaned(
                    &place.join(&directory).display().to_string(),
                    &directory,
                ));
            }
        }
        if reports.is_empty() {
            reports.push(Report::ok(
                NAME,
                format!("profiles: {}, no directory without one", names.len()),
            ));
        }
        Ok(reports)
    }
}

/// The names of directories where those of profiles lie, by bytes. A link is none: nobody follows it.
fn directories(context: &Context) -> Result<Vec<String>, Failure> {
    let place = context.home.profiles_path();
    let entries = match fs::read_dir(&place) {
        Ok(entries) => entries,
        // What is wrong with the home is said by its own check.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Failure::io("read", &place, &error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| Failure::io("read", &place, &error))?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort_unstable();
    Ok(names)
}

fn orphaned(path: &str, name: &str) -> Report {
    let message = format!("'{path}' belongs to no profile, so nothing in it is used");
    let remedy = if ProfileName::parse(name).is_ok() {
        format!("adopt it with `compozy profile create {name}`, or move it away")
    } else {
        "no profile can have this name: rename the directory and create a profile of that name, or move it away".to_owned()
    };
    Report::warning(NAME, message, remedy)
}
