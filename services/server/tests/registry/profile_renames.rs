//! Renaming a profile: row and directory go together, whatever is cut off (cases of resolution, section 7).

use std::fs;
use std::sync::Arc;

use compozy_domain::{Clock as _, HostId, ProfileId};
use compozy_proto::profile::v1 as pb;
use compozy_store::{Intent, IntentId, IntentStore as _, IntentWork};
use tonic::Code;

use crate::client::Outcome;
use crate::tree::{exists, tree};
use crate::watched_store::{Losing, WatchedStore};
use crate::world::World;

cases! {
    r105_row_and_directory_are_renamed,
    r106_a_rename_that_was_cut_off_before_its_row_is_undone,
    r106_a_rename_that_was_cut_off_before_its_directory_is_nothing,
    r106_a_rename_whose_row_was_written_is_completed,
    r106_another_directory_in_the_way_is_left_alone,
    a_store_that_fails_moves_the_directory_back,
    an_unknown_outcome_of_a_rename_is_found_out_later,
    an_unknown_outcome_is_settled_before_anybody_uses_the_directories,
    a_rename_in_another_home_is_left_to_its_own_daemon,
    r106_a_start_waits_for_no_lease,
    a_new_name_that_has_a_directory_is_refused,
    a_new_name_that_is_taken_is_refused,
    a_profile_without_a_directory_is_renamed,
    a_name_that_it_has_already_writes_nothing,
}

impl World {
    async fn rename(&self, from: &str, to: &str) -> Outcome<pb::Profile> {
        let answer = self.daemon.api.rename_profile(rename(from, to)).await;
        answer.map(|answer| answer.profile.unwrap())
    }

    /// A profile with something in its directory.
    async fn filled(&self, name: &str) -> pb::Profile {
        let profile = self.profile(name).await;
        fs::write(format!("{}/config.toml", self.profile_dir(name)), "x").unwrap();
        profile
    }

    /// What a process leaves behind that died in the midst of a rename.
    async fn cut_off_rename(&self, id: &str, from: &str, to: &str) {
        let intent = Intent {
            id: IntentId("01J0ZK3M5N7P9Q1R3S5T7V9WXZ".to_owned()),
            host_id: HostId::parse("h1").unwrap(),
            owner: "gone".to_owned(),
            work: IntentWork::RenameProfile {
                profile_id: ProfileId::parse(id).unwrap(),
                from: self.profile_dir(from),
                to: self.profile_dir(to),
            },
        };
        self.store.begin_intent(&intent, self.clock.now()).await.unwrap();
    }

    async fn restart_after_the_lease(&mut self) {
        self.clock.advance(std::time::Duration::from_secs(61));
        self.restart(|_| {}).await;
        let left = self
            .store
            .abandoned_intents(&HostId::parse("h1").unwrap(), "nobody", self.clock.now())
            .await
            .unwrap();
        assert_eq!(left, []);
    }

    fn directories(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(format!("{}/profiles", self.home))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn rename(from: &str, to: &str) -> pb::RenameProfileRequest {
    pb::RenameProfileRequest {
        profile: from.to_owned(),
        new_name: to.to_owned(),
        ..Default::default()
    }
}

async fn r105_row_and_directory_are_renamed(world: World) {
    let made = world.filled("p").await;
    let renamed = world.rename("p", "q").await.unwrap();
    assert_eq!(
        (renamed.id.as_str(), renamed.name.as_str()),
        (made.id.as_str(), "q")
    );
    assert_eq!(renamed.version, 2);
    assert_eq!(world.directories(), ["q"]);
    assert_eq!(
        fs::read(format!("{}/config.toml", world.profile_dir("q"))).unwrap(),
        b"x"
    );
    assert_eq!(
        world.find_profile("p").await.unwrap_err().reason,
        "PROFILE_NOT_FOUND"
    );
    assert_eq!(world.find_profile("q").await.unwrap(), renamed);
}

async fn r106_a_rename_that_was_cut_off_before_its_row_is_undone(mut world: World) {
    let made = world.filled("p").await;
    world.cut_off_rename(&made.id, "p", "q").await;
    fs::rename(world.profile_dir("p"), world.profile_dir("q")).unwrap();
    world.restart_after_the_lease().await;
    assert_eq!(world.directories(), ["p"]);
    assert_eq!(
        fs::read(format!("{}/config.toml", world.profile_dir("p"))).unwrap(),
        b"x"
    );
    assert_eq!(world.find_profile("p").await.unwrap(), made);
}

async fn r106_a_rename_that_was_cut_off_before_its_directory_is_nothing(mut world: World) {
    let made = world.filled("p").await;
    world.cut_off_rename(&made.id, "p", "q").await;
    let before = tree(&world.home);
    world.restart_after_the_lease().await;
    assert_eq!(tree(&world.home), before);
    assert_eq!(world.find_profile("p").await.unwrap(), made);
}

async fn r106_a_rename_whose_row_was_written_is_completed(mut world: World) {
    let made = world.filled("p").await;
    world.rename("p", "q").await.unwrap();
    // As if the directory had not been flushed when the machine lost its power.
    fs::rename(world.profile_dir("q"), world.profile_dir("p")).unwrap();
    world.cut_off_rename(&made.id, "p", "q").await;
    world.restart_after_the_lease().await;
    assert_eq!(world.directories(), ["q"]);
}

async fn r106_another_directory_in_the_way_is_left_alone(mut world: World) {
    let made = world.filled("p").await;
    world.cut_off_rename(&made.id, "p", "q").await;
    fs::rename(world.profile_dir("p"), world.profile_dir("q")).unwrap();
    fs::create_dir(world.profile_dir("p")).unwrap();
    world.restart_after_the_lease().await;
    assert_eq!(world.directories(), ["p", "q"]);
    assert_eq!(
        fs::read(format!("{}/config.toml", world.profile_dir("q"))).unwrap(),
        b"x"
    );
}

async fn a_store_that_fails_moves_the_directory_back(mut world: World) {
    let made = world.filled("p").await;
    let store = Arc::new(WatchedStore::over(&world.store));
    let shared = Arc::clone(&store);
    world.restart(|parts| parts.store = shared).await;
    store.lose(Some(Losing::Refused));
    let failure = world.rename("p", "q").await.unwrap_err();
    assert_eq!(
        (failure.code, failure.metadata.get("outcome")),
        (Code::Unavailable, None)
    );
    assert_eq!(world.directories(), ["p"]);
    assert_eq!(world.find_profile("p").await.unwrap(), made);
}

async fn an_unknown_outcome_of_a_rename_is_found_out_later(mut world: World) {
    let store = Arc::new(WatchedStore::over(&world.store));
    let shared = Arc::clone(&store);
    world.restart(|parts| parts.store = shared).await;
    for (from, to, losing) in [("p", "q", Losing::Written), ("r", "s", Losing::Unwritten)] {
        world.filled(from).await;
        store.lose(Some(losing));
        let failure = world.rename(from, to).await.unwrap_err();
        assert_eq!(failure.metadata["outcome"], "unknown");
        store.lose(None);
        world.daemon.registry.recover().await.unwrap();
        let (stays, goes) = if losing == Losing::Written {
            (to, from)
        } else {
            (from, to)
        };
        world.find_profile(stays).await.unwrap();
        assert!(exists(&world.profile_dir(stays)) && !exists(&world.profile_dir(goes)));
    }
}

async fn an_unknown_outcome_is_settled_before_anybody_uses_the_directories(mut world: World) {
    let store = Arc::new(WatchedStore::over(&world.store));
    let shared = Arc::clone(&store);
    world.restart(|parts| parts.store = shared).await;
    world.filled("p").await;
    store.lose(Some(Losing::Unwritten));
    world.rename("p", "q").await.unwrap_err();
    assert_eq!(world.directories(), ["q"]);
    store.lose(None);
    // The same request once more, and another profile of the new name meanwhile.
    world.profile("q").await;
    assert_eq!(world.directories(), ["p", "q"]);
    assert_eq!(
        fs::read(format!("{}/config.toml", world.profile_dir("p"))).unwrap(),
        b"x"
    );
    store.lose(Some(Losing::Unwritten));
    world.rename("p", "r").await.unwrap_err();
    store.lose(None);
    world.rename("p", "r").await.unwrap();
    assert_eq!(world.directories(), ["q", "r"]);
    assert_eq!(
        fs::read(format!("{}/config.toml", world.profile_dir("r"))).unwrap(),
        b"x"
    );
}

async fn a_rename_in_another_home_is_left_to_its_own_daemon(mut world: World) {
    let made = world.filled("p").await;
    let elsewhere = world.mkdir("other-home/profiles/q");
    let place = elsewhere.trim_end_matches("/q");
    let intent = Intent {
        id: IntentId("01J0ZK3M5N7P9Q1R3S5T7V9WXZ".to_owned()),
        host_id: HostId::parse("h1").unwrap(),
        owner: "gone".to_owned(),
        work: IntentWork::RenameProfile {
            profile_id: ProfileId::parse(&made.id).unwrap(),
            from: format!("{place}/p"),
            to: elsewhere.clone(),
        },
    };
    world
        .store
        .begin_intent(&intent, world.clock.now())
        .await
        .unwrap();
    world.clock.advance(std::time::Duration::from_secs(61));
    world.restart(|_| {}).await;
    assert_eq!(world.directories(), ["p"]);
    assert!(exists(&elsewhere));
    let left = world
        .store
        .abandoned_intents(&intent.host_id, "nobody", world.clock.now())
        .await
        .unwrap();
    assert_eq!(left, [intent]);
}

async fn r106_a_start_waits_for_no_lease(mut world: World) {
    let made = world.filled("p").await;
    world.cut_off_rename(&made.id, "p", "q").await;
    fs::rename(world.profile_dir("p"), world.profile_dir("q")).unwrap();
    world.restart(|_| {}).await;
    world.daemon.registry.recover_renames().await.unwrap();
    assert_eq!(world.directories(), ["p"]);
    assert_eq!(world.find_profile("p").await.unwrap(), made);
}

async fn a_new_name_that_has_a_directory_is_refused(world: World) {
    world.filled("p").await;
    fs::create_dir(world.profile_dir("q")).unwrap();
    let before = tree(&world.home);
    let failure = world
        .refused(
            Code::AlreadyExists,
            "PROFILE_DIRECTORY_EXISTS",
            world.rename("p", "q"),
        )
        .await;
    assert_eq!(failure.metadata["path"], world.profile_dir("q"));
    assert_eq!(tree(&world.home), before);
}

async fn a_new_name_that_is_taken_is_refused(world: World) {
    world.filled("p").await;
    world.profile("q").await;
    let before = tree(&world.home);
    world
        .refused(
            Code::AlreadyExists,
            "PROFILE_NAME_CONFLICT",
            world.rename("p", "q"),
        )
        .await;
    world
        .refused(Code::InvalidArgument, "NAME_INVALID", world.rename("p", "Q"))
        .await;
    world
        .refused(Code::NotFound, "PROFILE_NOT_FOUND", world.rename("nope", "r"))
        .await;
    assert_eq!(tree(&world.home), before);
}

async fn a_profile_without_a_directory_is_renamed(world: World) {
    world.profile("p").await;
    fs::remove_dir(world.profile_dir("p")).unwrap();
    world.rename("p", "q").await.unwrap();
    assert!(!exists(&world.profile_dir("q")) && !exists(&world.profile_dir("p")));
}

async fn a_name_that_it_has_already_writes_nothing(world: World) {
    let made = world.filled("p").await;
    let renamed = world.unchanged_by(world.rename("p", "p")).await.unwrap();
    assert_eq!(renamed, made);
}
