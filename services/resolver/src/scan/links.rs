//! Where links in bases lead. Whether one is followed is decided on the directory that was opened through it, never
//! on a text that can change in between.

use compozy_domain::FileIdentity;
use compozy_domain::path::contains;

use super::Scope;
use super::findings::LinkFault;
use super::locate::may_tell;
use crate::files::DirectoryFault;
use crate::watched::ReadDirectory;

/// Follows the link `name` of a directory; `None` for one that leads to a file, which is nothing of ours. `way` are
/// the directories that are being walked through.
pub(super) fn follow<'s>(
    scope: Scope<'s>,
    directory: &ReadDirectory<'_, '_>,
    name: &str,
    way: &[FileIdentity],
) -> Result<Option<ReadDirectory<'s, 's>>, LinkFault> {
    let path = directory.child(name);
    let fault = match scope.reader.open(&path) {
        Ok(Some(target)) => {
            check(scope, directory, target.path())?;
            if way.contains(&target.stamp().file) {
                return Err(LinkFault::Cycle);
            }
            return Ok(Some(target));
        }
        // It was removed since the names were read; that is seen when everything is compared.
        Ok(None) => return Ok(None),
        Err(fault) => fault,
    };
    match scope.reader.follow(&path) {
        // It can't be read, but where it leads decides first whether that matters.
        Ok(target) => {
            check(scope, directory, &target.path)?;
            Err(LinkFault::Unreadable(fault))
        }
        Err(_) if !may_tell(scope.reader, scope.allowed, &path) => Err(LinkFault::NotAllowed),
        Err(DirectoryFault::NotDirectory) => Ok(None),
        Err(DirectoryFault::NotFound | DirectoryFault::NameTooLong) => Err(LinkFault::Dangling),
        Err(DirectoryFault::Loop) => Err(LinkFault::Cycle),
        Err(fault) => Err(LinkFault::Unreadable(fault)),
    }
}

fn check(scope: Scope<'_>, from: &ReadDirectory<'_, '_>, target: &str) -> Result<(), LinkFault> {
    if !scope.allowed.contain(target) {
        return Err(LinkFault::NotAllowed);
    }
    if contains(target, from.path()) {
        return Err(LinkFault::Cycle);
    }
    if scope.trusted.iter().any(|base| contains(base, target)) {
        return Ok(());
    }
    Err(LinkFault::Escape)
}
