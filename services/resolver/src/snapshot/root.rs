//! The root of a workspace: opened by handle, and what its identity file says about it.

use compozy_domain::error::RootFault;
use compozy_domain::{Diagnostic, Layer, Severity};

use super::{Request, ResolveFault};
use crate::files::{DirectoryFault, Kind, ReadFault};
use crate::identity::{self, FILE_BYTES_MAX, FILE_NAME, shell_word};
use crate::watched::{ReadDirectory, Reader};

/// The directory in a root that holds everything of this product.
const OWN: &str = ".compozy";

/// An opened root.
pub(super) struct Root<'r, 'f> {
    pub(super) directory: ReadDirectory<'r, 'f>,
    /// Its `.compozy`; `None` if there is none.
    pub(super) own: Option<Result<ReadDirectory<'r, 'f>, ReadFault>>,
}

/// Opens the root of a request, if its caller may look at it.
pub(super) fn open<'r, 'f>(reader: &'r Reader<'f>, request: &Request) -> Result<Root<'r, 'f>, ResolveFault> {
    let opened = reader.open(&request.root_dir);
    let is_allowed = match &opened {
        Ok(Some(directory)) => request.allowed.contain(directory.path()),
        // What can't be opened has no other path than the one of the record.
        _ => request.allowed.contain(&request.root_dir),
    };
    if !is_allowed {
        return Err(ResolveFault::NotAllowed);
    }
    let directory = match opened {
        Ok(Some(directory)) => directory,
        Ok(None) | Err(DirectoryFault::NotFound) => return Err(ResolveFault::Root(RootFault::Missing)),
        Err(DirectoryFault::NotDirectory) => return Err(ResolveFault::Root(RootFault::NotDirectory)),
        Err(_) => return Err(ResolveFault::Root(RootFault::Unreadable)),
    };
    let own = own_directory(&directory);
    Ok(Root { directory, own })
}

impl Root<'_, '_> {
    /// Whether the `.compozy` of this root is the home itself.
    pub(super) fn is_parent_of(&self, home: &ReadDirectory<'_, '_>, reader: &Reader<'_>) -> bool {
        match &self.own {
            Some(Ok(own)) => own.stamp().file == home.stamp().file,
            // A link to the home: what the operator keeps elsewhere is the user layer all the same.
            Some(Err(ReadFault::NotRegular)) => {
                let led_to = reader.follow(&self.directory.child(OWN));
                led_to.is_ok_and(|found| found.file == home.stamp().file)
            }
            Some(Err(_)) | None => false,
        }
    }

    /// Where its `.compozy` is or would be.
    pub(super) fn own_path(&self) -> String {
        self.directory.child(OWN)
    }

    /// What is to be said about the root and its identity.
    pub(super) fn findings(&self, request: &Request) -> Result<Vec<Diagnostic>, ResolveFault> {
        let path = self.directory.path();
        let mut findings = Vec::new();
        if path != request.root_dir {
            findings.push(retargeted(&request.root_dir));
        }
        let content = match &self.own {
            Some(Ok(own)) => own.read(FILE_NAME, FILE_BYTES_MAX),
            // A link or a file in its place holds no identity; what is wrong with it, the configuration says.
            Some(Err(ReadFault::NotRegular)) | None => Ok(None),
            Some(Err(fault)) => Err(fault.clone()),
        };
        let found =
            identity::judge(path, content).map_err(|error| ResolveFault::Identity(Box::new(error)))?;
        let Some(expected) = &request.durable_id else {
            return Ok(findings);
        };
        match found {
            None => findings.push(missing(path)),
            Some(found) if found.identity.durable_id.as_str() != expected => findings.push(changed(path)),
            Some(_) => {}
        }
        Ok(findings)
    }
}

/// The `.compozy` of a root; something else of this name is [`ReadFault::NotRegular`].
fn own_directory<'r, 'f>(root: &ReadDirectory<'r, 'f>) -> Option<Result<ReadDirectory<'r, 'f>, ReadFault>> {
    enter(root, OWN).transpose()
}

/// Enters a directory; something else of this name is [`ReadFault::NotRegular`].
pub(super) fn enter<'r, 'f>(
    directory: &ReadDirectory<'r, 'f>,
    name: &str,
) -> Result<Option<ReadDirectory<'r, 'f>>, ReadFault> {
    if let Some(entered) = directory.enter(name)? {
        return Ok(Some(entered));
    }
    match directory.look(name)? {
        None => Ok(None),
        // It came just now: the comparison that follows will see it.
        Some(stamp) if stamp.kind == Kind::Directory => Ok(None),
        Some(_) => Err(ReadFault::NotRegular),
    }
}

fn retargeted(root_dir: &str) -> Diagnostic {
    Diagnostic::new(
        "root_retargeted",
        Severity::Warning,
        Layer::Workspace,
        root_dir,
        "the root of the record leads to another directory now; that one was read",
        format!(
            "if the directory was moved, nothing; else put it back, or run `compozy workspace relink {} <path>`",
            shell_word(root_dir)
        ),
    )
}

fn missing(root: &str) -> Diagnostic {
    Diagnostic::new(
        "identity_missing",
        Severity::Warning,
        Layer::Workspace,
        identity::file_path(root),
        "the identity file is not there any more; the workspace keeps the id of its record",
        format!(
            "write it again with `compozy workspace identity repair {}`",
            shell_word(root)
        ),
    )
}

fn changed(root: &str) -> Diagnostic {
    let root_word = shell_word(root);
    Diagnostic::new(
        "identity_changed",
        Severity::Warning,
        Layer::Workspace,
        identity::file_path(root),
        "the identity file carries another id than the record of the workspace, which keeps its own",
        format!(
            "take the new id with `compozy workspace identity accept {root_word}`, or put the old one back with `compozy workspace identity restore {root_word}`"
        ),
    )
}
