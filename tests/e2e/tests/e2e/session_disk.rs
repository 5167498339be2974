//! Sessions on a full disk: nothing is half there, and with space again the same call works.

use std::fs;
use std::path::Path;

use compozy_client::{Client, Code, Error};
use compozy_e2e::{Daemon, Engine, Environment, Mounted, names, register};
use compozy_proto::session::v1::{Session, StopCause};
use rusqlite::{Connection, OpenFlags};

use crate::home_disk::{fill, may_mount, on_this_thread};
use crate::sessions::{
    account, archive, counted, created, everything, listed, new_in, rename, session, stop,
};

/// What a write that fails leaves as it is.
#[derive(Debug, PartialEq)]
struct Kept {
    rows: Vec<Session>,
    account: Vec<String>,
    total: i64,
    /// Head of the change log.
    head: i64,
    /// What lies in the folder of session files.
    folder: Vec<String>,
}

impl Kept {
    async fn look(environment: &Environment, client: &Client, workspace_id: &str) -> Self {
        Self {
            rows: listed(client, everything()).await,
            account: account(client, workspace_id).await,
            total: counted(client, everything()).await.total,
            head: head(&environment.home.join("compozy.db")),
            folder: names(environment.home.join("sessions")),
        }
    }
}

fn head(store: &Path) -> i64 {
    let store = Connection::open_with_flags(store, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    store
        .query_row("SELECT head FROM change_head", [], |row| row.get(0))
        .unwrap()
}

#[track_caller]
fn is_full<T: std::fmt::Debug>(outcome: Result<T, Error>) {
    let error = outcome.unwrap_err();
    assert_eq!(
        (error.code(), error.reason_name()),
        (Code::ResourceExhausted, "DISK_FULL"),
        "{error:?}"
    );
}

/// S345 has no `meta.json` here: no session of it has files.
#[test]
fn s037_s345_what_a_full_disk_refuses_is_not_there_and_can_be_asked_again() {
    if !may_mount("s037_s345_what_a_full_disk_refuses_is_not_there_and_can_be_asked_again") {
        return;
    }
    let environment = Environment::bare(Engine::Sqlite);
    fs::create_dir(&environment.home).unwrap();
    let _mounted = Mounted::memory(&environment.home, "size=16m,mode=0700");
    environment.configure("[workspaces]\nregister_home = false\n");
    on_this_thread(async {
        let daemon = Daemon::start(&environment).await;
        let client = daemon.client();
        let registered = register(client, environment.make("a")).await.unwrap();
        let a = registered.workspace.unwrap().id;
        let live = created(client, &a).await.id;
        let over = created(client, &a).await.id;
        let request = stop(&over, StopCause::Completed, "");
        client.stop_session(request).await.unwrap();

        fill(&environment.home);
        let before = Kept::look(&environment, client, &a).await;
        let creation = new_in(&a);
        let renaming = rename(&live, "after");
        let stopping = stop(&live, StopCause::User, "enough");
        let archiving = archive(&over);
        is_full(client.create_session(creation.clone()).await);
        is_full(client.rename_session(renaming.clone()).await);
        is_full(client.stop_session(stopping.clone()).await);
        is_full(client.archive_session(archiving.clone()).await);
        assert_eq!(Kept::look(&environment, client, &a).await, before);
        for row in &before.rows {
            assert_eq!(session(client, &row.id).await, *row);
        }

        fs::remove_file(environment.home.join("filler")).unwrap();
        let made = client.create_session(creation).await.unwrap().session.unwrap();
        assert_eq!(account(client, &a).await, [made.id.as_str(), &over, &live]);
        assert_eq!(
            counted(client, everything()).await.total,
            before.total + 1,
            "the creation that was asked again is there once"
        );
        client.rename_session(renaming).await.unwrap();
        client.stop_session(stopping).await.unwrap();
        client.archive_session(archiving).await.unwrap();
        let live = session(client, &live).await;
        assert_eq!(
            (live.name.as_str(), live.stop.unwrap().detail),
            ("after", "enough".to_owned())
        );
        assert!(session(client, &over).await.archived_at.is_some());
        daemon.stop();
    });
}
