//! What the files of a workspace say. Everything looks at the disk through [`Files`], so that a test can put
//! a failing or slow one in its place. All calls block: an async caller makes them on a thread for blocking
//! work.
//!
//! Made for Linux: directories are opened by handle, and a handle tells its canonical path through `/proc`.

pub mod allowed;
pub mod cache;
pub mod config;
pub mod definition;
pub mod dotenv;
pub mod files;
pub mod front_matter;
pub mod identity;
pub mod mcp;
pub mod node;
mod orphans;
pub mod picker;
mod places;
pub mod scan;
pub mod snapshot;
pub mod status;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod value;
pub mod watched;

pub use allowed::AllowedRoots;
pub use files::{
    Content, ContentHash, Directory, Disk, Files, Named, Names, OpenDirectory, RelativePath, RootPresence,
    Stamp,
};
pub use identity::Identity;
pub use status::{Observation, observe};
