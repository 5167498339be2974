//! Who may have a backup written, and where.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use compozy_proto::admin::v1::BackupFile;
use sha2::{Digest as _, Sha256};
use tonic::Code;

use crate::daemon::{Daemon, Place, explained, tree};

const TCP: &str = "grpc.listen = \"127.0.0.1:0\"\n";

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn sha256(path: &Path) -> String {
    let digest = Sha256::digest(std::fs::read(path).unwrap());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// C178, its first half: what lies in the directory is what the answer and the manifest say.
#[tokio::test(flavor = "multi_thread")]
async fn a_backup_is_private_and_its_digests_hold() {
    let place = Place::new();
    let daemon = Daemon::start(&place.home("h")).await;
    daemon.register(&place.directory("a")).await;
    let wanted = place.path("bk");
    let answer = daemon
        .backup(place.directory("way").join("../bk/."))
        .await
        .unwrap();
    assert_eq!(Path::new(&answer.directory), wanted);
    assert_eq!(answer.dump_command, "");
    let [
        BackupFile {
            path,
            size_bytes,
            sha256: digest,
        },
    ] = &answer.files[..]
    else {
        panic!("{answer:?}")
    };
    assert_eq!(path, "compozy.db");
    let copy = wanted.join(path);
    assert_eq!(*digest, sha256(&copy));
    assert_eq!(
        u64::try_from(*size_bytes).unwrap(),
        copy.metadata().unwrap().len()
    );

    let manifest = std::fs::read(wanted.join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!(manifest["format"], 1);
    assert_eq!(manifest["release"], env!("CARGO_PKG_VERSION"));
    assert_eq!(manifest["files"][0]["sha256"], **digest);
    assert!(manifest["made_at"].as_str().unwrap().ends_with('Z'), "{manifest}");
    assert_eq!(
        (mode(&wanted), mode(&copy), mode(&wanted.join("manifest.json"))),
        (0o700, 0o600, 0o600)
    );
    assert_eq!(tree(&wanted).len(), 3, "nothing else lies in it");
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_that_can_not_be_made_is_refused_and_nothing_is_made() {
    let place = Place::new();
    let daemon = Daemon::start(&place.home("h")).await;
    let there = place.directory("work/there");
    std::fs::write(place.path("work/file"), "mine").unwrap();
    std::os::unix::fs::symlink("loop", place.path("work/loop")).unwrap();
    let before = tree(&place.path("work"));
    let cases = [
        ("bk".to_owned(), Code::InvalidArgument, "PATH_NOT_ABSOLUTE"),
        (String::new(), Code::InvalidArgument, "INVALID_FIELD"),
        ("/".to_owned(), Code::InvalidArgument, "INVALID_FIELD"),
        (
            format!("{}/..", there.display()),
            Code::InvalidArgument,
            "INVALID_FIELD",
        ),
        (
            format!("/{}", "a/".repeat(2_048)),
            Code::InvalidArgument,
            "INVALID_FIELD",
        ),
        (
            format!("{}/a\nb", there.display()),
            Code::InvalidArgument,
            "INVALID_FIELD",
        ),
        (
            there.display().to_string(),
            Code::AlreadyExists,
            "DIRECTORY_EXISTS",
        ),
        (
            format!("{}/none/bk", there.display()),
            Code::NotFound,
            "PATH_NOT_FOUND",
        ),
        (
            place.path("work/file").display().to_string(),
            Code::AlreadyExists,
            "DIRECTORY_EXISTS",
        ),
        (
            place.path("work/file/bk").display().to_string(),
            Code::InvalidArgument,
            "PATH_NOT_DIRECTORY",
        ),
        (
            place.path("work/loop/bk").display().to_string(),
            Code::InvalidArgument,
            "PATH_LOOP",
        ),
    ];
    for (directory, code, reason) in cases {
        let status = daemon.backup(&directory).await.unwrap_err();
        assert_eq!(
            (status.code(), explained(&status).reason.as_str()),
            (code, reason),
            "{directory}"
        );
    }
    assert!(tree(&place.path("work")) == before);
    daemon.stop().await;
}

/// W329, the part about Backup.
#[tokio::test(flavor = "multi_thread")]
async fn w329_a_backup_needs_the_scope_admin() {
    let place = Place::new();
    let (home, roots) = (place.home("h"), place.directory("ok"));
    let mut tokens = String::new();
    let limited = "\"read\", \"admin\"]\nworkspaces = [\"ws_0123456789abcdef\"";
    for (id, scopes) in [
        ("reader", "\"read\""),
        ("writer", "\"read\", \"write\""),
        // An admin of some workspaces would get a copy of all.
        ("limited", limited),
    ] {
        let hash = compozy_server::token::hash(&format!("token-{id}"));
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        tokens.push_str(&format!(
            "[[tokens]]\nid = \"{id}\"\nsha256 = \"{hash}\"\nscopes = [{scopes}]\n"
        ));
    }
    compozy_server::home::prepare(&home).unwrap();
    std::fs::write(home.path().join("tokens.toml"), tokens).unwrap();
    let config = format!(
        "{TCP}auth.tokens_file = \"$COMPOZY_HOME/tokens.toml\"\nworkspaces.allowed_roots = [\"{}\"]\n",
        roots.display()
    );
    let daemon = Daemon::start_with(&home, &config).await;
    for id in ["reader", "writer", "limited"] {
        // Before anything is said about the path.
        for directory in [roots.join("bk"), "relative".into()] {
            let status = daemon
                .backup_with(&format!("token-{id}"), &directory)
                .await
                .unwrap_err();
            assert_eq!(status.code(), Code::PermissionDenied);
            assert_eq!(explained(&status).reason, "SCOPE_DENIED");
            assert_eq!(explained(&status).metadata["scope"], "admin");
        }
    }
    assert_eq!(tree(&roots).len(), 1);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_network_caller_needs_allowed_roots_and_stays_in_them() {
    let place = Place::new();
    let roots = place.directory("ok");
    let open = Daemon::start_with(&place.home("open"), TCP).await;
    let status = open
        .backup_with(&open.token(), roots.join("bk"))
        .await
        .unwrap_err();
    assert_eq!(explained(&status).reason, "PATH_NOT_ALLOWED");
    open.stop().await;

    let config = format!("{TCP}workspaces.allowed_roots = [\"{}\"]\n", roots.display());
    let daemon = Daemon::start_with(&place.home("h"), &config).await;
    std::os::unix::fs::symlink(place.directory("other"), roots.join("out")).unwrap();
    for outside in [
        place.path("bk"),
        place.path("none/bk"),
        roots.join("out/bk"),
        roots.join("../bk"),
    ] {
        let status = daemon.backup_with(&daemon.token(), &outside).await.unwrap_err();
        assert_eq!(
            explained(&status).reason,
            "PATH_NOT_ALLOWED",
            "{}",
            outside.display()
        );
        let status = daemon.backup(&outside).await.unwrap_err();
        assert_eq!(
            explained(&status).reason,
            "PATH_NOT_ALLOWED",
            "roots bind the socket's caller too"
        );
    }
    assert_eq!(tree(&place.path("other")).len(), 1);
    let answer = daemon
        .backup_with(&daemon.token(), roots.join("bk"))
        .await
        .unwrap();
    assert_eq!(Path::new(&answer.directory), roots.join("bk"));
    daemon.stop().await;
}
