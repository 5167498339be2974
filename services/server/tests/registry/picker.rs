//! The directory picker (cases section 10).

use std::fs;

use compozy_proto::workspace::v1 as pb;
use compozy_resolver::files::faulty::{Failure as DiskFailure, Operation};
use tonic::Code;

use crate::tree::{chmod, exists, tree};
use crate::world::World;

file_cases! {
    w269_without_a_path_the_home,
    w270_what_can_not_be_listed,
    w271_w272_directories_and_links_to_them,
    w273_at_most_a_thousand,
    w274_w276_crumbs_of_an_empty_directory,
    w275_an_unreadable_directory,
    w277_w278_a_new_directory,
    w279_names_that_are_none,
    w280_a_parent_that_is_missing,
    w281_two_at_once,
    w282_the_allowed_roots_hold_here_too,
    a_full_disk_makes_nothing,
    a_long_listing_is_cut_by_its_size,
}

async fn w269_without_a_path_the_home(world: World) {
    world.mkdir("b");
    let listing = list(&world, "").await;
    assert_eq!(listing.path, world.t);
    assert_eq!(listing.entries.len(), 1);
}

async fn w270_what_can_not_be_listed(world: World) {
    fs::write(world.path("file"), "").unwrap();
    let cases = [
        ("x".to_owned(), Code::InvalidArgument, "PATH_NOT_ABSOLUTE"),
        (world.path("none"), Code::NotFound, "PATH_NOT_FOUND"),
        (world.path("file"), Code::InvalidArgument, "PATH_NOT_DIRECTORY"),
    ];
    for (path, code, reason) in cases {
        let call = world.daemon.api.list_directory(pb::ListDirectoryRequest { path });
        world.refused(code, reason, call).await;
    }
}

async fn w271_w272_directories_and_links_to_them(world: World) {
    let elsewhere = world.mkdir("elsewhere");
    let top = world.mkdir("top");
    for name in ["b", "a", ".h"] {
        world.mkdir(&format!("top/{name}"));
    }
    fs::write(format!("{top}/file"), "").unwrap();
    world.link(&elsewhere, "top/link");
    world.link(&format!("{top}/file"), "top/to-file");
    world.link("/nowhere/at/all", "top/dangling");
    world.link("itself", "top/itself");
    let listing = list(&world, &top).await;
    let rows: Vec<_> = listing
        .entries
        .iter()
        .map(|entry| (entry.name.as_str(), entry.hidden))
        .collect();
    assert_eq!(rows, [(".h", true), ("a", false), ("b", false), ("link", false)]);
    assert_eq!(listing.entries[3].path, format!("{top}/link"));
    assert!(!listing.truncated);
}

async fn w273_at_most_a_thousand(world: World) {
    let top = world.mkdir("top");
    for at in 0..1_000 {
        world.mkdir(&format!("top/{at:04}"));
    }
    let listing = list(&world, &top).await;
    assert_eq!((listing.entries.len(), listing.truncated), (1_000, false));
    world.mkdir("top/0000-before");
    let listing = list(&world, &top).await;
    assert_eq!((listing.entries.len(), listing.truncated), (1_000, true));
    assert_eq!(
        (
            listing.entries[1].name.as_str(),
            listing.entries[999].name.as_str()
        ),
        ("0000-before", "0998")
    );
}

async fn w274_w276_crumbs_of_an_empty_directory(world: World) {
    let listing = list(&world, &world.mkdir("a/b")).await;
    assert!(listing.entries.is_empty() && !listing.truncated);
    let mut expected = vec![("/".to_owned(), "/".to_owned())];
    for part in format!("{}/a/b", world.t).split('/').skip(1) {
        let above = expected.last().unwrap().1.trim_end_matches('/').to_owned();
        expected.push((part.to_owned(), format!("{above}/{part}")));
    }
    let crumbs: Vec<_> = listing
        .crumbs
        .into_iter()
        .map(|crumb| (crumb.name, crumb.path))
        .collect();
    assert_eq!(crumbs, expected);
}

async fn w275_an_unreadable_directory(world: World) {
    let path = world.mkdir("closed");
    chmod(&path, 0o311);
    let call = world
        .daemon
        .api
        .list_directory(pb::ListDirectoryRequest { path: path.clone() });
    let failure = world
        .refused(Code::PermissionDenied, "PATH_UNREADABLE", call)
        .await;
    assert_eq!(failure.metadata["path"], path);
    chmod(&path, 0o755);
}

async fn w277_w278_a_new_directory(world: World) {
    let made = world
        .daemon
        .api
        .create_directory(create(&world.t, "new"))
        .await
        .unwrap();
    assert_eq!(made.path, world.path("new"));
    assert_eq!(tree(&world.t).keys().collect::<Vec<_>>(), [&world.path("new")]);
    fs::write(world.path("file"), "x").unwrap();
    for name in ["new", "file"] {
        let call = world.daemon.api.create_directory(create(&world.t, name));
        world.refused(Code::AlreadyExists, "DIRECTORY_EXISTS", call).await;
    }
}

async fn w279_names_that_are_none(world: World) {
    for name in ["a/b", "..", ".", "", "  ", "a\0", "a\nb", &"x".repeat(256)] {
        let call = world.daemon.api.create_directory(create(&world.t, name));
        assert_eq!(
            world
                .refused(Code::InvalidArgument, "INVALID_FIELD", call)
                .await
                .fields,
            ["name"]
        );
    }
}

async fn w280_a_parent_that_is_missing(world: World) {
    let call = world
        .daemon
        .api
        .create_directory(create(&world.path("none"), "new"));
    world.refused(Code::NotFound, "PATH_NOT_FOUND", call).await;
    assert!(!exists(&world.path("none")));
}

async fn w281_two_at_once(world: World) {
    let api = &world.daemon.api;
    let (one, two) = tokio::join!(
        api.create_directory(create(&world.t, "n")),
        api.create_directory(create(&world.t, "n"))
    );
    assert!(one.is_ok() ^ two.is_ok());
    assert_eq!(one.err().or(two.err()).unwrap().reason, "DIRECTORY_EXISTS");
}

async fn w282_the_allowed_roots_hold_here_too(mut world: World) {
    let ok = world.mkdir("ok");
    let out = world.mkdir("out");
    world.link(&out, "ok/link");
    let roots = vec![ok.clone()];
    world.restart(|parts| parts.settings.allowed_roots = roots).await;
    let call = world.daemon.api.list_directory(pb::ListDirectoryRequest {
        path: world.t.clone(),
    });
    world
        .refused(Code::PermissionDenied, "PATH_NOT_ALLOWED", call)
        .await;
    let call = world
        .daemon
        .api
        .create_directory(create(&format!("{ok}/link"), "new"));
    world
        .refused(Code::PermissionDenied, "PATH_NOT_ALLOWED", call)
        .await;
    list(&world, &ok).await;
}

async fn a_full_disk_makes_nothing(world: World) {
    world
        .files
        .fail(Operation::CreateDirectory, DiskFailure::DiskFull);
    let call = world.daemon.api.create_directory(create(&world.t, "new"));
    world.refused(Code::ResourceExhausted, "DISK_FULL", call).await;
}

async fn a_long_listing_is_cut_by_its_size(world: World) {
    let parent = format!("{}/{}", world.t, ["p"; 15].map(|part| part.repeat(250)).join("/"));
    fs::create_dir_all(&parent).unwrap();
    for at in 0..1_000 {
        fs::create_dir(format!("{parent}/{at:04}{}", "n".repeat(150))).unwrap();
    }
    let listing = list(&world, &parent).await;
    assert!(prost::Message::encoded_len(&listing) <= 3 * 1024 * 1024);
    assert!(listing.truncated && listing.entries.len() > 500);
}

cases! {
    a_repeated_creation_gets_the_first_answer,
}

async fn a_repeated_creation_gets_the_first_answer(world: World) {
    let request = pb::CreateDirectoryRequest {
        request_id: "01J0ZK3M5N7P9Q1R3S5T7V9WXY".into(),
        ..create(&world.t, "new")
    };
    let first = world.daemon.api.create_directory(request.clone()).await.unwrap();
    fs::remove_dir(&first.path).unwrap();
    assert_eq!(world.daemon.api.create_directory(request).await.unwrap(), first);
    assert!(!exists(&first.path));
}

async fn list(world: &World, path: &str) -> pb::ListDirectoryResponse {
    let request = pb::ListDirectoryRequest {
        path: path.to_owned(),
    };
    world
        .unchanged_by(world.daemon.api.list_directory(request))
        .await
        .unwrap()
}

fn create(parent: &str, name: &str) -> pb::CreateDirectoryRequest {
    pb::CreateDirectoryRequest {
        parent: parent.to_owned(),
        name: name.to_owned(),
        request_id: String::new(),
    }
}
