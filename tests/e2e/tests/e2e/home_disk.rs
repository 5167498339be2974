//! A home on a disk that is full or can't be written. Each test mounts what it needs in a view of its own.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use compozy_e2e::{Daemon, Engine, Environment, Mounted, Run, names, private_mounts, skip, utf8};

/// A runtime whose tasks stay on this thread, because only this thread and what it starts see its mounts.
pub(crate) fn on_this_thread(work: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(work);
}

pub(crate) fn may_mount(test: &str) -> bool {
    let allowed = private_mounts();
    if !allowed {
        skip(test, "mounting is not allowed here");
    }
    allowed
}

/// With the file part in `home`, C149 as a whole.
#[test]
fn c149_a_home_on_a_read_only_disk_is_an_error_that_names_it() {
    if !may_mount("c149_a_home_on_a_read_only_disk_is_an_error_that_names_it") {
        return;
    }
    let environment = Environment::bare(Engine::Sqlite);
    fs::create_dir(&environment.home).unwrap();
    let _mounted = Mounted::read_only(&environment.home);
    let refused = Run::of(&environment, "compozyd", &[]).done();
    assert!(refused.exit > 0, "{refused:?}");
    assert!(
        refused.stderr.contains(&utf8(&environment.home)),
        "{}",
        refused.stderr
    );
    assert!(names(&environment.home).is_empty());
}

/// Fills a disk to the last byte.
pub(crate) fn fill(disk: &Path) {
    let mut file = fs::File::create(disk.join("filler")).unwrap();
    for size in [65_536, 4_096, 1] {
        let block = vec![0_u8; size];
        while file.write_all(&block).is_ok() {}
    }
}

#[test]
fn c153_on_a_full_disk_the_files_of_the_home_stay_whole() {
    if !may_mount("c153_on_a_full_disk_the_files_of_the_home_stay_whole") {
        return;
    }
    let environment = Environment::bare(Engine::Sqlite);
    fs::create_dir(&environment.home).unwrap();
    let _mounted = Mounted::memory(&environment.home, "size=8m,mode=0700");
    environment.configure("[workspaces]\nregister_home = false\n");
    on_this_thread(async {
        let mut daemon = Daemon::start(&environment).await;
        daemon.kill();
        let kept = ["daemon.json", "host.toml", "client.token", "config.toml"]
            .map(|name| environment.home.join(name));
        let before = kept.clone().map(|path| fs::read(path).unwrap());
        fill(&environment.home);
        // A start writes daemon.json anew. Whether it gets through or not, nothing is half written.
        let mut command = environment.command("compozyd");
        let mut child = Daemon::spawn(&environment, {
            command.arg("run");
            command
        });
        compozy_e2e::until("the start to fail", || child.try_wait().unwrap().is_some());
        let after = kept.clone().map(|path| fs::read(path).unwrap());
        assert_eq!(after, before);
        let left: Vec<String> = names(&environment.home)
            .into_iter()
            .filter(|name| name.contains("tmp"))
            .collect();
        assert!(left.is_empty(), "{left:?}");
        fs::remove_file(environment.home.join("filler")).unwrap();
        Daemon::start(&environment).await.stop();
    });
}
