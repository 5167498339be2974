//! SQLite: writes that share one transaction. The writer is held until all of them wait, so that they become
//! one group.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use compozy_domain::CatalogError;
use compozy_store::conformance::{
    Catalog, Engine, SqliteFile, SqliteMemory, execute, hold_writer, raw_rows, rejection, run,
};
use compozy_store::{Answer, Error, Register, Registered, Result, WorkspaceStore as _};
use futures::FutureExt as _;
use futures::future::{BoxFuture, join_all};

/// Carries out registrations in one group, in their order.
async fn in_one_group<E: Engine>(
    catalog: &Catalog<E>,
    registers: Vec<Register>,
) -> Vec<Result<Answer<Registered>>> {
    let held = hold_writer(&catalog.store).await;
    let mut writes: Vec<BoxFuture<'_, _>> = Vec::new();
    for register in registers {
        let mut write = catalog.store.register(register, catalog.call()).boxed();
        // One poll puts it into the writer's queue.
        assert!(futures::poll!(&mut write).is_pending());
        writes.push(write);
    }
    drop(held);
    join_all(writes).await
}

fn assert_all_full(outcomes: &[Result<Answer<Registered>>]) {
    for outcome in outcomes {
        assert!(matches!(outcome, Err(Error::DiskFull)), "{outcome:?}");
    }
}

async fn a_refused_member_does_not_hurt_the_others<E: Engine>(catalog: Catalog<E>) {
    let registers = vec![
        catalog.new_named("/w/a", "a"),
        catalog.new_named("/w/taken", "A"),
        catalog.new_named("/w/b", "b"),
        catalog.new_named("/w/taken-too", "B"),
        catalog.new_named("/w/c", "c"),
    ];
    let mut outcomes = in_one_group(&catalog, registers).await;
    for refused in [3, 1] {
        let error = rejection(outcomes.remove(refused));
        assert!(matches!(error, CatalogError::NameConflict { .. }), "{error}");
    }
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert_eq!(catalog.names().await, ["c", "b", "a"]);
    let positions: Vec<i64> = catalog.log().await.iter().map(|entry| entry.position).collect();
    assert_eq!(positions, [1, 2, 3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_member_does_not_hurt_the_others_in_a_file() {
    run::<SqliteFile, _>(
        concat!(
            module_path!(),
            "::a_refused_member_does_not_hurt_the_others_in_a_file"
        ),
        a_refused_member_does_not_hurt_the_others,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_member_does_not_hurt_the_others_in_memory() {
    run::<SqliteMemory, _>(
        concat!(
            module_path!(),
            "::a_refused_member_does_not_hurt_the_others_in_memory"
        ),
        a_refused_member_does_not_hurt_the_others,
    )
    .await;
}

/// A registration of a root whose row holds no text: it reads the row, and that is damage for its caller alone.
#[tokio::test(flavor = "multi_thread")]
async fn a_member_that_meets_a_damaged_row_does_not_hurt_the_others() {
    let test = concat!(
        module_path!(),
        "::a_member_that_meets_a_damaged_row_does_not_hurt_the_others"
    );
    run::<SqliteFile, _>(test, async |catalog: Catalog<SqliteFile>| {
        catalog.register("/w/damaged").await;
        execute(&catalog.store, "UPDATE workspace SET title = CAST(x'ff' AS TEXT)")
            .await
            .unwrap();
        let registers = ["/w/a", "/w/damaged", "/w/b"].map(|root| catalog.new_at(root));
        let outcomes = in_one_group(&catalog, registers.into()).await;
        assert!(outcomes[0].is_ok() && outcomes[2].is_ok(), "{outcomes:?}");
        assert!(matches!(outcomes[1], Err(Error::Corrupt(_))), "{outcomes:?}");
    })
    .await;
}

/// The first member fits, a later one does not: none is applied, and each is told why.
async fn a_full_disk_ends_the_whole_group<E: Engine>(catalog: Catalog<E>) {
    catalog.register("/w/there").await;
    let before = catalog.everything().await;
    let pages: u64 = raw_rows(&catalog.store, "PRAGMA page_count").await.unwrap()[0][0]
        .parse()
        .unwrap();
    let limit = format!("PRAGMA max_page_count = {}", pages + 8);
    execute(&catalog.store, &limit).await.unwrap();
    let registers = || {
        let mut large = catalog.new_at("/w/large");
        large.workspace.additional_dirs = (0..64).map(|n| format!("/{n}/{}", "d".repeat(1_000))).collect();
        vec![catalog.new_at("/w/small"), large, catalog.new_at("/w/last")]
    };
    assert_all_full(&in_one_group(&catalog, registers()).await);
    assert_eq!(catalog.everything().await, before);
    // What fits is still written.
    let small = in_one_group(&catalog, vec![catalog.new_at("/w/small")]).await;
    assert!(small[0].is_ok(), "{small:?}");
    execute(&catalog.store, "PRAGMA max_page_count = 100000")
        .await
        .unwrap();
    let outcomes = in_one_group(&catalog, registers()).await;
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert_eq!(catalog.names().await, ["last", "large", "small", "there"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_ends_the_whole_group_in_a_file() {
    run::<SqliteFile, _>(
        concat!(module_path!(), "::a_full_disk_ends_the_whole_group_in_a_file"),
        a_full_disk_ends_the_whole_group,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_ends_the_whole_group_in_memory() {
    run::<SqliteMemory, _>(
        concat!(module_path!(), "::a_full_disk_ends_the_whole_group_in_memory"),
        a_full_disk_ends_the_whole_group,
    )
    .await;
}

/// The commit of a group fails for all of its members.
#[tokio::test(flavor = "multi_thread")]
async fn a_failed_commit_fails_every_member() {
    run::<SqliteFile, _>(
        concat!(module_path!(), "::a_failed_commit_fails_every_member"),
        async |catalog: Catalog<SqliteFile>| {
            let before = catalog.everything().await;
            catalog.store.fail_commits(true);
            let registers = (0..5).map(|n| catalog.new_at(&format!("/w/{n}"))).collect();
            for outcome in in_one_group(&catalog, registers).await {
                let away = matches!(
                    outcome,
                    Err(Error::Unavailable {
                        outcome_unknown: false,
                        ..
                    })
                );
                assert!(away, "{outcome:?}");
            }
            catalog.store.fail_commits(false);
            assert_eq!(catalog.everything().await, before);
            catalog.register("/w/next").await;
        },
    )
    .await;
}

/// A member whose deadline passes while it waits is left out, and says so.
#[tokio::test(flavor = "multi_thread")]
async fn a_late_member_is_left_out() {
    run::<SqliteMemory, _>(
        concat!(module_path!(), "::a_late_member_is_left_out"),
        async |catalog: Catalog<SqliteMemory>| {
            let held = hold_writer(&catalog.store).await;
            let mut call = catalog.call();
            call.deadline = std::time::Instant::now() + std::time::Duration::from_millis(1);
            let deadline = call.deadline;
            let mut late = catalog.store.register(catalog.new_at("/w/late"), call).boxed();
            assert!(futures::poll!(&mut late).is_pending());
            let store = Arc::clone(&catalog.store);
            let mut good = store.register(catalog.new_at("/w/good"), catalog.call()).boxed();
            assert!(futures::poll!(&mut good).is_pending());
            tokio::time::sleep_until(deadline.into()).await;
            drop(held);
            let late = late.await;
            assert!(matches!(late, Err(Error::DeadlineExceeded)), "{late:?}");
            assert!(good.await.is_ok());
            assert_eq!(catalog.names().await, ["good"]);
        },
    )
    .await;
}
