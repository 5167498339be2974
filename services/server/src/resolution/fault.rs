//! Why there is no snapshot, in the words of the catalog.

use compozy_domain::{CatalogError, Diagnostic, Layer, PathFault, Severity};
use compozy_resolver::snapshot::ResolveFault;

/// The error of a resolve of this root, which the caller named in this field.
#[must_use]
pub(super) fn error(fault: ResolveFault, root: &str, field: &str) -> CatalogError {
    match fault {
        ResolveFault::Root(fault) => CatalogError::Root {
            root: root.to_owned(),
            fault,
        },
        ResolveFault::NotAllowed => CatalogError::path(field, root, PathFault::NotAllowed),
        ResolveFault::Config(problems) => CatalogError::Config { problems },
        ResolveFault::Identity(error) => *error,
        ResolveFault::Changing => CatalogError::Config {
            problems: vec![changing(root)],
        },
    }
}

/// Files that change again and again while they are read. A configuration that nobody can read whole is a broken one,
/// until it comes to rest.
fn changing(root: &str) -> Diagnostic {
    Diagnostic::new(
        "files_changing",
        Severity::Error,
        Layer::Workspace,
        root,
        "files of the workspace changed each time while they were read",
        "wait until whatever writes them is done, then try again",
    )
}
