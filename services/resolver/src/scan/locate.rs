//! Which directory each base is, and whether the caller may read it.

use compozy_domain::path::contains;
use compozy_domain::{AbsolutePath, CatalogError, Diagnostic, FileIdentity, Layer, PathFault};

use super::bases::{Base, BaseKind};
use super::{Places, findings};
use crate::AllowedRoots;
use crate::files::{DirectoryFault, RootPresence};
use crate::watched::{ReadDirectory, Reader};

/// A base that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Located {
    pub(super) base: Base,
    pub(super) place: Result<Place, BaseFault>,
}

/// Which directory a base is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) canonical: String,
    pub(super) file: FileIdentity,
}

/// Why nothing is read from a base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BaseFault {
    /// Not for this caller, who is not told more.
    NotAllowed,
    /// It is no directory that can be read.
    Directory(DirectoryFault),
}

/// The additional roots that are there. The others are told.
pub(super) fn additional_roots<'p>(
    reader: &Reader<'_>,
    places: &'p Places,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<&'p str> {
    let mut there = Vec::new();
    for root in &places.additional {
        match open(reader, &places.allowed, root) {
            Ok(Some(_)) => there.push(root.as_str()),
            Ok(None) => diagnostics.push(findings::additional_root(root, &DirectoryFault::NotFound)),
            Err(BaseFault::NotAllowed) => diagnostics.push(findings::not_allowed(Layer::Additional, root)),
            Err(BaseFault::Directory(fault)) => diagnostics.push(findings::additional_root(root, &fault)),
        }
    }
    there
}

/// Looks at the bases: those that are absent stay out, unless the configuration names them, and so do those that are
/// the very directory of another one.
pub(super) fn locate(reader: &Reader<'_>, places: &Places, bases: Vec<Base>) -> Vec<Located> {
    let mut located = Vec::new();
    for base in bases {
        let place = match open(reader, allowed_for(&places.allowed, base.layer), &base.path) {
            Ok(Some(directory)) => Ok(Place {
                canonical: directory.path().to_owned(),
                file: directory.stamp().file,
            }),
            Ok(None) if base.kind == BaseKind::Custom => Err(BaseFault::Directory(DirectoryFault::NotFound)),
            Ok(None) => continue,
            Err(fault) => Err(fault),
        };
        located.push(Located { base, place });
    }
    without_repetitions(located)
}

/// The canonical paths of the bases that can be read.
pub(super) fn canonical_paths<'l>(located: impl Iterator<Item = &'l Located>) -> Vec<String> {
    let places = located.filter_map(|located| located.place.as_ref().ok());
    places.map(|place| place.canonical.clone()).collect()
}

/// Whom the layer of a base obeys: the home is the operator's own, and no caller names what is in it.
pub(super) fn allowed_for(allowed: &AllowedRoots, layer: Layer) -> &AllowedRoots {
    match layer {
        Layer::User | Layer::Profile => &AllowedRoots::Everything,
        _ => allowed,
    }
}

/// Opens a directory, links followed, if the caller may read what it really is; `None` if there is nothing.
pub(super) fn open<'r, 'f>(
    reader: &'r Reader<'f>,
    allowed: &AllowedRoots,
    path: &str,
) -> Result<Option<ReadDirectory<'r, 'f>>, BaseFault> {
    let fault = match reader.open(path) {
        Ok(Some(directory)) if allowed.contain(directory.path()) => return Ok(Some(directory)),
        Ok(Some(_)) => return Err(BaseFault::NotAllowed),
        Ok(None) => None,
        // A file stands in the way of the path, so that there is nothing at it.
        Err(DirectoryFault::NotDirectory) if matches!(reader.stamp(path), Ok(None)) => None,
        Err(fault) => Some(fault),
    };
    if !may_tell(reader, allowed, path) {
        return Err(BaseFault::NotAllowed);
    }
    match fault {
        None => Ok(None),
        Some(fault) => Err(BaseFault::Directory(fault)),
    }
}

/// Whether it may be told that a path leads to no directory that can be read.
pub(super) fn may_tell(reader: &Reader<'_>, allowed: &AllowedRoots, path: &str) -> bool {
    if *allowed == AllowedRoots::Everything {
        return true;
    }
    let Ok(path) = AbsolutePath::parse(path, "path") else {
        return false;
    };
    if lies_in_missing_root(reader, allowed, path.as_str()) {
        return true;
    }
    let answer = allowed.directory(reader.files(), &path, "path");
    !matches!(
        answer,
        Err(CatalogError::Path {
            fault: PathFault::NotAllowed,
            ..
        })
    )
}

/// Whether what is absent is one of the allowed roots itself, with all that it held. These are named by the operator,
/// in canonical form, so that no link lies on the way to them.
fn lies_in_missing_root(reader: &Reader<'_>, allowed: &AllowedRoots, path: &str) -> bool {
    let AllowedRoots::Only(roots) = allowed else {
        return false;
    };
    let is_missing = |root: &str| matches!(reader.files().root_presence(root), RootPresence::Missing { .. });
    roots.iter().any(|root| contains(root, path) && is_missing(root))
}

/// One directory has one base: that of the home, if it is one of the home's, so that a workspace whose `.compozy` is
/// the home does not claim the operator's own; else the one that wins.
fn without_repetitions(located: Vec<Located>) -> Vec<Located> {
    let mut kept: Vec<Located> = Vec::new();
    for next in located {
        let Ok(place) = &next.place else {
            kept.push(next);
            continue;
        };
        let same = |other: &Located| other.place.as_ref().is_ok_and(|other| other.file == place.file);
        match kept.iter().position(same) {
            None => kept.push(next),
            Some(at) if is_of_home(&next.base) && !is_of_home(&kept[at].base) => {
                kept.remove(at);
                kept.push(next);
            }
            Some(_) => {}
        }
    }
    kept
}

fn is_of_home(base: &Base) -> bool {
    matches!(base.layer, Layer::User | Layer::Profile)
}
