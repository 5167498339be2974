//! Disks below the catalog that are full or take no writes any more (cases sections 1 and 20). A full disk below SQLite
//! needs a real one: the tests of the shipped binaries have it.

use compozy_proto::session::v1 as pb;
use compozy_store::StoreAddress;
use compozy_store::conformance::{execute, raw_rows};
use tonic::Code;

use crate::accounts::{detach, move_before};
use crate::asked::{archive, beat, bind, delete, finish, get, list, new, rename, resume, stop, update};
use crate::client::{Api, Failure};
use crate::requests::list as list_workspaces;
use crate::tree::{exists, tree};
use crate::world::World;

/// Cases of a catalog that lies on a disk or on a server.
macro_rules! stored_cases {
    ($($name:ident,)+) => {
        mod file {
            $(#[test]
            fn $name() {
                crate::cases::run::<compozy_store::conformance::SqliteFile, _>(stringify!($name), super::$name);
            })+
        }
        mod server {
            $(#[test]
            fn $name() {
                crate::cases::run::<compozy_store::conformance::Postgres, _>(stringify!($name), super::$name);
            })+
        }
    };
}

stored_cases! {
    s346_a_disk_that_takes_no_writes_any_more,
    s355_reads_change_no_file,
}

#[test]
fn s037_s345_a_server_whose_disk_is_full_at_the_commit() {
    crate::cases::run::<compozy_store::conformance::Postgres, _>(
        "s037_s345_a_server_whose_disk_is_full_at_the_commit",
        a_full_disk,
    );
}

/// Fails as Postgres does without space: when a row is written, or at the commit.
async fn fill(world: &World, when: &str) {
    for sql in [
        "CREATE OR REPLACE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN RAISE EXCEPTION 'no space left on device' USING ERRCODE = '53100'; END $$",
        &format!(
            "CREATE CONSTRAINT TRIGGER full_disk AFTER INSERT OR UPDATE ON session {when} \
             FOR EACH ROW EXECUTE FUNCTION full_disk()"
        ),
    ] {
        execute(&world.store, sql).await.unwrap();
    }
}

async fn make_space(world: &World) {
    execute(&world.store, "DROP TRIGGER full_disk ON session")
        .await
        .unwrap();
}

async fn a_full_disk(world: World) {
    let a = world.only_a().await;
    let [live, over] = world.create_some(&a.id).await;
    world.stop(&over).await;
    let api = &world.daemon.api;
    let creation = pb::CreateSessionRequest {
        request_id: crate::asked::R.into(),
        ..new(&a.id)
    };
    for when in ["NOT DEFERRABLE", "DEFERRABLE INITIALLY DEFERRED"] {
        fill(&world, when).await;
        let (code, reason) = (Code::ResourceExhausted, "DISK_FULL");
        world
            .refused(code, reason, api.create_session(creation.clone()))
            .await;
        world
            .refused(code, reason, api.rename_session(rename(&live, "after")))
            .await;
        let stopping = stop(&live, pb::StopCause::User);
        world.refused(code, reason, api.stop_session(stopping)).await;
        world
            .refused(code, reason, api.archive_session(archive(&over)))
            .await;
        make_space(&world).await;
    }
    assert!(!exists(&format!("{}/sessions", world.home)));
    let made = api.create_session(creation).await.unwrap().session.unwrap();
    assert_eq!(world.account(&a.id).await, [made.id, over.clone(), live.clone()]);
    api.rename_session(rename(&live, "after")).await.unwrap();
    assert_eq!(world.stop(&live).await.name, "after");
    let archived = api.archive_session(archive(&over)).await.unwrap();
    assert!(archived.session.unwrap().archived_at.is_some());
}

/// Lets the catalog fail every write from now on, and no read.
async fn make_read_only(world: &World) {
    if !world.is_postgres() {
        execute(&world.store, "PRAGMA query_only = ON").await.unwrap();
        return;
    }
    let setting = "DO $$ BEGIN EXECUTE format(\
                   'ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$";
    execute(&world.store, setting).await.unwrap();
    // Only new connections have the setting; this one ends itself, too.
    let all = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()";
    let _ended = raw_rows(&world.store, all).await;
}

async fn s346_a_disk_that_takes_no_writes_any_more(world: World) {
    let a = world.only_a().await;
    let [live, over] = world.create_some(&a.id).await;
    world.stop(&over).await;
    let lease = world.bind(&live, "h1").await.token;
    let before = reads(&world.daemon.api, &a.id, &live).await;
    make_read_only(&world).await;
    for _ in 0..2 {
        for failure in writes(&world.daemon.api, &a.id, &live, &over, &lease).await {
            assert_eq!(
                (failure.code, failure.reason.as_str()),
                (Code::Unavailable, "STORE_UNAVAILABLE"),
                "{failure:?}"
            );
        }
        assert_eq!(reads(&world.daemon.api, &a.id, &live).await, before);
    }
}

/// Every write that would change something.
async fn writes(api: &Api, workspace_id: &str, live: &str, over: &str, lease: &str) -> Vec<Failure> {
    let mode = pb::Session {
        permission_mode: pb::PermissionMode::DenyAll.into(),
        ..Default::default()
    };
    let enter = pb::AcquireAttachLeaseRequest {
        session_id: live.to_owned(),
        holder: "h1".into(),
        ..Default::default()
    };
    let batch = pb::BatchHeartbeatRequest {
        heartbeats: vec![beat(lease)],
    };
    vec![
        api.create_session(new(workspace_id)).await.unwrap_err(),
        api.rename_session(rename(live, "x")).await.unwrap_err(),
        api.update_session(update(live, &[], mode)).await.unwrap_err(),
        api.bind_runtime(bind(live, "h1", 30)).await.unwrap_err(),
        api.heartbeat(beat(lease)).await.unwrap_err(),
        api.batch_heartbeat(batch).await.unwrap_err(),
        api.acquire_attach_lease(enter).await.unwrap_err(),
        api.stop_session(stop(live, pb::StopCause::User))
            .await
            .unwrap_err(),
        api.finish_session(finish(lease, pb::StopCause::Completed))
            .await
            .unwrap_err(),
        api.resume_session(resume(over)).await.unwrap_err(),
        api.archive_session(archive(over)).await.unwrap_err(),
        api.delete_session(delete(over)).await.unwrap_err(),
        api.detach_session(detach(None, over)).await.unwrap_err(),
        api.move_session(move_before(live, Some(over))).await.unwrap_err(),
    ]
}

/// What every read of sessions answers, without the positions in the change log, whose tokens differ.
async fn reads(api: &Api, workspace_id: &str, id: &str) -> Vec<String> {
    let session_id = id.to_owned();
    let health = pb::GetSessionHealthRequest {
        session_id: session_id.clone(),
    };
    let inspect = pb::InspectSessionRequest { session_id };
    let with_health = pb::GetSessionRequest {
        include_health: true,
        ..get(id)
    };
    let mut told = vec![
        format!("{:?}", api.get_session(with_health).await.unwrap().session),
        format!("{:?}", api.get_session_health(health).await.unwrap().health),
        format!("{:?}", api.inspect_session(inspect).await.unwrap().session),
        format!("{:?}", api.list(list_workspaces()).await.unwrap().workspaces),
    ];
    let of_workspace = pb::SessionFilter {
        workspace: crate::requests::by_id(workspace_id),
        archive: pb::ArchiveFilter::Include.into(),
        query: "general".into(),
        ..Default::default()
    };
    for filter in [pb::SessionFilter::default(), of_workspace.clone()] {
        let request = pb::CountSessionsRequest { filter: Some(filter) };
        told.push(format!(
            "{:?}",
            api.count_sessions(request).await.unwrap().by_state
        ));
    }
    for sort in [
        pb::SessionSort::Recent,
        pb::SessionSort::LastActivity,
        pb::SessionSort::Manual,
        pb::SessionSort::Attention,
    ] {
        let request = pb::ListSessionsRequest {
            sort: sort.into(),
            include_health: true,
            ..list(of_workspace.clone())
        };
        told.push(format!(
            "{:?}",
            api.list_sessions(request).await.unwrap().sessions
        ));
    }
    told
}

async fn s355_reads_change_no_file(world: World) {
    let a = world.only_a().await;
    let [live, over] = world.create_some(&a.id).await;
    world.stop(&over).await;
    world.bind(&live, "h1").await;
    let mut places = vec![world.home.clone(), world.t.clone()];
    if let StoreAddress::SqliteFile(path) = &world.address {
        places.push(path.parent().unwrap().to_str().unwrap().to_owned());
    }
    let look = || places.iter().map(|place| tree(place)).collect::<Vec<_>>();
    let api = &world.daemon.api;
    // The first read after a write notes in shared memory how far it reads.
    let first = reads(api, &a.id, &live).await;
    let before = look();
    for _ in 0..20 {
        assert_eq!(reads(api, &a.id, &live).await, first);
    }
    assert_eq!(look(), before);
}
