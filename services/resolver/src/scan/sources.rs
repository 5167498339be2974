//! Which directories of skills the configuration switches on or names. What a file alone can tell was checked when it
//! was read; what is left is where paths lead on this disk.

use std::collections::HashMap;

use compozy_domain::{Diagnostic, FileIdentity, Layer, Severity};

use super::{CustomSource, Sources};
use crate::AllowedRoots;
use crate::config::sources::{CUSTOM_KEY, PRESETS_KEY, Spelling, Wrong, entry, invalid, same, spelling};
use crate::config::{EffectiveConfig, Leaf, Origin};
use crate::files::Files;
use crate::value::Value;

/// Bytes of a path at most.
const PATH_BYTES_MAX: usize = compozy_domain::limits::PATH_BYTES_MAX;

/// Where relative and home paths of custom sources begin.
#[derive(Debug, Clone, Copy)]
pub struct Bearings<'b> {
    /// The root of the workspace, canonical.
    pub root: &'b str,
    /// The operator's home directory; `None` if there is none.
    pub operator_home: Option<&'b str>,
    /// What may be looked at for the caller.
    pub allowed: &'b AllowedRoots,
}

/// Reads `skills.sources` and `skills.custom_sources` of files that were checked. Without the former `agents` is on.
///
/// # Errors
/// Every path that leads nowhere or to the same place as another, each with the place of the key that holds it.
pub fn sources(
    files: &dyn Files,
    config: &EffectiveConfig,
    bearings: Bearings<'_>,
) -> Result<Sources, Vec<Diagnostic>> {
    let mut problems = Vec::new();
    let mut sources = Sources {
        agents: true,
        claude: false,
        custom: Vec::new(),
    };
    if let Some(leaf) = config.leaf(PRESETS_KEY) {
        sources.agents = texts(leaf).any(|name| name == "agents");
        sources.claude = texts(leaf).any(|name| name == "claude");
    }
    if let Some(leaf) = config.leaf(CUSTOM_KEY) {
        sources.custom = custom(files, leaf, bearings, &mut problems);
    }
    if problems.is_empty() {
        return Ok(sources);
    }
    Diagnostic::sort(&mut problems);
    Err(problems)
}

fn texts(leaf: &Leaf) -> impl Iterator<Item = &str> {
    let items = match &leaf.value {
        Value::List(items) => items.as_slice(),
        _ => &[],
    };
    items.iter().filter_map(Value::as_text)
}

fn custom(
    files: &dyn Files,
    leaf: &Leaf,
    bearings: Bearings<'_>,
    problems: &mut Vec<Diagnostic>,
) -> Vec<CustomSource> {
    let origin = &leaf.winner;
    let mut sources = Vec::new();
    let mut paths: HashMap<String, usize> = HashMap::new();
    let mut directories: HashMap<FileIdentity, usize> = HashMap::new();
    for (index, written) in texts(leaf).enumerate() {
        let path = match absolute(written, origin.layer, bearings) {
            Ok(path) => path,
            Err((rule, remedy)) => {
                let wrong = invalid(index, format!("{} {rule}", entry(index)), remedy);
                problems.push(problem(origin, wrong));
                continue;
            }
        };
        let same_path = paths.insert(path.clone(), index);
        let directory = identity(files, &path, bearings.allowed);
        let same_directory = directory.and_then(|file| directories.insert(file, index));
        if let Some(twin) = same_path.or(same_directory) {
            let message = format!("{} is the same directory as {}", entry(index), entry(twin));
            problems.push(problem(origin, same(index, message)));
            continue;
        }
        sources.push(CustomSource {
            path,
            named_in: origin.path.clone().unwrap_or_default(),
            line: origin.line,
        });
    }
    sources
}

/// Which directory a path leads to, links followed. What lies outside the caller's part of the disk is not looked
/// at, so that no answer depends on whether anything is there.
fn identity(files: &dyn Files, path: &str, allowed: &AllowedRoots) -> Option<FileIdentity> {
    let found = files.directory(path).ok()?;
    allowed.contain(&found.path).then_some(found.file)
}

/// The absolute path that is meant; else the rule that is broken, and the remedy.
fn absolute(
    written: &str,
    layer: Layer,
    bearings: Bearings<'_>,
) -> Result<String, (&'static str, &'static str)> {
    let path = match spelling(layer, written)? {
        Spelling::Absolute(path) => path.to_owned(),
        Spelling::InRoot(path) => format!("{}/{path}", bearings.root),
        Spelling::InHome(rest) => {
            let Some(home) = bearings.operator_home else {
                return Err((
                    "begins with `~`, and there is no home directory",
                    "write the whole path",
                ));
            };
            format!("{home}{rest}")
        }
    };
    let path = tidy(&path);
    if path.len() > PATH_BYTES_MAX {
        return Err(("is longer than a path can be", "write a shorter path"));
    }
    Ok(path)
}

/// Without empty names and single dots. Double dots stay: what they mean is up to the links before them.
fn tidy(path: &str) -> String {
    let names = path.split('/').filter(|name| !matches!(*name, "" | "."));
    let names: Vec<&str> = names.collect();
    format!("/{}", names.join("/"))
}

fn problem(origin: &Origin, wrong: Wrong) -> Diagnostic {
    let path = origin.path.clone().unwrap_or_default();
    let Wrong {
        code,
        message,
        remedy,
        ..
    } = wrong;
    let found = Diagnostic::new(code, Severity::Error, origin.layer, path, message, remedy);
    Diagnostic {
        line: origin.line,
        column: origin.column,
        ..found.about(CUSTOM_KEY)
    }
}
