//! Disks that are full or read-only, made in a namespace of their own. Where namespaces are forbidden these tests
//! say so and pass.

use std::path::Path;
use std::process::Stdio;

use compozy_server::home::Home;
use compozy_server::random::SystemRandom;
use tokio::process::Command;

use crate::binary::{COMPOZYD, output, text};

/// Where the full disk is, for the test inside of it.
const FULL_DISK: &str = "COMPOZY_TEST_FULL_DISK";

/// A shell in a namespace where it may mount; `None` where that is forbidden.
async fn shell(script: &str, arguments: &[&Path]) -> Option<Command> {
    let unshare = || {
        let mut command = Command::new("unshare");
        command
            .args(["--user", "--map-root-user", "--mount", "sh", "-c"])
            .stdin(Stdio::null());
        command
    };
    let mut probe = unshare();
    probe.arg("mount -t tmpfs none /tmp");
    if !probe.output().await.is_ok_and(|probed| probed.status.success()) {
        eprintln!("skipped: this machine allows no mounts in a namespace");
        return None;
    }
    let mut command = unshare();
    command.arg(script).arg("sh").args(arguments);
    Some(command)
}

#[tokio::test]
async fn c149_a_home_on_a_read_only_disk_is_named() {
    let directory = tempfile::tempdir().unwrap();
    for home in [directory.path().to_owned(), directory.path().join("new")] {
        let script = "mount -t tmpfs -o ro none \"$1\" && COMPOZY_HOME=\"$2\" exec \"$3\" run";
        let arguments = [directory.path(), home.as_path(), Path::new(COMPOZYD)];
        let Some(command) = shell(script, &arguments).await else {
            return;
        };
        let refused = output(command).await;
        assert!(!refused.status.success());
        let said = text(&refused.stderr);
        assert!(
            said.contains(&home.display().to_string()) && said.contains("Read-only"),
            "{said}"
        );
    }
}

#[tokio::test]
async fn c153_a_full_disk_leaves_the_old_file_and_no_other() {
    let directory = tempfile::tempdir().unwrap();
    let this = std::env::current_exe().unwrap();
    let script = format!(
        "mount -t tmpfs -o size=256k none \"$1\" && {FULL_DISK}=\"$1\" exec \"$2\" --exact namespace::inside_a_full_disk"
    );
    let Some(command) = shell(&script, &[directory.path(), &this]).await else {
        return;
    };
    let inside = output(command).await;
    assert!(inside.status.success(), "{}", text(&inside.stdout));
    assert!(
        text(&inside.stdout).contains("1 passed"),
        "{}",
        text(&inside.stdout)
    );
}

/// Run by the test above on the disk that it made; by itself it has no disk and nothing to do.
#[test]
fn inside_a_full_disk() {
    let Some(disk) = std::env::var_os(FULL_DISK) else {
        return;
    };
    let home = Home::at(disk);
    let path = home.daemon_file_path();
    home.write(&path, b"old", &SystemRandom).unwrap();
    let filler = home.path().join("filler");
    let filled = std::fs::write(&filler, vec![0_u8; 1024 * 1024]).unwrap_err();
    assert_eq!(filled.kind(), std::io::ErrorKind::StorageFull);
    let failure = home
        .write(&path, &vec![b'n'; 64 * 1024], &SystemRandom)
        .unwrap_err();
    assert!(failure.to_string().contains("daemon.json"), "{failure}");
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 2);
}
