//! What tests need to act as somebody else than root, and on disks of their own.

use rustix::thread::{CapabilitySet, UnshareFlags, capabilities, set_capabilities};

/// Lets this thread, and those that it starts from now on, obey the modes of files as any user does. Without
/// it root reads and writes everything, and a test of a permission tests nothing.
///
/// # Panics
/// When the kernel refuses: a test that went on would pass without testing.
pub fn drop_file_privileges() {
    let mut sets = capabilities(None).expect("a thread may always read its own capabilities");
    let privileges = CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH;
    sets.effective.remove(privileges);
    sets.permitted.remove(privileges);
    sets.inheritable.remove(privileges);
    set_capabilities(None, sets).expect("a thread may always give capabilities up");
}

/// Gives this thread, and those that it starts from now on, a view of the file system whose mounts nobody
/// else sees and which ends with it. Answers whether the kernel allowed it: only root may, and not in every
/// container.
#[must_use]
pub fn private_mounts() -> bool {
    use rustix::mount::{MountPropagationFlags, mount_change};
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    unshare_mounts().is_ok() && mount_change("/", private).is_ok()
}

#[expect(
    deprecated,
    reason = "the newer one is unsafe because of flags that are not used here"
)]
fn unshare_mounts() -> rustix::io::Result<()> {
    rustix::thread::unshare(UnshareFlags::NEWNS)
}
