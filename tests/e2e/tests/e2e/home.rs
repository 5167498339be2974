//! The home: what a start makes, with which modes, and what it leaves alone.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use compozy_e2e::{Daemon, Engine, Environment, Run, fingerprint, list_all, mode, names, program, utf8};

const DIRECTORIES: [&str; 11] = [
    "",
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
];
const FILES: [&str; 7] = [
    "compozy.db",
    "daemon.sock",
    "daemon.lock",
    "daemon.json",
    "host.toml",
    "client.token",
    "logs/compozy.log",
];

/// C144 for the directories, C155 for the files.
fn assert_private(home: &Path) {
    for directory in DIRECTORIES {
        assert_eq!(mode(home.join(directory)), 0o700, "{directory}");
    }
    for file in FILES {
        assert_eq!(mode(home.join(file)), 0o600, "{file}");
    }
}

fn set_mode(path: impl AsRef<Path>, bits: u32) {
    fs::set_permissions(path, Permissions::from_mode(bits)).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn c144_c155_the_first_start_makes_a_private_home() {
    let environment = Environment::bare(Engine::Sqlite);
    let _daemon = Daemon::start(&environment).await;
    assert_private(&environment.home);
    assert!(!environment.home.join("config.toml").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn c145_every_start_tightens_what_is_too_open_and_changes_nothing_else() {
    let environment = Environment::new();
    Daemon::start(&environment).await.stop();
    set_mode(environment.home.join("agents"), 0o755);
    set_mode(environment.home.join("compozy.db"), 0o644);
    Daemon::start(&environment).await.stop();
    assert_eq!(mode(environment.home.join("agents")), 0o700);
    assert_eq!(mode(environment.home.join("compozy.db")), 0o600);
    let before = fingerprint(environment.home.join("agents"));
    Daemon::start(&environment).await.stop();
    assert_eq!(fingerprint(environment.home.join("agents")), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn c146_the_umask_does_not_matter() {
    for umask in ["000", "077"] {
        let environment = Environment::bare(Engine::Sqlite);
        let mut command = Command::new("sh");
        environment.apply(&mut command);
        command.args([
            "-c",
            &format!("umask {umask}; exec {}", utf8(program("compozyd"))),
        ]);
        let _daemon = Daemon::start_command(&environment, command).await;
        assert_private(&environment.home);
    }
}

#[test]
fn c147_a_tilde_and_a_relative_home_are_made_absolute() {
    let mut environment = Environment::new();
    for (written, meant) in [
        ("~/x", environment.user.join("x")),
        ("rel", environment.work.join("rel")),
    ] {
        // The daemon that is started must be found, and ended, by its real home.
        environment.home.clone_from(&meant);
        let listed = Run::compozy(&environment, &["workspace", "list"])
            .env("COMPOZY_HOME", written)
            .done();
        listed.json();
        assert!(meant.join("compozy.db").is_file(), "{written}");
        Run::compozy(&environment, &["daemon", "stop"]).done().json();
    }
    assert_eq!(names(&environment.work), ["rel"]);
}

#[test]
fn c148_an_empty_home_variable_is_unset() {
    let mut environment = Environment::new();
    environment.home = environment.user.join(".compozy");
    Run::compozy(&environment, &["workspace", "list"])
        .env("COMPOZY_HOME", "")
        .done()
        .json();
    assert!(environment.user.join(".compozy/compozy.db").is_file());
    Run::compozy(&environment, &["daemon", "stop"])
        .without("COMPOZY_HOME")
        .done()
        .json();
}

/// The first part of C149; its second, a read-only disk, is in `home_disk`.
#[test]
fn a_home_that_is_a_file_is_an_error_that_names_it() {
    let environment = Environment::bare(Engine::Sqlite);
    fs::write(&environment.home, "mine").unwrap();
    let refused = Run::of(&environment, "compozyd", &[]).done();
    assert!(refused.exit > 0, "{refused:?}");
    assert!(
        refused.stderr.contains(&utf8(&environment.home)),
        "{}",
        refused.stderr
    );
    assert_eq!(fs::read(&environment.home).unwrap(), b"mine");
}

/// A home whose socket path would have more than the 108 bytes that the system allows.
fn environment_with_long_home() -> Environment {
    let mut environment = Environment::bare(Engine::Sqlite);
    let below = "h".repeat(199 - environment.root().as_os_str().len());
    environment.home = fs::canonicalize(environment.root()).unwrap().join(below);
    environment.configure("[workspaces]\nregister_home = false\n");
    environment
}

#[tokio::test(flavor = "multi_thread")]
async fn c150_a_long_home_has_its_socket_in_the_runtime_directory() {
    let mut environment = environment_with_long_home();
    let runtime = fs::canonicalize(environment.root()).unwrap().join("run");
    fs::create_dir(&runtime).unwrap();
    set_mode(&runtime, 0o700);
    environment.set("XDG_RUNTIME_DIR", &runtime);
    let daemon = Daemon::start(&environment).await;
    assert!(list_all(daemon.client()).await.is_empty());
    let noted = environment.client_home().daemon_file().unwrap().socket;
    assert!(noted.starts_with(&runtime) && mode(&noted) == 0o600, "{noted:?}");
    let listed = Run::compozy(&environment, &["workspace", "list", "--no-autostart"])
        .without("XDG_RUNTIME_DIR")
        .done();
    assert_eq!(listed.json()["page"]["total"], 0);
    daemon.stop();
    assert!(names(&runtime).is_empty());
}

#[test]
fn c151_without_a_runtime_directory_a_long_home_names_the_limit() {
    let environment = environment_with_long_home();
    let refused = Run::of(&environment, "compozyd", &[]).done();
    assert!(refused.exit > 0, "{refused:?}");
    assert!(refused.stderr.contains("108"), "{}", refused.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn c156_what_others_put_into_the_home_is_never_touched() {
    let environment = Environment::new();
    Daemon::start(&environment).await.stop();
    let home = &environment.home;
    let kept = ["loops", "gateway", "unknown directory"].map(|name| home.join(name));
    for directory in &kept {
        fs::create_dir_all(directory.join("deep/er")).unwrap();
        fs::write(directory.join("deep/file.txt"), "mine").unwrap();
        set_mode(directory.join("deep"), 0o755);
        set_mode(directory.join("deep/file.txt"), 0o644);
    }
    fs::write(home.join("unknown file"), "mine").unwrap();
    let look = || {
        let mut all: Vec<_> = kept.iter().map(fingerprint).collect();
        all.push(fingerprint(home.join("unknown file")));
        all
    };
    let before = look();
    for _ in 0..5 {
        Daemon::start(&environment).await.stop();
    }
    assert_eq!(look(), before);
}
