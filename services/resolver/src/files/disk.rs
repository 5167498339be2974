//! The real disk. A path below a root is walked name by name, each opened without following a link: a link
//! that somebody puts there in between can't lead out, and no kernel feature is needed for it.

mod list;
mod make;
mod opened;
mod read;
mod resolve;
mod step;
mod write;

use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags, Stat};
use rustix::io::Errno;

use compozy_domain::FileIdentity;

#[cfg(any(test, feature = "testing"))]
pub use self::step::Step;
use self::step::Steps;
use super::{
    ContentHash, CreateFault, Directory, DirectoryFault, Files, Kind, Listing, Made, OpenDirectory,
    ReadFault, RelativePath, RootPresence, Stamp, WriteFault,
};

/// A handle that names a directory without reading it: needs no permission on the directory itself.
const PLACE: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// A handle that can be listed and flushed.
const LISTABLE: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// The file system of this host.
#[derive(Debug, Clone, Default)]
pub struct Disk {
    steps: Steps,
}

impl Disk {
    /// The disk as it is.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The disk, with something that happens before each step of a write; an error of it is taken for the
    /// step's own.
    #[cfg(any(test, feature = "testing"))]
    #[must_use]
    pub fn with_hook(before: impl Fn(Step) -> std::io::Result<()> + Send + Sync + 'static) -> Self {
        Self {
            steps: Steps::hooked(before),
        }
    }
}

impl Files for Disk {
    fn directory(&self, path: &str) -> Result<Directory, DirectoryFault> {
        resolve::directory(path)
    }

    fn open(&self, path: &str) -> Result<Box<dyn OpenDirectory>, DirectoryFault> {
        opened::open(path)
    }

    fn stamp(&self, path: &str) -> Result<Option<Stamp>, ReadFault> {
        opened::stamp(path)
    }

    fn clock(&self) -> i64 {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
        now.tv_sec
            .saturating_mul(1_000_000_000)
            .saturating_add(now.tv_nsec)
    }

    fn root_presence(&self, root: &str) -> RootPresence {
        resolve::root_presence(root)
    }

    fn ancestors(&self, canonical: &str) -> Vec<Directory> {
        resolve::ancestors(canonical)
    }

    fn kind_below(&self, root: &Directory, path: &RelativePath) -> Result<Option<Kind>, ReadFault> {
        read::kind(root, path)
    }

    fn read_below(
        &self,
        root: &Directory,
        path: &RelativePath,
        limit: usize,
    ) -> Result<Option<Vec<u8>>, ReadFault> {
        read::file(root, path, limit)
    }

    fn create_below(&self, root: &Directory, path: &RelativePath, bytes: &[u8]) -> Result<Made, WriteFault> {
        write::create(&self.steps, root, path, bytes)
    }

    fn replace_below(
        &self,
        root: &Directory,
        path: &RelativePath,
        bytes: &[u8],
        expected: Option<&ContentHash>,
    ) -> Result<(), WriteFault> {
        write::replace(&self.steps, root, path, bytes, expected)
    }

    fn sweep_below(
        &self,
        root: &Directory,
        path: &RelativePath,
        content: &ContentHash,
    ) -> Result<(), WriteFault> {
        write::remove::sweep(root, path, content)
    }

    fn remove_below_if(
        &self,
        root: &Directory,
        path: &RelativePath,
        content: &ContentHash,
        remove_directory: bool,
    ) -> Result<bool, WriteFault> {
        write::remove::remove_if(root, path, content, remove_directory)
    }

    fn list_directories(&self, directory: &Directory, limit: usize) -> Result<Listing, DirectoryFault> {
        list::directories(directory, limit)
    }

    fn create_directory(&self, parent: &Directory, name: &str) -> Result<(), CreateFault> {
        make::directory(parent, name)
    }
}

/// Opens a directory that was looked at before, if it is still the same one.
fn open_again(directory: &Directory) -> Result<OwnedFd, DirectoryFault> {
    let opened = rustix::fs::open(directory.path.as_str(), PLACE, Mode::empty()).map_err(directory_fault)?;
    let stat = rustix::fs::fstat(&opened).map_err(directory_fault)?;
    if identity(&stat) == directory.file {
        Ok(opened)
    } else {
        Err(DirectoryFault::NotFound)
    }
}

fn identity(stat: &Stat) -> FileIdentity {
    FileIdentity {
        device: stat.st_dev,
        inode: stat.st_ino,
    }
}

fn directory_fault(errno: Errno) -> DirectoryFault {
    match errno {
        Errno::NOENT => DirectoryFault::NotFound,
        Errno::NOTDIR => DirectoryFault::NotDirectory,
        Errno::LOOP => DirectoryFault::Loop,
        Errno::NAMETOOLONG => DirectoryFault::NameTooLong,
        errno if is_shortage(errno) => DirectoryFault::Other {
            problem: words(errno),
        },
        // Anything else says that the device or its server fails: EIO, ESTALE, ETIMEDOUT and their kin.
        _ => DirectoryFault::Unreadable,
    }
}

/// Whether it is the daemon, not the disk, that lacks something.
fn is_shortage(errno: Errno) -> bool {
    matches!(errno, Errno::MFILE | Errno::NFILE | Errno::NOMEM)
}

/// What the system says, without a path.
fn words(errno: Errno) -> String {
    std::io::Error::from(errno).kind().to_string()
}
