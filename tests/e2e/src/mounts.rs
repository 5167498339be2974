//! Disks of a test's own: small ones, read-only ones.

use std::ffi::CString;
use std::path::Path;

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::thread::UnshareFlags;

/// Gives this thread, and the processes that it starts from now on, a view of the file system whose mounts nobody
/// else sees and which ends with them. Answers whether the kernel allowed it: only root may, and not everywhere.
#[must_use]
pub fn private_mounts() -> bool {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    unshare_mounts().is_ok() && mount_change("/", private).is_ok()
}

/// Mounts a disk in memory, with options such as `size=64k`.
pub fn mount_memory(at: &Path, options: &str) {
    let options = CString::new(options).unwrap();
    mount(
        "memory",
        at,
        "tmpfs",
        MountFlags::empty(),
        Some(options.as_c_str()),
    )
    .unwrap();
}

#[expect(
    deprecated,
    reason = "the newer one is unsafe because of flags that are not used here"
)]
fn unshare_mounts() -> rustix::io::Result<()> {
    rustix::thread::unshare(UnshareFlags::NEWNS)
}
