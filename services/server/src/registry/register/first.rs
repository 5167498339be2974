//! The first resolve of a registration: what a session in the directory would see, before anything is written. A
//! directory whose configuration or own agents are broken is not registered; its caller is told everything that is
//! wrong.

use compozy_domain::{CatalogError, Diagnostic, Layer, Severity, Workspace, WorkspaceId, limits};
use compozy_resolver::identity;

use super::{Checked, RegisterWanted, Registration, WriteCall};
use crate::registry::profile::active::ProfileAsked;
use crate::registry::resolve::Resolvable;
use crate::registry::{Caller, Registry};
use crate::resolution::FirstLook;

/// Findings of one answer at most.
const FINDINGS_MAX: usize = 200;
/// Bytes of their texts at most: an answer that is remembered has to fit its bound, together with the record.
const FINDINGS_BYTES_MAX: usize = limits::ANSWER_BYTES_MAX / 4;

impl Registry {
    /// Looks at a directory that is to be registered, and answers what its caller should know. Its identity is left
    /// out: it was looked at before, and a new file is not made yet; `is_without` says that one would have to be.
    pub(super) async fn first_look(
        &self,
        call: &WriteCall<Registration>,
        checked: &Checked,
        is_without: bool,
    ) -> Result<Vec<Diagnostic>, CatalogError> {
        let resolvable = Resolvable {
            root_dir: &checked.root.path,
            additional_dirs: &checked.dirs,
            default_agent: checked.wanted.default_agent.as_deref().unwrap_or_default(),
            durable_id: None,
        };
        let FirstLook {
            problems,
            diagnostics,
            auto_create,
        } = self.look_at_files(call, checked, &resolvable, None).await?;
        if !problems.is_empty() {
            return Err(CatalogError::Config { problems });
        }
        if is_without && !auto_create.unwrap_or(self.settings.auto_create) {
            return Err(identity::not_created(&checked.root.path));
        }
        Ok(diagnostics)
    }

    /// Looks at a directory that a registration moves to. It is registered whatever is wrong with it: all of that is
    /// only told.
    pub(super) async fn look_at_moved(
        &self,
        call: &WriteCall<Registration>,
        checked: &Checked,
        row: &Workspace,
    ) -> Result<Vec<Diagnostic>, CatalogError> {
        let resolvable = Resolvable {
            root_dir: &checked.root.path,
            ..Resolvable::of(row)
        };
        let FirstLook {
            mut problems,
            diagnostics,
            auto_create: _,
        } = self
            .look_at_files(call, checked, &resolvable, Some(&row.id))
            .await?;
        problems.extend(diagnostics);
        Ok(problems)
    }

    /// Checks the profile that a registration names, whether or not anything will be looked at with it.
    pub(super) async fn require_profile(
        &self,
        caller: &Caller,
        wanted: &RegisterWanted,
    ) -> Result<(), CatalogError> {
        if wanted.profile.is_none() {
            return Ok(());
        }
        self.active_profile(caller, None, &asked(wanted)).await.map(drop)
    }

    async fn look_at_files(
        &self,
        call: &WriteCall<Registration>,
        checked: &Checked,
        resolvable: &Resolvable<'_>,
        workspace: Option<&WorkspaceId>,
    ) -> Result<FirstLook, CatalogError> {
        let (caller, asked) = (&call.caller, asked(&checked.wanted));
        let (active, request) = self.request_for(caller, resolvable, workspace, &asked).await?;
        let mut look = self.resolution.first_look(request, caller.deadline).await?;
        look.diagnostics.extend(self.passed_over(&active));
        Ok(look)
    }
}

fn asked(wanted: &RegisterWanted) -> ProfileAsked {
    ProfileAsked {
        request: wanted.profile.clone(),
        environment: None,
    }
}

/// As many findings as an answer has room for, the worst ones first of all, by place; the last one tells of the rest.
pub(super) fn shortened(mut diagnostics: Vec<Diagnostic>, root: &str) -> Vec<Diagnostic> {
    Diagnostic::sort(&mut diagnostics);
    diagnostics.sort_by_key(|diagnostic| std::cmp::Reverse(diagnostic.severity));
    let mut room = FINDINGS_BYTES_MAX;
    let fits = diagnostics
        .iter()
        .take(FINDINGS_MAX - 1)
        .take_while(|diagnostic| {
            let bytes = bytes(diagnostic);
            let fits = bytes <= room;
            room = room.saturating_sub(bytes);
            fits
        });
    let kept = fits.count();
    // The place of the last one would be taken by the one that tells of it.
    let left = diagnostics.len() - kept;
    if left > 1 || (left == 1 && bytes(&diagnostics[kept]) > room) {
        diagnostics.truncate(kept);
        diagnostics.push(left_out(left, root));
    }
    Diagnostic::sort(&mut diagnostics);
    diagnostics
}

fn bytes(diagnostic: &Diagnostic) -> usize {
    let Diagnostic {
        path,
        code,
        key,
        profile,
        message,
        remedy,
        line: _,
        column: _,
        severity: _,
        layer: _,
    } = diagnostic;
    let optional = [key, profile].into_iter().flatten().map(String::len);
    let texts = path.len() + code.len() + message.len() + remedy.len();
    // Numbers, and the length before each text.
    texts + optional.sum::<usize>() + 48
}

fn left_out(count: usize, root: &str) -> Diagnostic {
    Diagnostic::new(
        "diagnostics_left_out",
        Severity::Info,
        Layer::Workspace,
        root,
        format!("{count} more findings are not in this answer"),
        "run `compozy resolve` in the directory to see all of them",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(number: usize, severity: Severity, message: &str) -> Diagnostic {
        let path = format!("/w/{number:04}");
        Diagnostic::new("x", severity, Layer::Workspace, path, message, "mend it")
    }

    #[test]
    fn few_findings_stay_as_they_are() {
        let all: Vec<_> = (0..FINDINGS_MAX)
            .map(|number| found(number, Severity::Info, "is odd"))
            .collect();
        assert_eq!(shortened(all.clone(), "/w"), all);
    }

    #[test]
    fn of_many_the_worst_stay_and_the_rest_is_counted() {
        let mut all: Vec<_> = (0..300)
            .map(|number| found(number, Severity::Info, "is odd"))
            .collect();
        all.push(found(999, Severity::Error, "is broken"));
        let kept = shortened(all, "/w");
        assert_eq!(kept.len(), FINDINGS_MAX);
        assert!(
            kept.iter()
                .any(|diagnostic| diagnostic.severity == Severity::Error)
        );
        let told = kept
            .iter()
            .find(|diagnostic| diagnostic.code == "diagnostics_left_out");
        assert!(
            told.is_some_and(|told| told.message.starts_with("102 more")),
            "{told:?}"
        );
    }

    #[test]
    fn long_findings_fit_what_is_remembered() {
        let all = (0..50).map(|number| found(number, Severity::Info, &"x".repeat(1_000)));
        let kept = shortened(all.collect(), "/w");
        assert!(kept.iter().map(bytes).sum::<usize>() < FINDINGS_BYTES_MAX + 1_000);
        assert!(kept.len() < 50 && kept.iter().any(|one| one.code == "diagnostics_left_out"));
    }
}
