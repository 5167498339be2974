//! The home as the real binary leaves it.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use compozy_proto::workspace::v1::RegisterWorkspaceRequest;
use compozy_proto::workspace::v1::workspace_service_client::WorkspaceServiceClient;
use compozy_server::daemon_file::DaemonFile;
use compozy_server::home::DIRECTORIES;

use crate::binary::{Place, mode, output, text};

fn assert_directories_are_private(place: &Place) {
    assert_eq!(mode(place.home.path()), 0o700);
    for directory in DIRECTORIES {
        assert_eq!(mode(&place.home.path().join(directory)), 0o700, "{directory}");
    }
}

fn assert_files_are_private(place: &Place) {
    for file in [
        "daemon.sock",
        "daemon.lock",
        "daemon.json",
        "host.toml",
        "client.token",
        "logs/compozy.log",
        "compozy.db",
    ] {
        assert_eq!(mode(&place.home.path().join(file)), 0o600, "{file}");
    }
}

#[tokio::test]
async fn c144_c155_the_first_start_makes_a_private_home() {
    let place = Place::new();
    let daemon = place.daemon().await;
    for directory in [
        "agents",
        "skills",
        "loops",
        "profiles",
        "profiles/default",
        "profiles/default/memory",
        "sessions",
        "logs",
        "gateway",
        "gateway/credentials",
    ] {
        assert!(place.home.path().join(directory).is_dir(), "{directory}");
    }
    assert_directories_are_private(&place);
    assert_files_are_private(&place);
    assert!(!place.home.config_path().exists());
    assert!(daemon.stop().await.success());
}

#[tokio::test]
async fn c146_the_umask_changes_nothing() {
    for umask in ["000", "022", "077"] {
        let place = Place::new();
        let daemon = place.serving(place.command_with_umask(umask, &["run"])).await;
        assert_directories_are_private(&place);
        assert_files_are_private(&place);
        assert!(daemon.stop().await.success());
    }
}

/// Whatever umask the daemon was started with: the file is meant to be read by colleagues.
#[tokio::test]
async fn w001_an_identity_file_has_its_mode_under_any_umask() {
    for umask in ["000", "077"] {
        let place = Place::new();
        let projects = tempfile::tempdir().unwrap();
        let root = projects.path().join("a");
        std::fs::create_dir(&root).unwrap();
        let daemon = place.serving(place.command_with_umask(umask, &["run"])).await;
        let channel = crate::running::socket_channel(&daemon.socket).await;
        let request = RegisterWorkspaceRequest {
            path: root.to_str().unwrap().to_owned(),
            ..RegisterWorkspaceRequest::default()
        };
        let mut client = WorkspaceServiceClient::new(channel);
        assert!(
            client
                .register_workspace(request)
                .await
                .unwrap()
                .into_inner()
                .created
        );
        assert_eq!(mode(&root.join(".compozy")), 0o755, "umask {umask}");
        assert_eq!(
            mode(&root.join(".compozy/workspace.toml")),
            0o644,
            "umask {umask}"
        );
        assert!(daemon.stop().await.success());
    }
}

#[tokio::test]
async fn c149_a_home_that_is_a_file_is_named() {
    let place = Place::new();
    std::fs::write(place.home.path(), "mine").unwrap();
    let refused = place.run(&["run"]).await;
    assert!(!refused.status.success());
    let said = text(&refused.stderr);
    assert!(
        said.contains(&place.home.path().display().to_string()) && said.contains("no directory"),
        "{said}"
    );
    assert_eq!(std::fs::read_to_string(place.home.path()).unwrap(), "mine");
}

#[tokio::test]
async fn c150_a_long_home_has_its_socket_in_the_runtime_directory() {
    let place = Place::at(&"h".repeat(200));
    let runtime = tempfile::tempdir().unwrap();
    let mut command = place.command(&["run"]);
    command.env("XDG_RUNTIME_DIR", runtime.path());
    let daemon = place.serving(command).await;
    assert!(daemon.socket.starts_with(runtime.path()), "{:?}", daemon.socket);
    assert_eq!(mode(&daemon.socket), 0o600);
    assert_eq!(DaemonFile::read(&place.home).unwrap().socket, daemon.socket);
    let socket = daemon.socket.clone();
    assert!(daemon.stop().await.success());
    assert!(!socket.exists());
}

#[tokio::test]
async fn without_a_runtime_directory_a_long_home_can_not_start() {
    let place = Place::at(&"h".repeat(200));
    let refused = output(place.command(&["run"])).await;
    assert!(!refused.status.success());
    assert!(text(&refused.stderr).contains("108"), "{}", text(&refused.stderr));
}

/// Everything below a directory: content, mode and time of change.
fn picture(directory: &Path) -> BTreeMap<PathBuf, (u32, i64, Vec<u8>)> {
    let mut picture = BTreeMap::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let metadata = std::fs::symlink_metadata(&path).unwrap();
        if metadata.is_dir() {
            picture.extend(self::picture(&path));
        }
        let content = if metadata.is_file() {
            std::fs::read(&path).unwrap()
        } else {
            Vec::new()
        };
        picture.insert(path, (metadata.mode(), metadata.mtime(), content));
    }
    picture
}

#[tokio::test]
async fn c156_what_others_put_into_the_home_is_never_touched() {
    let place = Place::new();
    place.daemon().await.stop().await;
    let home = place.home.path();
    for (file, mode) in [
        ("loops/a/loop.md", 0o644),
        ("gateway/b.json", 0o640),
        ("theirs/c", 0o604),
        ("theirs.txt", 0o666),
    ] {
        let path = home.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, file).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let look = || {
        let mut seen = picture(&home.join("theirs"));
        seen.extend(picture(&home.join("loops")));
        seen.extend(picture(&home.join("gateway")));
        seen.insert(
            home.join("theirs.txt"),
            (0, 0, std::fs::read(home.join("theirs.txt")).unwrap()),
        );
        seen
    };
    let before = look();
    for _ in 0..3 {
        place.daemon().await.stop().await;
        assert_eq!(look(), before);
    }
}
