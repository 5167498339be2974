//! Directories that are mounted, twice, elsewhere or read-only (cases sections 1, 6 and 13).

use std::fs;

use compozy_proto::workspace::v1 as pb;
use compozy_proto::workspace::v1::DiscoveryMethod as Method;
use rustix::mount::{MountFlags, mount, mount_bind, mount_remount};
use tonic::Code;

use crate::requests::{ID1, discover, named, register};
use crate::tree::identity_file;
use crate::world::{World, file_of};

mount_cases! {
    w028_a_read_only_disk_with_a_valid_file,
    w168_a_bind_mount_is_the_same_directory,
    w169_two_roots_that_became_one,
    w310_the_recorded_inode_on_the_recorded_device,
    the_daemons_home_in_another_guise,
}

async fn w028_a_read_only_disk_with_a_valid_file(world: World) {
    let root = world.mkdir_with_id("disk/a", ID1);
    let bare = world.mkdir("disk/b");
    let disk = world.path("disk");
    mount_bind(&disk, &disk).unwrap();
    mount_remount(&disk, MountFlags::BIND | MountFlags::RDONLY, "").unwrap();
    assert_eq!(world.reg(&root).await.durable_id, ID1);
    world
        .reg_refused(Code::FailedPrecondition, "IDENTITY_UNWRITABLE", register(bare))
        .await;
    world.reg(world.mkdir_with_id("c", ID1)).await;
    let fork = pb::RegisterWorkspaceRequest {
        identity_policy: pb::IdentityPolicy::Fork.into(),
        ..register(format!("{disk}/a"))
    };
    assert!(!world.daemon.api.register(fork).await.unwrap().created);
}

async fn w168_a_bind_mount_is_the_same_directory(world: World) {
    let row = world.reg_new("root").await;
    world.mkdir("root/sub");
    let mounted = world.mkdir("mnt/x");
    mount_bind(&row.root_dir, &mounted).unwrap();
    let found = world
        .daemon
        .api
        .discover(discover(format!("{mounted}/sub")))
        .await
        .unwrap();
    assert_eq!(found.method(), Method::SameFile);
    assert_eq!(found.canonical_path, format!("{mounted}/sub"));
    assert_eq!(found.workspace.as_ref(), Some(&row));
    // The same directory is registered once, whatever it is called.
    let again = world
        .unchanged_by(world.daemon.api.register(register(&mounted)))
        .await
        .unwrap();
    assert_eq!((again.created, again.workspace.as_ref()), (false, Some(&row)));
    world
        .reg_refused(
            Code::AlreadyExists,
            "WORKSPACE_PATH_CONFLICT",
            named(&mounted, "other"),
        )
        .await;
}

async fn w169_two_roots_that_became_one(world: World) {
    let (a, b) = (world.reg_new("a").await, world.reg_new("b").await);
    mount_bind(&a.root_dir, &b.root_dir).unwrap();
    fs::create_dir(format!("{}/x", a.root_dir)).unwrap();
    let smaller = a.id.clone().min(b.id.clone());
    for path in [
        format!("{}/x", a.root_dir),
        format!("{}/x", b.root_dir),
        b.root_dir.clone(),
    ] {
        for _ in 0..5 {
            let found = world.daemon.api.discover(discover(&path)).await.unwrap();
            // Only one of the two recorded the directory that both are now; the other matches by its path.
            let expected = if path.starts_with(&a.root_dir) {
                &a.id
            } else {
                &smaller
            };
            assert_eq!(found.workspace.unwrap().id, *expected);
        }
    }
}

async fn w310_the_recorded_inode_on_the_recorded_device(world: World) {
    let disk = world.mkdir("d1");
    mount("memory", disk.as_str(), "tmpfs", MountFlags::empty(), None).unwrap();
    let before = world.reg_new("d1/x/a").await;
    let copy = world.mkdir_with_file("d1/copy", identity_file(&before.durable_id));
    fs::rename(&before.root_dir, format!("{disk}/b")).unwrap();
    mount(
        "memory",
        format!("{disk}/x").as_str(),
        "tmpfs",
        MountFlags::empty(),
        None,
    )
    .unwrap();
    // A copy is no move: the disk on which the root lay may be away.
    assert!(world.daemon.api.register(register(&copy)).await.unwrap().created);
    let row = world.record(&before.id).await;
    assert_eq!(row.root_dir, before.root_dir);
    fs::remove_file(file_of(&copy)).unwrap();
    let answer = world
        .daemon
        .api
        .register(register(format!("{disk}/b")))
        .await
        .unwrap();
    assert_eq!(answer.relinked_from, Some(before.root_dir));
    assert_eq!(answer.workspace.unwrap().id, before.id);
}

async fn the_daemons_home_in_another_guise(world: World) {
    let guise = world.mkdir("guise");
    mount_bind(&world.home, &guise).unwrap();
    world
        .reg_refused(Code::FailedPrecondition, "HOME_FORBIDDEN", register(&guise))
        .await;
    // Nobody walks through what is below this one.
    let top = format!("{}/top", world.home);
    fs::create_dir(&top).unwrap();
    mount_bind("/", &top).unwrap();
    let link = world.link(&top, "top");
    world
        .reg_refused(Code::FailedPrecondition, "HOME_FORBIDDEN", register(&link))
        .await;
}
