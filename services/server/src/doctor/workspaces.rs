//! The identity files in the roots of this host's registrations. None of them is ever touched here.

use std::sync::Arc;
use std::time::Duration;

use compozy_domain::{CatalogError, HostId, IdentityFault, Workspace};
use compozy_resolver::identity::{self, file_path};
use compozy_resolver::{Disk, Files};
use compozy_store::{CatalogStore as _, SqlStore, WorkspaceStore as _};

use super::catalog::{Look, look, own_host, unanswered};
use super::{Check, Context, Report};
use crate::failure::{Failure, FailureKind};

/// For all roots; those of a disk that hangs are looked at one after the other.
const PATIENCE: Duration = Duration::from_secs(5 * 60);
/// For one root.
const ROOT_PATIENCE: Duration = Duration::from_secs(5);
const ROWS_AT_ONCE: u32 = 500;

#[derive(Debug)]
pub(super) struct IdentityFileCheck;

/// What a look at one root shows.
enum Seen {
    Right,
    /// The root itself is not there, or can't be read: no look at the file.
    Away,
    Wrong(Report),
}

#[tonic::async_trait]
impl Check for IdentityFileCheck {
    fn name(&self) -> &'static str {
        NAME
    }

    fn patience(&self) -> Duration {
        PATIENCE
    }

    async fn run(&self, context: &Context) -> Result<Vec<Report>, Failure> {
        let store = match look(context, NAME).await {
            Look::Open(store) => store,
            Look::Nothing(report) => return Ok(vec![report]),
        };
        let Some(host) = own_host(context) else {
            store.close().await;
            return Ok(vec![Report::ok(NAME, "this home looks at no disk")]);
        };
        let looked = look_at_all(&store, &host).await;
        store.close().await;
        looked
    }
}

const NAME: &str = "identities";

async fn look_at_all(store: &SqlStore, host: &HostId) -> Result<Vec<Report>, Failure> {
    let files: Arc<dyn Files> = Arc::new(Disk::default());
    let (mut reports, mut count, mut away) = (Vec::new(), 0_usize, 0_usize);
    let mut after = None;
    loop {
        let rows = store.of_host(host, after.as_ref(), ROWS_AT_ONCE).await;
        let rows = rows.map_err(|error| unanswered(&error))?;
        let Some(last) = rows.last() else { break };
        after = Some(last.id.clone());
        // What is wrong with a row is said by the check of the catalog.
        for row in rows.into_iter().filter(|row| row.defect.is_none()) {
            count += 1;
            match look_at_one(Arc::clone(&files), row).await? {
                Seen::Right => {}
                Seen::Away => away += 1,
                Seen::Wrong(report) => reports.push(report),
            }
        }
    }
    if reports.is_empty() {
        let mut message = format!("identity files looked at: {}, all right", count - away);
        if away > 0 {
            message = format!("{message}; roots that are away right now: {away}");
        }
        reports.push(Report::ok(NAME, message));
    }
    Ok(reports)
}

async fn look_at_one(files: Arc<dyn Files>, row: Workspace) -> Result<Seen, Failure> {
    let looking = tokio::task::spawn_blocking(move || compare(files.as_ref(), &row));
    match tokio::time::timeout(ROOT_PATIENCE, looking).await {
        Ok(Ok(seen)) => Ok(seen),
        Ok(Err(failed)) => {
            let message = format!("a look at a root failed: {failed}");
            Err(Failure::new(FailureKind::Internal, message))
        }
        // The look is left behind; it changes nothing.
        Err(_) => Ok(Seen::Away),
    }
}

fn compare(files: &dyn Files, row: &Workspace) -> Seen {
    let Ok(root) = files.directory(&row.root_dir) else {
        return Seen::Away;
    };
    let who = format!("workspace '{}' ({})", row.name.as_str(), row.id);
    let path = file_path(&root.path);
    let error = match identity::read(files, &root) {
        Ok(Some(found)) if found.identity.durable_id == row.durable_id => return Seen::Right,
        Ok(Some(found)) => {
            let message = format!(
                "{who}: {path} carries {}, the registration {}",
                found.identity.durable_id, row.durable_id
            );
            let remedy = format!(
                "run `compozy workspace identity accept {0}`, `restore {0}` or `fork {0}`",
                row.id
            );
            return Seen::Wrong(Report::warning(NAME, message, remedy));
        }
        Ok(None) => {
            let remedy = format!("run `compozy workspace identity repair {}`", row.id);
            return Seen::Wrong(Report::warning(
                NAME,
                format!("{who}: {path} is not there"),
                remedy,
            ));
        }
        Err(error) => error,
    };
    match error {
        CatalogError::Identity { path, fault, remedy } => Seen::Wrong(Report::error(
            NAME,
            format!("{who}: {path}{}", words(&fault)),
            remedy,
        )),
        CatalogError::Path { .. } => Seen::Away,
        other => Seen::Wrong(Report::error(NAME, format!("{who}: {other}"), "try again")),
    }
}

fn words(fault: &IdentityFault) -> String {
    match fault {
        IdentityFault::Invalid {
            line: Some(line),
            problem,
        } => format!(", line {line}: {problem}"),
        IdentityFault::Invalid { line: None, problem } | IdentityFault::Unwritable { problem } => {
            format!(": {problem}")
        }
        IdentityFault::Unreadable => " can't be read".to_owned(),
    }
}
