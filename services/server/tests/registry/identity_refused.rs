//! Identity files that refuse a registration: nothing is replaced, nothing is left behind (cases section 1).

use std::fs;
use std::sync::Arc;

use compozy_resolver::Disk;
use compozy_resolver::files::Step;
use compozy_resolver::files::faulty::{Failure as DiskFailure, Operation};
use rustix::fs::{CWD, FileType, Mode};
use tonic::Code;

use crate::client::Failure;
use crate::requests::{ID1, register};
use crate::tree::{chmod, exists, identity_file, mode};
use crate::world::{World, file_of};

file_cases! {
    w008_a_time_without_seconds_and_zone,
    w009_w010_w011_w012_w013_ids_that_are_none,
    w014_w015_w018_broken_rules,
    w016_w017_the_line_of_a_problem,
    w022_no_regular_file,
    w023_an_unreadable_file,
    w024_an_unreadable_directory_of_the_file,
    w025_w026_something_else_in_the_way,
    w027_a_root_that_can_not_be_written,
    w029_a_full_disk,
    w030_no_randomness,
    w031_somebody_else_makes_an_invalid_file_first,
    a_valid_file_that_came_first_counts,
    w035_without_auto_create_a_directory_without_file,
    w035_a_workspace_may_say_so_for_itself,
    a_refused_write_leaves_nothing,
}

async fn w008_a_time_without_seconds_and_zone(world: World) {
    let content = identity_file(ID1).replace("2026-05-04T14:30:00Z", "2026-05-04 14:30");
    let failure = refused(&world, content).await;
    assert_eq!(failure.metadata["line"], "2");
    assert_eq!(failure.metadata["path"], file_of(&world.path("d")));
    assert!(
        failure.metadata["remedy"].contains("compozy workspace identity repair"),
        "{failure:?}"
    );
}

async fn w009_w010_w011_w012_w013_ids_that_are_none(world: World) {
    let spaced = format!(" {ID1} ");
    let mut bad = vec![
        ID1.to_lowercase(),
        ID1[1..].to_owned(),
        format!("{ID1}0"),
        spaced,
        String::new(),
    ];
    bad.extend(["I", "L", "O", "U"].map(|end| format!("{}{end}", &ID1[..25])));
    bad.push("81HXJ9YR4QZ0V7M3T5B8N2C6KD".to_owned());
    for id in bad {
        refused(&world, identity_file(&id)).await;
    }
    refused(&world, identity_file(ID1).replace(&format!("\"{ID1}\""), "17")).await;
    let without: Vec<_> = identity_file(ID1).lines().skip(1).map(str::to_owned).collect();
    refused(&world, without.join("\n")).await;
}

async fn w014_w015_w018_broken_rules(world: World) {
    refused(&world, "").await;
    refused(&world, identity_file(ID1).replace("/elsewhere/x", "  ")).await;
    let without: Vec<_> = identity_file(ID1).lines().take(2).map(str::to_owned).collect();
    refused(&world, without.join("\n")).await;
    let mut bytes = format!("{}# ", identity_file(ID1)).into_bytes();
    bytes.push(0xff);
    refused(&world, bytes).await;
}

async fn w016_w017_the_line_of_a_problem(world: World) {
    let twice = format!("{}workspace_id = \"{ID1}\"\n", identity_file(ID1));
    assert_eq!(refused(&world, twice).await.metadata["line"], "4");
    let open = identity_file(ID1).replace("/elsewhere/x\"", "/elsewhere/x");
    assert_eq!(refused(&world, open).await.metadata["line"], "3");
}

async fn w022_no_regular_file(world: World) {
    let root = world.mkdir("a");
    world.mkdir("a/.compozy/workspace.toml");
    let failure = world
        .reg_refused(Code::FailedPrecondition, "IDENTITY_INVALID", register(&root))
        .await;
    assert_eq!(failure.metadata["path"], file_of(&root));
    let root = world.mkdir("b/.compozy").replace("/.compozy", "");
    rustix::fs::mknodat(CWD, file_of(&root), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let request = world.daemon.api.within(20_000).register(register(&root)).await;
    assert_eq!(request.unwrap_err().reason, "IDENTITY_INVALID");
    assert_eq!(world.total().await, 0);
}

async fn w023_an_unreadable_file(world: World) {
    let root = world.mkdir_with_id("a", ID1);
    chmod(&file_of(&root), 0);
    let failure = world
        .reg_refused(Code::PermissionDenied, "IDENTITY_UNREADABLE", register(&root))
        .await;
    assert_eq!(failure.metadata["path"], file_of(&root));
}

async fn w024_an_unreadable_directory_of_the_file(world: World) {
    let root = world.mkdir_with_id("a", ID1);
    chmod(&format!("{root}/.compozy"), 0);
    world
        .reg_refused(Code::PermissionDenied, "IDENTITY_UNREADABLE", register(&root))
        .await;
    assert_eq!(mode(&format!("{root}/.compozy")), 0);
}

async fn w025_w026_something_else_in_the_way(world: World) {
    let root = world.mkdir("a");
    fs::write(format!("{root}/.compozy"), "abc").unwrap();
    let failure = world
        .reg_refused(Code::FailedPrecondition, "IDENTITY_UNWRITABLE", register(&root))
        .await;
    assert!(failure.metadata["path"].contains(".compozy"));
    world.mkdir("b");
    let nowhere = world.path("nowhere");
    world.link(&nowhere, "b/.compozy");
    world
        .reg_refused(
            Code::FailedPrecondition,
            "IDENTITY_UNWRITABLE",
            register(world.path("b")),
        )
        .await;
    assert!(!exists(&nowhere));
    let only_try = compozy_proto::workspace::v1::RegisterWorkspaceRequest {
        validate_only: true,
        ..register(root)
    };
    world
        .reg_refused(Code::FailedPrecondition, "IDENTITY_UNWRITABLE", only_try)
        .await;
}

async fn w027_a_root_that_can_not_be_written(world: World) {
    let root = world.mkdir("a");
    chmod(&root, 0o555);
    world
        .reg_refused(Code::FailedPrecondition, "IDENTITY_UNWRITABLE", register(&root))
        .await;
    assert_eq!(world.total().await, 0);
    assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
}

async fn w029_a_full_disk(mut world: World) {
    let root = world.mkdir("a");
    let full = |step| match step {
        Step::Write => Err(std::io::Error::from(rustix::io::Errno::NOSPC)),
        _ => Ok(()),
    };
    world
        .restart(|parts| parts.files = Arc::new(Disk::with_hook(full)))
        .await;
    world
        .reg_refused(Code::ResourceExhausted, "DISK_FULL", register(&root))
        .await;
    assert!(!exists(&format!("{root}/.compozy")));
}

async fn w030_no_randomness(world: World) {
    let root = world.mkdir("a");
    world.random.fail(true);
    let failure = world.daemon.api.register(register(&root)).await.unwrap_err();
    assert_eq!(
        (failure.code, failure.reason.as_str()),
        (Code::Internal, "DEFECT")
    );
    world.random.fail(false);
    assert_eq!(world.total().await, 0);
    assert!(!exists(&format!("{root}/.compozy")));
}

async fn w031_somebody_else_makes_an_invalid_file_first(world: World) {
    let root = world.mkdir("a");
    let file = file_of(&root);
    let made_in = root.clone();
    world.files.before(Operation::Create, move || {
        fs::create_dir_all(format!("{made_in}/.compozy")).unwrap();
        fs::write(file_of(&made_in), "not ours").unwrap();
    });
    let failure = world.daemon.api.register(register(&root)).await.unwrap_err();
    assert_eq!(failure.reason, "IDENTITY_INVALID");
    assert_eq!(fs::read_to_string(&file).unwrap(), "not ours");
    assert_eq!(fs::read_dir(format!("{root}/.compozy")).unwrap().count(), 1);
    assert_eq!(world.total().await, 0);
}

async fn a_valid_file_that_came_first_counts(world: World) {
    let root = world.mkdir("a");
    let made_in = root.clone();
    world.files.before(Operation::Create, move || {
        fs::create_dir_all(format!("{made_in}/.compozy")).unwrap();
        fs::write(file_of(&made_in), identity_file(ID1)).unwrap();
    });
    assert_eq!(world.reg(&root).await.durable_id, ID1);
    assert_eq!(fs::read_to_string(file_of(&root)).unwrap(), identity_file(ID1));
}

async fn w035_a_workspace_may_say_so_for_itself(mut world: World) {
    let says = |name: &str, value: bool| {
        let root = world.mkdir(name);
        fs::create_dir(format!("{root}/.compozy")).unwrap();
        let text = format!("[memory.workspace]\nauto_create = {value}\n");
        fs::write(format!("{root}/.compozy/config.toml"), text).unwrap();
        root
    };
    let (without, with) = (says("without", false), says("with", true));
    let failure = world
        .reg_refused(Code::FailedPrecondition, "IDENTITY_INVALID", register(&without))
        .await;
    assert!(failure.message.contains("identity repair"), "{}", failure.message);
    assert!(!exists(&file_of(&without)));
    assert_eq!(world.total().await, 0);
    world.restart(|parts| parts.settings.auto_create = false).await;
    world.reg(&with).await;
    assert!(exists(&file_of(&with)));
}

async fn w035_without_auto_create_a_directory_without_file(mut world: World) {
    world.restart(|parts| parts.settings.auto_create = false).await;
    let root = world.mkdir("a");
    let failure = world
        .reg_refused(Code::FailedPrecondition, "IDENTITY_INVALID", register(&root))
        .await;
    let told = format!("{} {}", failure.message, failure.metadata["remedy"]);
    assert!(
        told.contains(&format!("compozy workspace identity repair {root}")),
        "{told}"
    );
}

async fn a_refused_write_leaves_nothing(world: World) {
    let root = world.mkdir("a");
    world.files.fail(Operation::Create, DiskFailure::Refused);
    world
        .reg_refused(Code::FailedPrecondition, "IDENTITY_UNWRITABLE", register(&root))
        .await;
    world.files.heal(Operation::Create);
    world.reg(&root).await;
}

/// A directory with this identity file is refused, and its bytes stay.
async fn refused(world: &World, content: impl AsRef<[u8]>) -> Failure {
    let root = world.mkdir_with_file("d", content.as_ref());
    let failure = world
        .reg_refused(Code::FailedPrecondition, "IDENTITY_INVALID", register(&root))
        .await;
    assert_eq!(fs::read(file_of(&root)).unwrap(), content.as_ref());
    assert_eq!(world.total().await, 0);
    fs::remove_dir_all(&root).unwrap();
    failure
}
