//! How a snapshot is made: everything is read once, then everything is looked at once more; what changed in between
//! makes it start over.
//!
//! What is only looked at for a hint (directories of profiles that nobody knows) never makes a resolve fail: profiles
//! come and go in a busy home, and no answer but the hint depends on the others.

use compozy_domain::{Diagnostic, Layer, Timestamp};

use super::layers::{self, Layers};
use super::root::{self, Root};
use super::{Request, ResolveFault, Snapshot, fingerprint};
use crate::config::{self, EffectiveConfig};
use crate::dotenv;
use crate::files::Files;
use crate::scan::{self, Bearings, Places, Scanned, Sources};
use crate::watched::{Reader, Watched};

/// How often a resolve starts over because files changed underneath.
const RESTARTS_MAX: usize = 3;
const DOTENV: &str = ".env";

/// Reads everything that a request asks for.
///
/// # Errors
/// [`ResolveFault`].
pub fn resolve(
    files: &dyn Files,
    request: &Request,
    now: Timestamp,
) -> Result<(Snapshot, Watched), ResolveFault> {
    resolve_sealed(files, request, now, &|| {})
}

/// As [`resolve`]. Calls `seal` each time that the last look at the files is about to begin: whatever changed before
/// is in the answer, and what changes from now on may not be.
///
/// # Errors
/// [`ResolveFault`].
pub fn resolve_sealed(
    files: &dyn Files,
    request: &Request,
    now: Timestamp,
    seal: &dyn Fn(),
) -> Result<(Snapshot, Watched), ResolveFault> {
    for restart in 0..=RESTARTS_MAX {
        let reader = Reader::new(files);
        let beside = Reader::new(files);
        let outcome = attempt(&reader, &beside, request, now);
        let (mut watched, mut beside) = (reader.into_watched(), beside.into_watched());
        seal();
        // A failure is as good as an answer: half of a file that was just being written is no reason for one.
        if watched.is_unchanged(files) && (beside.is_unchanged(files) || restart == RESTARTS_MAX) {
            return outcome.map(|snapshot| (snapshot, watched.and(beside)));
        }
    }
    Err(ResolveFault::Changing)
}

fn attempt(
    reader: &Reader<'_>,
    beside: &Reader<'_>,
    request: &Request,
    now: Timestamp,
) -> Result<Snapshot, ResolveFault> {
    let root = root::open(reader, request)?;
    let mut diagnostics = root.findings(request)?;
    let layers = layers::read(reader, beside, request, &root);
    let mut places = request.places(root.directory.path());
    let (config, orphans) = config_and_sources(reader, request, layers, &mut places)?;
    let scanned = scan::scan(reader, &places);
    diagnostics.extend(orphans);
    diagnostics.extend(dotenv_findings(&root));
    diagnostics.extend_from_slice(config.diagnostics());
    Ok(assemble(&root, config, scanned, diagnostics, now))
}

impl Request {
    /// Where agents lie, and skills as far as no configuration says more, for a root in its canonical form.
    #[must_use]
    pub fn places(&self, root: &str) -> Places {
        Places {
            home: self.home.clone(),
            operator_home: self.operator_home.clone(),
            root: root.to_owned(),
            additional: self.additional_dirs.clone(),
            profile: self.profile.clone(),
            sources: Sources {
                agents: false,
                claude: false,
                custom: Vec::new(),
            },
            disabled_skills: Vec::new(),
            allowed: self.allowed.clone(),
        }
    }
}

/// Merges the layers and finds out where skills lie; answers every problem of both, or what is to be said besides.
fn config_and_sources(
    reader: &Reader<'_>,
    request: &Request,
    layers: Layers,
    places: &mut Places,
) -> Result<(EffectiveConfig, Vec<Diagnostic>), ResolveFault> {
    let Layers {
        files,
        mut problems,
        orphans,
    } = layers;
    let merged = match config::resolve(&files, &request.default_agent) {
        Ok(config) => {
            let disabled = config.texts("skills.disabled_skills");
            places.disabled_skills = disabled.into_iter().map(str::to_owned).collect();
            match scan::sources(reader.files(), &config, bearings(places)) {
                Ok(sources) => places.sources = sources,
                Err(wrong) => problems.extend(wrong),
            }
            Some(config)
        }
        Err(wrong) => {
            problems.extend(wrong);
            None
        }
    };
    match merged {
        Some(config) if problems.is_empty() => Ok((config, orphans)),
        _ => {
            Diagnostic::sort(&mut problems);
            Err(ResolveFault::Config(problems))
        }
    }
}

fn bearings(places: &Places) -> Bearings<'_> {
    Bearings {
        root: &places.root,
        operator_home: places.operator_home.as_deref(),
        allowed: &places.allowed,
    }
}

/// What is to be said about the root's `.env`. Nothing of it is in a snapshot: it is for the launch of agents.
fn dotenv_findings(root: &Root<'_, '_>) -> Vec<Diagnostic> {
    let path = root.directory.child(DOTENV);
    match root.directory.read(DOTENV, dotenv::DOTENV_BYTES_MAX) {
        Ok(None) => Vec::new(),
        Ok(Some(bytes)) => dotenv::findings(Layer::Workspace, &path, &dotenv::read(&bytes)),
        Err(fault) => vec![dotenv::unreadable(Layer::Workspace, &path, &fault)],
    }
}

fn assemble(
    root: &Root<'_, '_>,
    config: EffectiveConfig,
    scanned: Scanned,
    mut diagnostics: Vec<Diagnostic>,
    now: Timestamp,
) -> Snapshot {
    let Scanned {
        agents,
        skills,
        agent_skills,
        sources,
        diagnostics: found,
        truncated,
    } = scanned;
    diagnostics.extend(found);
    Diagnostic::sort(&mut diagnostics);
    let mut snapshot = Snapshot {
        root: root.directory.path().to_owned(),
        root_stamp: root.directory.stamp(),
        config,
        agents,
        skills,
        agent_skills,
        sources,
        diagnostics,
        truncated,
        resolved_at: now,
        content_hash: crate::ContentHash::of(&[]),
        fingerprint: String::new(),
    };
    snapshot.content_hash = fingerprint::of_content(&snapshot);
    snapshot.fingerprint = fingerprint::of_skills(snapshot.content_hash, "", &snapshot.skills);
    snapshot
}
