//! The one seam to the disk. [`Disk`] is the real one; a test wraps it in one that fails on demand.

mod disk;
mod fault;
#[cfg(any(test, feature = "testing"))]
pub mod faulty;
mod hash;
mod opened;
mod relative;
mod stamp;

use std::fmt::Debug;

use compozy_domain::FileIdentity;

pub use disk::Disk;
#[cfg(any(test, feature = "testing"))]
pub use disk::Step;
pub use fault::{CreateFault, DirectoryFault, ReadFault, WriteFault};
pub use hash::ContentHash;
pub use opened::{Content, Named, Names, OpenDirectory};
pub use relative::RelativePath;
pub(crate) use relative::is_plain_name;
pub use stamp::Stamp;

/// A directory that was there when it was looked at. Every operation that takes one opens the path again and
/// goes on only if it is still the very same directory, so that what was checked is what is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directory {
    /// Canonical absolute path, free of control characters.
    pub path: String,
    /// Which directory this is, whatever its path is called.
    pub file: FileIdentity,
}

/// What stands at the path of a registered root. Links in the path are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootPresence {
    /// A directory. Nothing is said about whether it can be read.
    Present(FileIdentity),
    /// The path does not exist; also a link that leads to nothing.
    Missing {
        /// Device of the nearest ancestor that exists.
        ancestor_device: u64,
    },
    /// Something else than a directory.
    NotDirectory,
    /// It can't be told: no permission, an error of the device.
    Unreadable,
}

/// What a name stands for, links not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    Regular,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A device, a pipe or a socket.
    Special,
}

/// What a creation made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Made {
    /// Whether the directory of the file was made for it, too.
    pub directory: bool,
}

/// Child directories, sorted by the bytes of their names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// The children, at most as many as were asked for.
    pub entries: Vec<ListedDirectory>,
    /// Whether there are more.
    pub truncated: bool,
}

/// One child directory, or link to a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedDirectory {
    /// Its own name.
    pub name: String,
    /// Whether the name starts with a dot.
    pub hidden: bool,
}

/// Everything that this product does with the files of workspaces.
pub trait Files: Send + Sync + Debug {
    /// Resolves an absolute path in any spelling, as the file system does, to a directory.
    ///
    /// # Errors
    /// [`DirectoryFault`] when no directory with a printable path is to be found there.
    fn directory(&self, path: &str) -> Result<Directory, DirectoryFault>;

    /// Opens the directory that an absolute path in any spelling leads to.
    ///
    /// # Errors
    /// [`DirectoryFault`] when no directory that can be listed, with a printable path, is to be found there.
    fn open(&self, path: &str) -> Result<Box<dyn OpenDirectory>, DirectoryFault>;

    /// The state of what stands at an absolute path, a link in its last place not followed; `None` if there is
    /// nothing.
    ///
    /// # Errors
    /// [`ReadFault`] when it can't be told.
    fn stamp(&self, path: &str) -> Result<Option<Stamp>, ReadFault>;

    /// The time that a file written now would carry, nanoseconds since 1970, as coarse as the file system's clock.
    fn clock(&self) -> i64;

    /// Looks at the path of a registered root.
    fn root_presence(&self, root: &str) -> RootPresence;

    /// The directory of a canonical path and the ones above it, from the inside to `/`, without those that
    /// can't be looked at.
    fn ancestors(&self, canonical: &str) -> Vec<Directory>;

    /// What a path below a directory stands for; `None` if there is nothing, or no way without links.
    ///
    /// # Errors
    /// [`ReadFault`] when it can't be told.
    fn kind_below(&self, root: &Directory, path: &RelativePath) -> Result<Option<Kind>, ReadFault>;

    /// The content of a regular file below a directory; `None` if there is no file, or a link or something
    /// else than a directory stands in its way. Never waits for a pipe.
    ///
    /// # Errors
    /// [`ReadFault`]; [`ReadFault::TooLarge`] beyond `limit` bytes.
    fn read_below(
        &self,
        root: &Directory,
        path: &RelativePath,
        limit: usize,
    ) -> Result<Option<Vec<u8>>, ReadFault>;

    /// Makes a file (0644) below a directory, whole or not at all and only if there is none, and before it
    /// the directory (0755) that it lies in. After a failure nothing is left of it.
    ///
    /// # Errors
    /// [`WriteFault::AlreadyThere`] when there is a file, also one that came in the meantime.
    fn create_below(&self, root: &Directory, path: &RelativePath, bytes: &[u8]) -> Result<Made, WriteFault>;

    /// Puts new content in the place of a file below a directory, whole or not at all, and keeps its mode.
    /// With `expected` only if its content is still that.
    ///
    /// # Errors
    /// [`WriteFault::Changed`] when the content is another one, or the file's directory is gone.
    fn replace_below(
        &self,
        root: &Directory,
        path: &RelativePath,
        bytes: &[u8],
        expected: Option<&ContentHash>,
    ) -> Result<(), WriteFault>;

    /// Removes what a write of this content left half-written when its process died. The file itself stays,
    /// whatever it holds.
    ///
    /// # Errors
    /// [`WriteFault`] when something can't be removed.
    fn sweep_below(
        &self,
        root: &Directory,
        path: &RelativePath,
        content: &ContentHash,
    ) -> Result<(), WriteFault>;

    /// Undoes [`Files::create_below`], also one that was cut off by the death of its process: removes the
    /// file if its content is still the given one, what was left half-written of that content, and, if asked
    /// to, the directory it lay in if that is empty now. Answers whether the file was removed.
    ///
    /// # Errors
    /// [`WriteFault`] when something can't be removed.
    fn remove_below_if(
        &self,
        root: &Directory,
        path: &RelativePath,
        content: &ContentHash,
        remove_directory: bool,
    ) -> Result<bool, WriteFault>;

    /// The child directories, and links to directories under their own names. Names that can't be printed are
    /// left out: no request could name them.
    ///
    /// # Errors
    /// [`DirectoryFault`].
    fn list_directories(&self, directory: &Directory, limit: usize) -> Result<Listing, DirectoryFault>;

    /// Makes one directory in another.
    ///
    /// # Errors
    /// [`CreateFault`].
    fn create_directory(&self, parent: &Directory, name: &str) -> Result<(), CreateFault>;
}

impl RootPresence {
    /// Whether a registered root is known to be absent, so that a directory with its identity has been moved
    /// rather than copied: its path is gone, and either the disk that it lay on is in its place, or the new
    /// directory is the very one that was registered. Anything else may be a disk that is not mounted.
    #[must_use]
    pub fn is_absent(self, registered: FileIdentity, new: FileIdentity) -> bool {
        match self {
            Self::Missing { ancestor_device } => ancestor_device == registered.device || new == registered,
            Self::Present(_) | Self::NotDirectory | Self::Unreadable => false,
        }
    }
}

/// An absolute path and the paths above it, from the inside to `/`, by the text alone.
pub(crate) fn prefixes(path: &str) -> impl Iterator<Item = &str> {
    let mut next = Some(path);
    std::iter::from_fn(move || {
        let current = next?;
        next = parent(current);
        Some(current)
    })
}

fn parent(path: &str) -> Option<&str> {
    let path = path.trim_end_matches('/');
    let (above, _) = path.rsplit_once('/')?;
    let above = above.trim_end_matches('/');
    Some(if above.is_empty() { "/" } else { above })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_end_at_the_top() {
        let all = |path| prefixes(path).collect::<Vec<_>>();
        assert_eq!(all("/a/b"), ["/a/b", "/a", "/"]);
        assert_eq!(all("/a//b/"), ["/a//b/", "/a", "/"]);
        assert_eq!(all("/"), ["/"]);
    }

    #[test]
    fn w310_w311_absent_is_only_what_is_known_to_be_gone() {
        let registered = FileIdentity { device: 1, inode: 7 };
        let copy = FileIdentity { device: 1, inode: 8 };
        let missing = |ancestor_device| RootPresence::Missing { ancestor_device };
        assert!(missing(1).is_absent(registered, copy));
        assert!(!missing(2).is_absent(registered, copy), "a disk may be away");
        assert!(missing(2).is_absent(registered, registered), "the same inode");
        assert!(!RootPresence::Unreadable.is_absent(registered, registered));
        assert!(!RootPresence::NotDirectory.is_absent(registered, copy));
        assert!(!RootPresence::Present(copy).is_absent(registered, registered));
    }
}
