//! Homes that are filled from a backup.

use std::path::Path;

use compozy_proto::workspace::v1::{ListWorkspacesRequest, Workspace};

use crate::daemon::{Daemon, Place, said, tree};

fn page(cursor: &str) -> ListWorkspacesRequest {
    ListWorkspacesRequest {
        limit: 1,
        include_status: true,
        cursor: cursor.to_owned(),
        ..Default::default()
    }
}

fn restore(place: &Place, backup: &Path, home: &str) -> std::process::Output {
    place.compozyd(&place.home(home), &["restore", backup.to_str().unwrap()])
}

/// C178 as far as there are no sessions, and the second half of W324.
#[tokio::test(flavor = "multi_thread")]
async fn c178_w324_a_restored_home_has_every_answered_write_and_takes_the_old_cursors() {
    let place = Place::new();
    let daemon = Daemon::start(&place.home("h")).await;
    let mut before = Vec::new();
    for name in ["a", "b", "c"] {
        before.push(daemon.register(&place.directory(name)).await);
    }
    let first = daemon.list(page("")).await.unwrap();
    let cursor = first.page.unwrap().next_cursor.unwrap();
    let writing = async {
        for number in 0..20 {
            daemon
                .register(&place.directory(&format!("during-{number}")))
                .await;
        }
    };
    let (written, ()) = tokio::join!(daemon.backup(place.path("bk")), writing);
    written.unwrap();
    let on_with_the_original = daemon.list(page(&cursor)).await.unwrap();
    daemon.stop().await;

    let output = restore(&place, &place.path("bk"), "restored");
    assert!(output.status.success(), "{}", said(&output));
    let home = place.home("restored");
    let modes = tree(home.path());
    assert!(modes.iter().all(|(_, mode, _)| mode & 0o077 == 0), "{modes:?}");
    let daemon = Daemon::start(&home).await;
    let names = daemon.names().await;
    for name in ["a", "b", "c"] {
        assert!(names.iter().any(|known| known == name), "{names:?}");
    }
    let on_with_the_copy = daemon.list(page(&cursor)).await.unwrap();
    let row = |page: &[Workspace]| (page[0].id.clone(), page[0].status());
    assert_eq!(
        row(&on_with_the_copy.workspaces),
        row(&on_with_the_original.workspaces)
    );
    assert_eq!(
        on_with_the_copy.workspaces[0].host_id, before[0].host_id,
        "it is the same host's catalog"
    );
    let [old, new] = [on_with_the_original, on_with_the_copy].map(|page| page.page.unwrap().revision);
    assert_ne!(old, new, "another epoch");
    daemon.register(&place.directory("after")).await;

    let doctor = place.compozyd(&home, &["doctor"]);
    assert!(doctor.status.success(), "{}", said(&doctor));
    daemon.stop().await;
}

/// C179. Whatever is wrong with the backup or the home, the home stays as it was.
#[tokio::test(flavor = "multi_thread")]
async fn c179_a_home_that_is_not_empty_and_a_falsified_backup_are_refused() {
    let place = Place::new();
    let daemon = Daemon::start(&place.home("h")).await;
    daemon.register(&place.directory("a")).await;
    daemon.backup(place.path("bk")).await.unwrap();
    let refused = |backup: &Path, home: &str, code: i32, words: &str| {
        let before = tree(place.home(home).path());
        let output = restore(&place, backup, home);
        assert_eq!(output.status.code(), Some(code), "{}", said(&output));
        assert!(said(&output).contains(words), "{words}: {}", said(&output));
        assert!(tree(place.home(home).path()) == before, "{words}");
    };
    place.directory("taken");
    std::fs::write(place.path("taken/config.toml"), "").unwrap();
    refused(&place.path("bk"), "taken", 65, "not empty");
    // One that a daemon runs on is named as such.
    let running = restore(&place, &place.path("bk"), "h");
    assert_eq!(running.status.code(), Some(69), "{}", said(&running));
    assert_eq!(daemon.names().await, ["a"]);

    place.directory("empty");
    let manifest = std::fs::read_to_string(place.path("bk/manifest.json")).unwrap();
    let copy = std::fs::read(place.path("bk/compozy.db")).unwrap();
    let with = |name: &str, manifest: &str, copy: &[u8]| {
        let backup = place.directory(name);
        std::fs::write(backup.join("manifest.json"), manifest).unwrap();
        std::fs::write(backup.join("compozy.db"), copy).unwrap();
        backup
    };
    let digest = manifest.split("\"sha256\": \"").nth(1).unwrap()[..64].to_owned();
    let other_digest = manifest.replace(&digest, &"0".repeat(64));
    let mut other_byte = copy.clone();
    *other_byte.last_mut().unwrap() ^= 1;
    let cases = [
        (with("digest", &other_digest, &copy), "not what the manifest says"),
        (with("byte", &manifest, &other_byte), "not what the manifest says"),
        (
            with("short", &manifest, &copy[..copy.len() - 1]),
            "not what the manifest says",
        ),
        (
            with(
                "newer",
                &manifest.replace("\"format\": 1", "\"format\": 2"),
                &copy,
            ),
            "newer",
        ),
        (
            with("way-out", &manifest.replace("compozy.db", "../compozy.db"), &copy),
            "nothing else",
        ),
        (with("no-json", "{", &copy), "manifest"),
        (place.directory("no-manifest"), "no complete backup"),
        (place.path("not-there"), "no complete backup"),
    ];
    for (backup, words) in cases {
        for home in ["empty", "missing"] {
            refused(&backup, home, 65, words);
        }
    }
    assert!(!place.path("missing").exists());
    let output = restore(&place, &place.path("bk"), "empty");
    assert!(output.status.success(), "{}", said(&output));
    refused(&place.path("bk"), "empty", 65, "not empty");
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_of_a_newer_release_is_refused_before_anything_is_written() {
    let place = Place::new();
    let daemon = Daemon::start(&place.home("h")).await;
    daemon.backup(place.path("bk")).await.unwrap();
    daemon.stop().await;
    // As a newer release would have written it, with the digest that goes with it.
    let path = place.path("bk/compozy.db");
    crate::examined::change(
        &path,
        "UPDATE schema_version SET version = 9, oldest_binary = '99.1.0'",
    );
    let manifest = std::fs::read_to_string(place.path("bk/manifest.json")).unwrap();
    let digest = manifest.split("\"sha256\": \"").nth(1).unwrap()[..64].to_owned();
    let new = <sha2::Sha256 as sha2::Digest>::digest(std::fs::read(&path).unwrap());
    let new: String = new.iter().map(|byte| format!("{byte:02x}")).collect();
    std::fs::write(place.path("bk/manifest.json"), manifest.replace(&digest, &new)).unwrap();

    let output = restore(&place, &place.path("bk"), "restored");
    assert_eq!(output.status.code(), Some(65), "{}", said(&output));
    assert!(said(&output).contains("99.1.0"), "{}", said(&output));
    assert!(!place.path("restored").exists());
}
