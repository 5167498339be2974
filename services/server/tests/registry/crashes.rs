//! Work that was cut off, and stores that fail (cases sections 11 and 13).

use std::fs;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use compozy_domain::{Clock as _, HostId};
use compozy_resolver::files::Files as _;
use compozy_resolver::files::faulty::Operation;
use compozy_resolver::{ContentHash, Identity, identity};
use compozy_store::conformance::{execute, raw_rows};
use compozy_store::{CatalogStore as _, Intent, IntentId, IntentStore as _, IntentWork};
use tonic::Code;

use crate::requests::{ID1, ID2, moved, named, register, remove, settle, titled, update};
use crate::tree::{exists, identity_file};
use crate::watched_store::{Losing, WatchedStore};
use crate::world::{World, file_of};

cases! {
    w283_a_registration_that_was_cut_off_is_undone,
    w284_a_file_that_was_there_before_stays,
    w316_a_file_that_somebody_edited_stays,
    a_file_that_a_row_holds_stays,
    a_file_that_a_row_held_stays_when_the_row_is_gone,
    w314_only_the_same_host_recovers,
    w313_a_replica_waits_for_the_lease,
    w315_a_long_registration_keeps_its_lease,
    w288_a_store_that_fails_at_the_commit,
    w289_a_store_that_fails_at_a_move,
    an_unknown_outcome_is_found_out_later,
    a_deadline_that_passes_leaves_nothing,
    a_registration_survives_its_caller,
    a_fork_that_was_cut_off_is_undone,
    half_written_files_are_swept_beside_a_row,
    w294_a_row_that_is_not_understood,
}

async fn w283_a_registration_that_was_cut_off_is_undone(mut world: World) {
    let root = world.mkdir("a");
    cut_off(&world, &root, "gone").await;
    lapse(&world);
    world.restart(|_| {}).await;
    assert!(!exists(&format!("{root}/.compozy")));
    assert_eq!((world.total().await, intents(&world).await), (0, 0));
    world.reg(&root).await;
}

async fn w284_a_file_that_was_there_before_stays(mut world: World) {
    let root = world.mkdir("a");
    cut_off(&world, &root, "gone").await;
    fs::write(file_of(&root), identity_file(ID1)).unwrap();
    lapse(&world);
    world.restart(|_| {}).await;
    assert_eq!(fs::read_to_string(file_of(&root)).unwrap(), identity_file(ID1));
    assert_eq!(intents(&world).await, 0);
}

async fn w316_a_file_that_somebody_edited_stays(mut world: World) {
    let root = world.mkdir("a");
    let id = cut_off(&world, &root, "gone").await;
    let edited = format!("{}# mine\n", fs::read_to_string(file_of(&root)).unwrap());
    fs::write(file_of(&root), &edited).unwrap();
    lapse(&world);
    world.restart(|_| {}).await;
    assert_eq!(fs::read_to_string(file_of(&root)).unwrap(), edited);
    assert_eq!(world.reg(&root).await.durable_id, id);
}

async fn a_file_that_a_row_holds_stays(mut world: World) {
    let root = world.mkdir("a");
    let id = cut_off(&world, &root, "gone").await;
    assert_eq!(world.reg(&root).await.durable_id, id);
    lapse(&world);
    world.restart(|_| {}).await;
    assert!(exists(&file_of(&root)));
    assert_eq!(intents(&world).await, 0);
}

/// A registration took over what one that died had made. That it was removed before the lease lapsed gives the dead
/// one no claim on the file; only what it left half-written goes.
async fn a_file_that_a_row_held_stays_when_the_row_is_gone(mut world: World) {
    let root = world.mkdir("a");
    let id = cut_off(&world, &root, "gone").await;
    let written = ContentHash::of(&fs::read(file_of(&root)).unwrap());
    let hex: String = written
        .as_bytes()
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let half = format!("{root}/.compozy/.workspace.toml.{hex}-1-1.tmp");
    fs::write(&half, "workspace_id").unwrap();
    let row = world.reg(&root).await;
    assert_eq!(row.durable_id, id);
    assert!(
        !exists(&half),
        "swept at once: the directory may move before the lease lapses"
    );
    fs::write(&half, "workspace_id").unwrap();
    world.daemon.api.remove(remove(&row.id)).await.unwrap();
    lapse(&world);
    world.restart(|_| {}).await;
    assert!(!exists(&half));
    assert_eq!(intents(&world).await, 0);
    assert_eq!(world.reg(&root).await.durable_id, id);
}

async fn w314_only_the_same_host_recovers(world: World) {
    let root = world.mkdir("a");
    cut_off(&world, &root, "gone").await;
    lapse(&world);
    let d2 = world
        .start(|parts| parts.host = HostId::parse("h2").unwrap())
        .await;
    d2.registry.recover().await.unwrap();
    assert!(exists(&file_of(&root)));
    let d1 = world.start(|_| {}).await;
    d1.registry.recover().await.unwrap();
    assert!(!exists(&format!("{root}/.compozy")));
}

async fn w313_a_replica_waits_for_the_lease(world: World) {
    if !world.is_postgres() {
        return;
    }
    let root = world.mkdir("a");
    cut_off(&world, &root, "gone").await;
    world.clock.advance(Duration::from_secs(30));
    let d1b = world.start(|_| {}).await;
    d1b.registry.renew_and_recover().await.unwrap();
    assert!(exists(&file_of(&root)));
    world.clock.advance(Duration::from_secs(31));
    d1b.registry.renew_and_recover().await.unwrap();
    assert!(!exists(&format!("{root}/.compozy")));
    assert_eq!(world.total().await, 0);
    world.reg(&root).await;
}

async fn w315_a_long_registration_keeps_its_lease(world: World) {
    if !world.is_postgres() {
        return;
    }
    let d1b = world.start(|_| {}).await;
    let root = world.mkdir("a");
    let (api, request) = (world.daemon.api.within(120_000), register(&root));
    let release = pause_before(&world, Operation::Create);
    let call = tokio::task::JoinSet::from_iter([async move { api.register(request).await }]);
    until(|| world.files.calls(Operation::Create) == 1).await;
    for _ in 0..2 {
        world.clock.advance(Duration::from_secs(45));
        world.daemon.registry.renew_and_recover().await.unwrap();
        d1b.registry.renew_and_recover().await.unwrap();
    }
    assert_eq!(intents(&world).await, 1);
    release.send(()).unwrap();
    assert!(call.join_all().await.remove(0).unwrap().created);
    assert!(exists(&file_of(&root)));
}

async fn w288_a_store_that_fails_at_the_commit(world: World) {
    let root = world.mkdir("a");
    let store = Arc::clone(&world.store);
    // From here on only the registration itself is left to be written.
    world
        .files
        .before(Operation::Create, move || store.fail_commits(true));
    let failure = world.daemon.api.register(register(&root)).await.unwrap_err();
    assert_eq!(
        (failure.code, failure.reason.as_str()),
        (Code::Unavailable, "STORE_UNAVAILABLE")
    );
    assert!(!exists(&format!("{root}/.compozy")));
    world.store.fail_commits(false);
    world.daemon.registry.recover().await.unwrap();
    assert_eq!((world.total().await, intents(&world).await), (0, 0));
    world.reg(&root).await;
}

async fn w289_a_store_that_fails_at_a_move(mut world: World) {
    world.reg_new("a").await;
    let second = world.reg_new("b").await;
    let call = async {
        world.store.fail_commits(true);
        let outcome = world.daemon.api.move_workspace(moved(&second.id, None)).await;
        world.store.fail_commits(false);
        outcome
    };
    world.refused(Code::Unavailable, "STORE_UNAVAILABLE", call).await;
    world.restart(|_| {}).await;
    assert_eq!(world.order().await, ["b", "a"]);
}

async fn an_unknown_outcome_is_found_out_later(mut world: World) {
    let store = Arc::new(WatchedStore::over(&world.store));
    let shared = Arc::clone(&store);
    world.restart(|parts| parts.store = shared).await;
    for (name, losing) in [("written", Losing::Written), ("unwritten", Losing::Unwritten)] {
        let root = world.mkdir(name);
        store.lose(Some(losing));
        let failure = world.daemon.api.register(register(&root)).await.unwrap_err();
        assert_eq!(
            (failure.reason.as_str(), failure.metadata["outcome"].as_str()),
            ("STORE_UNAVAILABLE", "unknown")
        );
        assert!(exists(&file_of(&root)), "nobody knows yet");
        store.lose(None);
        world.daemon.registry.recover().await.unwrap();
        assert_eq!(exists(&file_of(&root)), losing == Losing::Written);
        assert_eq!(intents(&world).await, 0);
    }
    assert_eq!(world.order().await, ["written"]);
}

async fn a_deadline_that_passes_leaves_nothing(world: World) {
    let root = world.mkdir("a");
    let release = pause_before(&world, Operation::Create);
    let failure = world
        .daemon
        .api
        .within(300)
        .register(register(&root))
        .await
        .unwrap_err();
    assert_eq!(
        (failure.code, failure.reason.as_str()),
        (Code::DeadlineExceeded, "DEADLINE_EXCEEDED")
    );
    release.send(()).unwrap();
    assert!(world.daemon.tasks.join(Duration::from_secs(20)).await);
    assert!(!exists(&format!("{root}/.compozy")));
    assert_eq!((world.total().await, intents(&world).await), (0, 0));
    world.reg(&root).await;
}

async fn a_registration_survives_its_caller(world: World) {
    let root = world.mkdir("a");
    let release = pause_before(&world, Operation::Create);
    let (api, request) = (world.daemon.api.clone(), register(&root));
    let mut call = tokio::task::JoinSet::from_iter([async move { api.register(request).await }]);
    until(|| world.files.calls(Operation::Create) == 1).await;
    call.shutdown().await;
    release.send(()).unwrap();
    assert!(world.daemon.tasks.join(Duration::from_secs(20)).await);
    assert_eq!(world.order().await, ["a"]);
    assert!(exists(&file_of(&root)));
}

/// The death before the file got its name: the row lives on with the old file, or with somebody else's.
async fn half_written_files_are_swept_beside_a_row(mut world: World) {
    let row = world.reg(world.mkdir_with_id("a", ID1)).await;
    let root_dir = row.root_dir.clone();
    let content = *ContentHash::of(identity_file(ID2).as_bytes()).as_bytes();
    let replace = IntentWork::ReplaceIdentity {
        root_dir: root_dir.clone(),
        content,
        previous: identity_file(ID1).into_bytes(),
    };
    let create = IntentWork::CreateIdentity {
        root_dir: root_dir.clone(),
        content,
        makes_directory: true,
    };
    let hex: String = content.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let half = format!("{root_dir}/.compozy/.workspace.toml.{hex}-1-1.tmp");
    for work in [replace, create] {
        begin(&world, "gone", work).await;
        fs::write(&half, "workspace_id").unwrap();
        lapse(&world);
        world.restart(|_| {}).await;
        assert!(!exists(&half));
        assert_eq!(
            fs::read_to_string(file_of(&root_dir)).unwrap(),
            identity_file(ID1)
        );
        assert_eq!(intents(&world).await, 0);
    }
    assert_eq!(world.record(&row.id).await, row);
}

async fn a_fork_that_was_cut_off_is_undone(mut world: World) {
    let row = world.reg(world.mkdir_with_id("a", ID1)).await;
    let forked = identity_file(ID2);
    let work = IntentWork::ReplaceIdentity {
        root_dir: row.root_dir.clone(),
        content: *ContentHash::of(forked.as_bytes()).as_bytes(),
        previous: identity_file(ID1).into_bytes(),
    };
    begin(&world, "gone", work).await;
    fs::write(file_of(&row.root_dir), forked).unwrap();
    lapse(&world);
    world.restart(|_| {}).await;
    assert_eq!(
        fs::read_to_string(file_of(&row.root_dir)).unwrap(),
        identity_file(ID1)
    );
    let settled = settle(&row.id, compozy_proto::workspace::v1::IdentityAction::Fork);
    assert!(
        world
            .daemon
            .api
            .update_identity(settled)
            .await
            .unwrap()
            .file_written
    );
    assert_eq!(intents(&world).await, 0);
}

async fn w294_a_row_that_is_not_understood(mut world: World) {
    let bad = world.reg_new("bad").await;
    world.reg_new("good").await;
    execute(
        &world.store,
        &format!("UPDATE workspace SET root_dir = '' WHERE id = '{}'", bad.id),
    )
    .await
    .unwrap();
    world.restart(|_| {}).await;
    world.daemon.registry.observe_round(Duration::ZERO).await.unwrap();
    assert_eq!(world.order().await, ["good", "bad"]);
    assert!(world.record(&bad.id).await.defect.is_some());
    let renamed = update(&bad.id, &["title"], titled("T"));
    world
        .refused(
            Code::FailedPrecondition,
            "RECORD_NOT_UNDERSTOOD",
            world.daemon.api.update(renamed),
        )
        .await;
    let findings = world.store.examine().await.unwrap();
    assert!(
        findings.iter().any(|finding| finding.message.contains(&bad.id)),
        "{findings:?}"
    );
    world
        .daemon
        .api
        .register(named(world.mkdir("other"), "other"))
        .await
        .unwrap();
}

/// A registration whose process died after it had made the identity file. Answers the id in the file.
async fn cut_off(world: &World, root: &str, owner: &str) -> String {
    let identity = Identity::generate(root, world.clock.now(), world.random.as_ref()).unwrap();
    let work = IntentWork::CreateIdentity {
        root_dir: root.to_owned(),
        content: *ContentHash::of(&identity::encode(&identity)).as_bytes(),
        makes_directory: true,
    };
    begin(world, owner, work).await;
    let directory = world.files.directory(root).unwrap();
    identity::create(&world.files, &directory, &identity).unwrap();
    identity.durable_id.to_string()
}

async fn begin(world: &World, owner: &str, work: IntentWork) {
    let intent = Intent {
        id: IntentId(format!("intent of {owner}")),
        host_id: HostId::parse("h1").unwrap(),
        owner: owner.to_owned(),
        work,
    };
    world
        .store
        .begin_intent(&intent, world.clock.now())
        .await
        .unwrap();
}

/// Lets the leases of owners that are gone lapse.
fn lapse(world: &World) {
    world.clock.advance(Duration::from_secs(61));
}

async fn intents(world: &World) -> usize {
    raw_rows(&world.store, "SELECT id FROM intent")
        .await
        .unwrap()
        .len()
}

/// Stops the next operation before it does anything, until it is released.
fn pause_before(world: &World, operation: Operation) -> mpsc::Sender<()> {
    let (release, released) = mpsc::channel();
    world.files.before(operation, move || {
        // Ends, too, when the case has failed and the sender is gone.
        let _ended = released.recv();
    });
    release
}

async fn until(condition: impl Fn() -> bool) {
    while !condition() {
        tokio::task::yield_now().await;
    }
}
