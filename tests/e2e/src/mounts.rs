//! Disks of a test's own: small ones, read-only ones.

use std::ffi::CString;
use std::path::{Path, PathBuf};

use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind, mount_change, mount_remount, unmount,
};
use rustix::thread::UnshareFlags;

/// Gives this thread, and the processes that it starts from now on, a view of the file system whose mounts nobody
/// else sees and which ends with them. Answers whether the kernel allowed it: only root may, and not everywhere.
#[must_use]
pub fn private_mounts() -> bool {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    unshare_mounts().is_ok() && mount_change("/", private).is_ok()
}

/// A mount that ends with this value, so that the directory below can be removed.
#[derive(Debug)]
pub struct Mounted(PathBuf);

impl Mounted {
    /// A disk in memory, with options such as `size=64k`.
    pub fn memory(at: &Path, options: &str) -> Self {
        let options = CString::new(options).unwrap();
        mount(
            "memory",
            at,
            "tmpfs",
            MountFlags::empty(),
            Some(options.as_c_str()),
        )
        .unwrap();
        Self(at.to_owned())
    }

    /// The directory itself, but nobody can write to it.
    pub fn read_only(at: &Path) -> Self {
        mount_bind(at, at).unwrap();
        mount_remount(at, MountFlags::BIND | MountFlags::RDONLY, "").unwrap();
        Self(at.to_owned())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // What fails here ends with the thread anyway.
        let _ = unmount(&self.0, UnmountFlags::DETACH);
    }
}

#[expect(
    deprecated,
    reason = "the newer one is unsafe because of flags that are not used here"
)]
fn unshare_mounts() -> rustix::io::Result<()> {
    rustix::thread::unshare(UnshareFlags::NEWNS)
}
