//! Words and rules of the catalog: identifiers, names, references, records, sessions, pages, changes, callers
//! and errors. Nothing here does I/O, waits, knows the wire or SQL; time and randomness are passed in.

pub mod change;
pub mod clock;
pub mod diagnostic;
pub mod error;
pub mod id;
pub mod limits;
pub mod name;
pub mod page;
pub mod path;
pub mod principal;
pub mod profile;
pub mod random;
pub mod rank;
pub mod reference;
pub mod session;
pub mod text;
pub mod watch;
pub mod workspace;

pub use change::{ChangeEntry, ChangeKind, ChangeOp, ChangeReason, NewChange, Revision};
pub use clock::{Clock, Timestamp};
pub use diagnostic::{Diagnostic, Layer, Severity};
pub use error::{CatalogError, CursorFault, IdentityFault, PathFault, Reason};
pub use id::{
    CatalogId, DurableId, Etag, HostId, LeaseHash, LeaseToken, ProfileId, RequestId, SessionId, WorkspaceId,
};
pub use name::WorkspaceName;
pub use page::{Page, PageLimit};
pub use path::{AbsolutePath, FileIdentity};
pub use principal::{Principal, Scope, Visibility};
pub use profile::{Profile, ProfileName, ProfileSource, ProfileState};
pub use random::{Random, RandomFailed};
pub use rank::Rank;
pub use reference::WorkspaceRef;
pub use session::{Session, SessionAt, SessionState, SessionType};
pub use watch::{SeenChange, Thing, WatchFilter};
pub use workspace::{Workspace, WorkspaceStatus};
