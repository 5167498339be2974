//! Devices, bind mounts and read-only disks. Each test mounts what it needs in a view of its own; where the
//! kernel does not allow that, it says so and tests nothing.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod support;

use compozy_domain::{CatalogError, IdentityFault, WorkspaceStatus};
use compozy_resolver::files::RootPresence;
use compozy_resolver::testing::private_mounts;
use compozy_resolver::{Disk, Files, identity, observe};
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, mount_remount, unmount};
use support::{FILE, ID1, ID2, Place, durable, file, identity as identity_of};

fn may_mount(test: &str) -> bool {
    let allowed = private_mounts();
    if !allowed {
        eprintln!("skipped {test}: mounting is not allowed here");
    }
    allowed
}

/// A mount that is taken away again, so that the place below it can be removed.
struct Mounted(String);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = unmount(self.0.as_str(), UnmountFlags::DETACH);
    }
}

fn mount_memory(path: String, options: &str) -> Mounted {
    let options = std::ffi::CString::new(options).unwrap();
    let flags = MountFlags::empty();
    mount("memory", path.as_str(), "tmpfs", flags, Some(options.as_c_str())).unwrap();
    Mounted(path)
}

fn mount_again(source: &str, path: String) -> Mounted {
    mount_bind(source, path.as_str()).unwrap();
    Mounted(path)
}

#[test]
fn w028_a_read_only_disk_with_a_valid_file_needs_no_write() {
    if !may_mount("w028") {
        return;
    }
    let place = Place::new();
    place.make_with("a", file(ID1));
    place.make("b");
    let _mounted = mount_again(&place.path, place.path.clone());
    mount_remount(&place.path, MountFlags::BIND | MountFlags::RDONLY, "").unwrap();
    let root = Disk::new().directory(&place.at("a")).unwrap();
    let found = identity::read(&Disk::new(), &root).unwrap().unwrap();
    assert_eq!(found.identity.durable_id, durable(ID1));
    let seen = observe(&Disk::new(), &root.path, &durable(ID1));
    assert_eq!(seen.status, WorkspaceStatus::Ok);

    let bare = Disk::new().directory(&place.at("b")).unwrap();
    let refusals = [
        identity::create(&Disk::new(), &bare, &identity_of(ID1, &bare.path)).map(|_| ()),
        identity::fork(&Disk::new(), &root, &found, &durable(ID2)).map(|_| ()),
    ];
    for refusal in refusals {
        let error = refusal.unwrap_err();
        let CatalogError::Identity { fault, .. } = error else {
            panic!("{error:?}")
        };
        let IdentityFault::Unwritable { problem } = fault else {
            panic!("{fault:?}")
        };
        assert!(problem.contains("read-only"), "{problem}");
    }
}

#[test]
fn w029_a_disk_that_is_really_full_keeps_nothing() {
    if !may_mount("w029") {
        return;
    }
    let place = Place::new();
    place.make("disk");
    let _mounted = mount_memory(place.at("disk"), "size=16k");
    let root = place.make("disk/a");
    let with_file = place.make_with("disk/b", file(ID1));
    // Fills up every page that is left.
    std::fs::write(place.at("disk/ballast"), vec![0_u8; 64 * 1024]).unwrap_err();
    let error = identity::create(&Disk::new(), &root, &identity_of(ID1, &root.path)).unwrap_err();
    assert_eq!(error, CatalogError::DiskFull);
    assert!(place.names("disk/a").is_empty());
    let old = identity::read(&Disk::new(), &with_file).unwrap().unwrap();
    let error = identity::fork(&Disk::new(), &with_file, &old, &durable(ID2)).unwrap_err();
    assert_eq!(error, CatalogError::DiskFull);
    assert_eq!(place.read(&format!("disk/b/{FILE}")), file(ID1).into_bytes());
    assert_eq!(place.names("disk/b/.compozy"), ["workspace.toml"]);
}

#[test]
fn a_root_copied_to_another_device_and_removed_is_absent() {
    if !may_mount("another device") {
        return;
    }
    let place = Place::new();
    let root = place.make("a");
    place.make("other-device");
    let _mounted = mount_memory(place.at("other-device"), "");
    let copy = place.make("other-device/a");
    assert_ne!(copy.file.device, root.file.device);
    std::fs::remove_dir(&root.path).unwrap();
    assert!(
        Disk::new()
            .root_presence(&root.path)
            .is_absent(root.file, copy.file)
    );
}

#[test]
fn w168_a_bind_mount_is_the_same_directory_under_another_name() {
    if !may_mount("w168") {
        return;
    }
    let place = Place::new();
    let root = place.make("root");
    place.make("root/sub");
    place.make("mnt/x");
    let _mounted = mount_again(&root.path, place.at("mnt/x"));
    let inside = Disk::new().directory(&place.at("mnt/x/sub")).unwrap();
    assert_eq!(inside.path, place.at("mnt/x/sub"));
    let ancestors = Disk::new().ancestors(&inside.path);
    let same: Vec<&str> = ancestors
        .iter()
        .filter(|ancestor| ancestor.file == root.file)
        .map(|ancestor| ancestor.path.as_str())
        .collect();
    assert_eq!(same, [place.at("mnt/x")]);
}

#[test]
fn w310_a_moved_root_is_known_by_its_inode_where_another_device_is_in_its_place() {
    if !may_mount("w310") {
        return;
    }
    let place = Place::new();
    place.make("d1");
    let _disk = mount_memory(place.at("d1"), "");
    let root = place.make("d1/x/a");
    let copy = place.make("d1/copy");
    std::fs::rename(&root.path, place.at("d1/b")).unwrap();
    let _other = mount_memory(place.at("d1/x"), "");
    let presence = Disk::new().root_presence(&root.path);
    let RootPresence::Missing { ancestor_device } = presence else {
        panic!("{presence:?}")
    };
    assert_ne!(ancestor_device, root.file.device);
    let moved = Disk::new().directory(&place.at("d1/b")).unwrap();
    assert!(presence.is_absent(root.file, moved.file));
    assert!(!presence.is_absent(root.file, copy.file), "its disk may be away");
}

#[test]
fn a_root_whose_disk_is_away_is_missing_but_not_absent() {
    if !may_mount("a disk that is away") {
        return;
    }
    let place = Place::new();
    place.make("mnt");
    let mounted = mount_memory(place.at("mnt"), "");
    let root = place.make_with("mnt/a", file(ID1));
    let copy = place.make("copy");
    drop(mounted);
    let seen = observe(&Disk::new(), &root.path, &durable(ID1));
    assert_eq!(seen.status, WorkspaceStatus::RootMissing);
    assert!(
        !Disk::new()
            .root_presence(&root.path)
            .is_absent(root.file, copy.file)
    );
}
