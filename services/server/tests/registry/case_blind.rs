//! A file system that ignores case (cases section 6): the kernel of a test machine rarely offers one, so the seam to
//! the disk plays it. A path keeps the spelling of its caller, and leads to the directory whatever its case.

use std::sync::Arc;

use compozy_proto::workspace::v1 as pb;
use compozy_proto::workspace::v1::DiscoveryMethod as Method;
use compozy_resolver::files::{
    CreateFault, DirectoryFault, Files, Kind, Listing, Made, OpenDirectory, ReadFault, RelativePath,
    RootPresence, Stamp, WriteFault,
};
use compozy_resolver::{ContentHash, Directory, Disk};

use crate::requests::{discover, register};
use crate::world::World;

/// The disk, with one directory whose name may be written in lower case, too.
#[derive(Debug)]
struct CaseBlind {
    disk: Disk,
    written: String,
    lower: String,
}

impl CaseBlind {
    /// The path as the disk has it.
    fn real(&self, path: &str) -> String {
        path.replacen(&self.lower, &self.written, 1)
    }

    /// The directory as the disk has it, for what goes on below it.
    fn real_directory(&self, directory: &Directory) -> Directory {
        Directory {
            path: self.real(&directory.path),
            file: directory.file,
        }
    }

    /// The answer in the spelling of the question.
    fn spelled(&self, asked: &str, found: Directory) -> Directory {
        if asked.starts_with(&self.lower) {
            return Directory {
                path: found.path.replacen(&self.written, &self.lower, 1),
                file: found.file,
            };
        }
        found
    }
}

impl Files for CaseBlind {
    fn directory(&self, path: &str) -> Result<Directory, DirectoryFault> {
        Ok(self.spelled(path, self.disk.directory(&self.real(path))?))
    }

    fn open(&self, path: &str) -> Result<Box<dyn OpenDirectory>, DirectoryFault> {
        self.disk.open(&self.real(path))
    }

    fn stamp(&self, path: &str) -> Result<Option<Stamp>, ReadFault> {
        self.disk.stamp(&self.real(path))
    }

    fn clock(&self) -> i64 {
        self.disk.clock()
    }

    fn root_presence(&self, root: &str) -> RootPresence {
        self.disk.root_presence(&self.real(root))
    }

    fn ancestors(&self, canonical: &str) -> Vec<Directory> {
        let found = self.disk.ancestors(&self.real(canonical));
        found
            .into_iter()
            .map(|directory| self.spelled(canonical, directory))
            .collect()
    }

    fn kind_below(&self, root: &Directory, path: &RelativePath) -> Result<Option<Kind>, ReadFault> {
        self.disk.kind_below(&self.real_directory(root), path)
    }

    fn read_below(
        &self,
        root: &Directory,
        path: &RelativePath,
        limit: usize,
    ) -> Result<Option<Vec<u8>>, ReadFault> {
        self.disk.read_below(&self.real_directory(root), path, limit)
    }

    fn create_below(&self, root: &Directory, path: &RelativePath, bytes: &[u8]) -> Result<Made, WriteFault> {
        self.disk.create_below(&self.real_directory(root), path, bytes)
    }

    fn replace_below(
        &self,
        root: &Directory,
        path: &RelativePath,
        bytes: &[u8],
        expected: Option<&ContentHash>,
    ) -> Result<(), WriteFault> {
        self.disk
            .replace_below(&self.real_directory(root), path, bytes, expected)
    }

    fn sweep_below(
        &self,
        root: &Directory,
        path: &RelativePath,
        content: &ContentHash,
    ) -> Result<(), WriteFault> {
        self.disk.sweep_below(&self.real_directory(root), path, content)
    }

    fn remove_below_if(
        &self,
        root: &Directory,
        path: &RelativePath,
        content: &ContentHash,
        remove_directory: bool,
    ) -> Result<bool, WriteFault> {
        self.disk
            .remove_below_if(&self.real_directory(root), path, content, remove_directory)
    }

    fn list_directories(&self, directory: &Directory, limit: usize) -> Result<Listing, DirectoryFault> {
        self.disk.list_directories(&self.real_directory(directory), limit)
    }

    fn create_directory(&self, parent: &Directory, name: &str) -> Result<(), CreateFault> {
        self.disk.create_directory(&self.real_directory(parent), name)
    }
}

file_cases! {
    w167_a_root_in_another_case,
}

async fn w167_a_root_in_another_case(mut world: World) {
    let (written, lower) = (world.path("Foo"), world.path("foo"));
    world.mkdir("Foo/sub");
    let files = CaseBlind {
        disk: Disk::new(),
        written: written.clone(),
        lower: lower.clone(),
    };
    world.restart(|parts| parts.files = Arc::new(files)).await;
    let row = world.reg(&written).await;
    let found = world
        .daemon
        .api
        .discover(discover(format!("{lower}/sub")))
        .await
        .unwrap();
    assert_eq!(
        (found.method(), found.canonical_path),
        (Method::SameFile, format!("{lower}/sub"))
    );
    assert_eq!(found.workspace.as_ref(), Some(&row));
    for reuse_enclosing in [true, false] {
        let path = if reuse_enclosing {
            format!("{lower}/sub")
        } else {
            lower.clone()
        };
        let request = pb::RegisterWorkspaceRequest {
            reuse_enclosing,
            ..register(path)
        };
        let answer = world
            .unchanged_by(world.daemon.api.register(request))
            .await
            .unwrap();
        assert_eq!((answer.created, answer.workspace.as_ref()), (false, Some(&row)));
    }
    assert_eq!(world.total().await, 1);
}
