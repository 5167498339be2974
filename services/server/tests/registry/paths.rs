//! Paths that can and can't be registered (cases section 3).

use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use tonic::Code;

use compozy_proto::workspace::v1 as pb;

use crate::requests::register;
use crate::tree::{chmod, exists};
use crate::world::World;

file_cases! {
    w072_w073_the_file_system_resolves,
    w074_the_top_and_the_home_are_no_workspaces,
    w075_relative_paths,
    w076_w078_what_is_not_there,
    w077_what_is_no_directory,
    w079_cycles_of_links,
    w080_w081_texts_that_are_no_paths,
    w082_a_link_to_a_name_that_is_no_text,
    w083_a_closed_parent,
    w110_w111_allowed_roots,
    w112_callers_from_the_network_need_allowed_roots,
}

async fn w072_w073_the_file_system_resolves(world: World) {
    world.mkdir("x");
    let root = world.mkdir("a");
    let row = world.reg(format!("{}/x/../a//./", world.t)).await;
    assert_eq!(row.root_dir, root);
    let deep = world.mkdir("other/deep/dir");
    let beside = world.mkdir("other/deep/b");
    let link = world.link(&deep, "l");
    assert_eq!(world.reg(format!("{link}/../b")).await.root_dir, beside);
}

async fn w074_the_top_and_the_home_are_no_workspaces(world: World) {
    let link = world.link("/", "top");
    let inside = format!("{}/sub", world.home);
    fs::create_dir(&inside).unwrap();
    let to_home = world.link(&world.home, "to-home");
    for path in ["/", "//", "/tmp/..", &link, &world.home, &inside, &to_home] {
        world
            .reg_refused(Code::FailedPrecondition, "HOME_FORBIDDEN", register(path))
            .await;
    }
    assert!(!exists(&format!("{}/.compozy", world.home)));
}

async fn w075_relative_paths(world: World) {
    for path in ["a", "./a", "~/a", "C:\\x"] {
        world
            .reg_refused(Code::InvalidArgument, "PATH_NOT_ABSOLUTE", register(path))
            .await;
    }
}

async fn w076_w078_what_is_not_there(world: World) {
    let dangling = world.link(&world.path("nowhere"), "dangling");
    for path in [world.path("none"), dangling] {
        let failure = world
            .reg_refused(Code::NotFound, "PATH_NOT_FOUND", register(&path))
            .await;
        assert_eq!(failure.metadata["path"], path);
        assert!(failure.names_resource);
    }
    assert!(!exists(&world.path("none")) && !exists(&world.path("nowhere")));
}

async fn w077_what_is_no_directory(world: World) {
    fs::write(world.path("file"), "").unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(world.path("socket")).unwrap();
    let link = world.link(&world.path("file"), "link");
    for path in [world.path("file"), world.path("socket"), link] {
        world
            .reg_refused(Code::InvalidArgument, "PATH_NOT_DIRECTORY", register(path))
            .await;
    }
}

async fn w079_cycles_of_links(world: World) {
    let itself = world.link("l", "l");
    world.link("b", "a");
    world.link("a", "b");
    for path in [itself, world.path("a")] {
        world
            .reg_refused(Code::InvalidArgument, "PATH_LOOP", register(path))
            .await;
    }
}

async fn w080_w081_texts_that_are_no_paths(world: World) {
    let long = "x".repeat(256);
    for bad in [long.as_str(), "a\0b", "a\nb", "a\u{1b}b"] {
        let path = format!("{}/{bad}", world.t);
        let failure = world
            .reg_refused(Code::InvalidArgument, "INVALID_FIELD", register(path))
            .await;
        assert_eq!(failure.fields, ["path"]);
    }
}

async fn w082_a_link_to_a_name_that_is_no_text(world: World) {
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9");
    let target = std::path::Path::new(&world.t).join(name);
    fs::create_dir(&target).unwrap();
    std::os::unix::fs::symlink(&target, world.path("l")).unwrap();
    let failure = world
        .reg_refused(Code::InvalidArgument, "INVALID_FIELD", register(world.path("l")))
        .await;
    assert!(failure.message.contains("caf\\xe9"), "{}", failure.message);
    let newline = std::path::Path::new(&world.t).join("a\nb");
    fs::create_dir(&newline).unwrap();
    std::os::unix::fs::symlink(&newline, world.path("n")).unwrap();
    world
        .reg_refused(Code::InvalidArgument, "INVALID_FIELD", register(world.path("n")))
        .await;
}

async fn w083_a_closed_parent(world: World) {
    let path = world.mkdir("closed/a");
    chmod(&world.path("closed"), 0);
    let failure = world
        .reg_refused(Code::PermissionDenied, "PATH_UNREADABLE", register(&path))
        .await;
    assert_eq!(failure.metadata["path"], path);
    chmod(&world.path("closed"), 0o755);
}

async fn w110_w111_allowed_roots(mut world: World) {
    let ok = world.mkdir("ok");
    let (other, beside) = (world.mkdir("other"), world.mkdir("ok-2"));
    let link = world.link(&other, "ok/link");
    let roots = vec![ok.clone()];
    world.restart(|parts| parts.settings.allowed_roots = roots).await;
    let mut messages = Vec::new();
    // What lies outside is refused in the same words whether it is there or not.
    for path in [
        other.clone(),
        beside,
        link.clone(),
        world.path("none"),
        format!("{link}/none"),
    ] {
        let failure = world
            .reg_refused(Code::PermissionDenied, "PATH_NOT_ALLOWED", register(&path))
            .await;
        messages.push(failure.message.replace(&path, "PATH"));
    }
    messages.dedup();
    assert_eq!(messages.len(), 1, "{messages:?}");
    world
        .reg_refused(Code::NotFound, "PATH_NOT_FOUND", register(format!("{ok}/none")))
        .await;
    let root = world.mkdir("ok/a");
    let outside = pb::RegisterWorkspaceRequest {
        additional_dirs: vec![other],
        ..register(&root)
    };
    let failure = world
        .reg_refused(Code::PermissionDenied, "PATH_NOT_ALLOWED", outside)
        .await;
    assert_eq!(failure.metadata["field"], "additional_dirs[0]");
    assert_eq!(world.reg(&root).await.root_dir, root);
}

async fn w112_callers_from_the_network_need_allowed_roots(world: World) {
    let root = world.mkdir("a");
    let remote = world.daemon.api.seen_by("token");
    let failure = remote.register(register(&root)).await.unwrap_err();
    assert_eq!(
        (failure.code, failure.reason.as_str()),
        (Code::PermissionDenied, "PATH_NOT_ALLOWED")
    );
    let missing = remote.register(register(world.path("none"))).await.unwrap_err();
    assert_eq!(missing.reason, "PATH_NOT_ALLOWED");
    world.reg(&root).await;
}
