//! What the files of a workspace say. Everything looks at the disk through [`Files`], so that a test can put
//! a failing or slow one in its place. All calls block: an async caller makes them on a thread for blocking
//! work.
//!
//! Made for Linux: directories are opened by handle, and a handle tells its canonical path through `/proc`.

pub mod allowed;
pub mod files;
pub mod identity;
pub mod picker;
pub mod status;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use allowed::AllowedRoots;
pub use files::{ContentHash, Directory, Disk, Files, RelativePath, RootPresence};
pub use identity::Identity;
pub use status::{Observation, observe};
