//! A directory, as its registration would read it: with each of its profiles in turn, and beside the user's own files.

use std::path::Path;

use compozy_domain::error::RootFault;
use compozy_domain::{CatalogError, Diagnostic, IdentityFault, Layer, ProfileName, Severity};
use compozy_resolver::scan;
use compozy_resolver::snapshot::{self, Request, ResolveFault};
use compozy_resolver::watched::Reader;
use compozy_resolver::{AllowedRoots, Files};

use super::{OWN, Validation};
use crate::failure::{Failure, FailureKind};

/// Profiles of one directory that are looked at; a hostile one has room for thousands.
const PROFILES_MAX: usize = 64;
/// Names of a directory that are looked at for them.
const NAMES_MAX: usize = 1_000;

impl Validation<'_> {
    pub(super) fn check_directory(&self, path: &Path) -> Result<Vec<Diagnostic>, Failure> {
        let path = path
            .canonicalize()
            .map_err(|error| super::unusable(path, &error))?;
        let is_home = path.starts_with(&self.home);
        // Who names the directory with the files, or one in it, means what it belongs to.
        let own = path.ancestors().find(|base| base.ends_with(OWN));
        let root = match own.and_then(Path::parent) {
            _ if is_home => &self.home,
            Some(root) => root,
            None => &path,
        };
        let root = root.to_string_lossy().into_owned();
        let profiles = match is_home {
            true => self.profiles(&root),
            false => self.profiles(&format!("{root}/{OWN}")),
        };
        let mut found = self.resolve(&self.request(&root, None, &profiles))?;
        found.extend(too_many(&root, profiles.len()));
        for profile in profiles.iter().take(PROFILES_MAX) {
            found.extend(self.resolve(&self.request(&root, Some(profile), &profiles))?);
        }
        Ok(found)
    }

    fn request(&self, root: &str, profile: Option<&str>, profiles: &[String]) -> Request {
        let operator_home = std::env::home_dir().filter(|path| path.is_absolute());
        // Who checks files has no catalog to compare names of directories with.
        let mut profile_names = self.profiles(&self.home.to_string_lossy());
        profile_names.extend(profiles.iter().cloned());
        Request {
            home: self.home.to_string_lossy().into_owned(),
            operator_home: operator_home.map(|path| path.to_string_lossy().into_owned()),
            root_dir: root.to_owned(),
            additional_dirs: Vec::new(),
            default_agent: String::new(),
            durable_id: None,
            profile: profile.map(str::to_owned),
            profile_names,
            allowed: AllowedRoots::Everything,
        }
    }

    /// The names of directories below `profiles` that could be those of profiles, all but `default`.
    fn profiles(&self, base: &str) -> Vec<String> {
        let Ok(directory) = self.files.open(&format!("{base}/profiles")) else {
            return Vec::new();
        };
        let Ok(names) = directory.names(NAMES_MAX) else {
            return Vec::new();
        };
        let names = names.entries.into_iter().map(|entry| entry.name);
        names.filter(|name| ProfileName::parse(name).is_ok()).collect()
    }

    fn resolve(&self, request: &Request) -> Result<Vec<Diagnostic>, Failure> {
        match snapshot::resolve(&self.files, request, self.clock.now()) {
            Ok((snapshot, _)) => Ok(snapshot.diagnostics),
            Err(ResolveFault::Config(mut problems)) => {
                problems.extend(self.dotenv(&request.root_dir));
                problems.extend(self.definitions(request));
                Ok(problems)
            }
            Err(ResolveFault::Identity(error)) => Ok(vec![identity_problem(*error)]),
            Err(ResolveFault::Root(fault)) => Err(root_failure(&request.root_dir, fault)),
            Err(ResolveFault::NotAllowed | ResolveFault::Changing) => {
                let message = format!("files below {} change all the time: try again", request.root_dir);
                Err(Failure::new(FailureKind::Unavailable, message))
            }
        }
    }

    fn dotenv(&self, root: &str) -> Vec<Diagnostic> {
        let path = Path::new(root).join(".env");
        let is_there = std::fs::symlink_metadata(&path).is_ok();
        let found = is_there.then(|| self.check_file(&path).ok()).flatten();
        found.unwrap_or_default()
    }

    /// The agents and skills beside a broken configuration, where they lie as long as it says nothing else: who mends
    /// one thing after the other should see all of them.
    fn definitions(&self, request: &Request) -> Vec<Diagnostic> {
        let mut places = request.places(&request.root_dir);
        places.sources.agents = true;
        scan::scan(&Reader::new(&self.files), &places).diagnostics
    }
}

/// What is left out is told.
fn too_many(root: &str, count: usize) -> Option<Diagnostic> {
    let left_out = count.checked_sub(PROFILES_MAX).filter(|more| *more > 0)?;
    let message = format!("{left_out} of {count} profiles were not checked");
    let remedy = "check their files by name";
    let layer = Layer::WorkspaceProfile;
    Some(Diagnostic::new(
        "validate_truncated",
        Severity::Warning,
        layer,
        root,
        message,
        remedy,
    ))
}

fn identity_problem(error: CatalogError) -> Diagnostic {
    let CatalogError::Identity { path, fault, remedy } = error else {
        return Diagnostic::new(
            "identity_invalid",
            Severity::Error,
            Layer::Workspace,
            "",
            error.to_string(),
            "",
        );
    };
    let (code, line, message) = match fault {
        IdentityFault::Invalid { line, problem } => ("identity_invalid", line, format!("the file {problem}")),
        IdentityFault::Unreadable => ("identity_unreadable", None, "the file can't be read".to_owned()),
        IdentityFault::Unwritable { problem } => (
            "identity_unwritable",
            None,
            format!("the file can't be written: {problem}"),
        ),
    };
    let found = Diagnostic::new(code, Severity::Error, Layer::Workspace, path, message, remedy);
    Diagnostic { line, ..found }
}

fn root_failure(root: &str, fault: RootFault) -> Failure {
    let error = CatalogError::Root {
        root: root.to_owned(),
        fault,
    };
    Failure::new(FailureKind::NotFound, error.to_string())
}
