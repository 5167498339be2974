//! Promises about texts: a query is a literal part of id, name, agent, provider or the name of the workspace, whatever
//! its case and width.

use compozy_domain::Session;
use compozy_domain::session::filter::{Archive, Place, SessionFilter, SessionSort};
use compozy_domain::text::fold_for_search;

use super::engine::Engine;
use super::fixture::{Catalog, fresh};
use super::numbers::Seeded;
use super::session_list_planted::{after_start, ids, ids_of, plain, stopped};
use crate::workspaces::WorkspaceStore as _;

fn query(text: &str) -> SessionFilter {
    SessionFilter {
        query: Some(fold_for_search(text)),
        ..SessionFilter::default()
    }
}

fn named(number: u64, name: &str) -> Session {
    Session {
        name: name.to_owned(),
        ..plain(number, None, i64::try_from(number).unwrap())
    }
}

async fn plant_names<E: Engine>(catalog: &Catalog<E>, names: &[&str]) {
    let sessions: Vec<Session> = names
        .iter()
        .zip(1..)
        .map(|(name, number)| named(number, name))
        .collect();
    catalog.plant(&sessions, &[]).await;
}

pub async fn s266_s267_s268_s269_a_query_is_literal<E: Engine>(catalog: Catalog<E>) {
    let names = [
        "100% done",
        "1000 done",
        "a_b",
        "axb",
        "x*y",
        "xzy",
        r"p\q",
        "pq",
        "it's; -- \"NEAR(",
        "axxORxxb",
        "namexx",
    ];
    plant_names(&catalog, &names).await;
    for (text, expected) in [
        ("100%", vec![1]),
        ("00% d", vec![1]),
        ("a_b", vec![3]),
        ("x*y", vec![5]),
        (r"\", vec![7]),
        (r"p\q", vec![7]),
        ("'; --", vec![]),
        ("'s; -- ", vec![9]),
        ("\"", vec![9]),
        ("\"near(", vec![9]),
        ("NEAR(", vec![9]),
        ("a OR b", vec![]),
        ("name:x", vec![]),
        ("name*", vec![]),
        ("name", vec![11]),
        ("a\0b", vec![]),
        ("a\u{1f}g", vec![]),
        ("\u{1f}", vec![]),
        ("done\n", vec![]),
    ] {
        assert_eq!(
            catalog.found_sessions(&query(text)).await,
            ids(expected),
            "{text:?}"
        );
    }
}

pub async fn s270_to_s276_case_and_width_do_not_count<E: Engine>(catalog: Catalog<E>) {
    for (number, (name, found, missing)) in [
        // s270 s271 s272 s273 s274 s275 s276
        ("Release Plan", vec!["release", "EASE PL"], vec!["lease-plan"]),
        ("stra\u{df}e", vec!["STRASSE", "rass"], vec![]),
        ("BUSSE", vec!["bu\u{df}e"], vec![]),
        ("\u{c9}tude", vec!["\u{e9}tude", "E\u{301}TUDE"], vec!["etude"]),
        ("\u{ff21}\u{ff22}\u{ff23}", vec!["abc"], vec![]),
        ("xyz", vec!["\u{ff38}\u{ff39}\u{ff3a}"], vec![]),
        (
            "\u{3bf}\u{3b4}\u{3cc}\u{3c2}",
            vec!["\u{39f}\u{394}\u{38c}\u{3a3}"],
            vec![],
        ),
        ("\u{212a}elvin", vec!["kelvin"], vec![]),
        (
            "\u{30c6}\u{30b9}\u{30c8}",
            vec!["\u{ff83}\u{ff7d}\u{ff84}"],
            vec![],
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let number = number as u64 + 1;
        catalog.plant(&[named(number, name)], &[]).await;
        for text in found {
            assert_eq!(
                catalog.found_sessions(&query(text)).await,
                ids([number]),
                "{text}"
            );
        }
        for text in missing {
            assert_eq!(catalog.found_sessions(&query(text)).await, ids([]), "{text}");
        }
    }
}

pub async fn s277_s278_queries_of_every_length_are_exact<E: Engine>(catalog: Catalog<E>) {
    let long = "\u{20000}".repeat(64);
    plant_names(
        &catalog,
        &["go7x", "cab", "\u{65b0}\u{8a08}\u{753b}", &long, "zz zz"],
    )
    .await;
    for (text, expected) in [
        ("o7", vec![1]),
        ("7x", vec![1]),
        ("ab", vec![2]),
        ("\u{65b0}", vec![3]),
        ("\u{65b0}\u{8a08}", vec![3]),
        ("\u{8a08}\u{753b}", vec![3]),
        ("\u{65b0}\u{8a08}\u{753b}", vec![3]),
        ("\u{20000}", vec![4]),
        (&long, vec![4]),
        ("z z", vec![5]),
        ("zz", vec![5]),
        (&"a".repeat(256), vec![]),
        (&"\u{20000}".repeat(256), vec![]),
    ] {
        assert_eq!(
            catalog.found_sessions(&query(text)).await,
            ids(expected),
            "{text:?}"
        );
    }
}

pub async fn s279_s280_a_query_looks_at_names_and_ids_only<E: Engine>(catalog: Catalog<E>) {
    let mut register = catalog.new_named("/rootdir/leaf", "Quasar");
    register.workspace.title = "worktitle".to_owned();
    let workspace = catalog.created(register).await;
    let mut session = plain(0xabc_def0, Some(&workspace), 1);
    session.name = "nomen".to_owned();
    session.agent = "agentword".to_owned();
    session.provider = "providerword".to_owned();
    session.model = "modelword".to_owned();
    session.cwd = "/rootdir/leaf".to_owned();
    session
        .labels
        .insert("labelkey".to_owned(), "labelvalue".to_owned());
    session.stop = Some(compozy_domain::session::Stop {
        detail: "stopdetail".to_owned(),
        ..compozy_domain::session::Stop::default()
    });
    session.start.cause = "startcause".to_owned();
    let id = session.id.clone();
    catalog.plant(&[session], &[&workspace]).await;
    for text in [
        "abcdef0",
        "SESS-",
        "nomen",
        "tword",
        "providerw",
        "quasar",
        "QUAS",
        "sar",
        "a",
    ] {
        assert_eq!(
            catalog.found_sessions(&query(text)).await,
            std::slice::from_ref(&id),
            "{text}"
        );
    }
    for text in [
        "rootdir",
        "labelkey",
        "labelvalue",
        "modelword",
        "stopdetail",
        "worktitle",
        "startcause",
        "nomenagent",
        "wordprovider",
        "quasarn",
    ] {
        assert_eq!(catalog.found_sessions(&query(text)).await, ids([]), "{text}");
    }
}

pub async fn s282_a_query_follows_a_rename_and_a_removal<E: Engine>(catalog: Catalog<E>) {
    use super::session_fixture::{deletion, renaming, ungrouped};
    let made = catalog.create_session(ungrouped()).await;
    catalog.change_session(&made.id, renaming("oldname")).await;
    assert_eq!(
        catalog.found_sessions(&query("oldname")).await,
        std::slice::from_ref(&made.id)
    );
    catalog.change_session(&made.id, renaming("newname")).await;
    assert_eq!(catalog.found_sessions(&query("oldname")).await, ids([]));
    assert_eq!(
        catalog.found_sessions(&query("newname")).await,
        std::slice::from_ref(&made.id)
    );
    let stop = super::session_fixture::stopping(compozy_domain::session::StopCause::User, "");
    catalog.change_session(&made.id, stop).await;
    catalog.delete_session(deletion(&made.id)).await.unwrap();
    assert_eq!(catalog.found_sessions(&query("newname")).await, ids([]));
    // The next row takes a number of its own.
    let next = catalog.create_session(ungrouped()).await;
    catalog.change_session(&next.id, renaming("another")).await;
    assert_eq!(
        catalog.found_sessions(&query("another")).await,
        std::slice::from_ref(&next.id)
    );
    assert_eq!(catalog.found_sessions(&query("newname")).await, ids([]));
}

pub async fn s283_a_query_is_joined_with_the_other_filters<E: Engine>(catalog: Catalog<E>) {
    let (a, b) = (catalog.register("/w/a").await, catalog.register("/w/b").await);
    let mut sessions = Vec::new();
    for number in 1..=8 {
        let workspace = if number % 2 == 0 { &a } else { &b };
        let mut session = stopped(number, Some(workspace), i64::try_from(number).unwrap());
        session.name = if number > 2 { "wanted thing" } else { "other" }.to_owned();
        session.archived_at = (number > 4).then(|| after_start(1));
        sessions.push(session);
    }
    catalog.plant(&sessions, &[&a, &b]).await;
    let filter = SessionFilter {
        archive: Archive::Only,
        place: Place::Workspace(a.id.clone()),
        ..query("wanted")
    };
    assert_eq!(catalog.found_sessions(&filter).await, ids([8, 6]));
}

pub async fn s284_a_walk_of_a_query_meets_every_match_once<E: Engine>(catalog: Catalog<E>) {
    let sessions: Vec<Session> = (1..=1_000)
        .map(|number| stopped(number, None, i64::try_from(number % 13).unwrap()))
        .collect();
    catalog.plant(&sessions, &[]).await;
    for text in ["e", "general"] {
        let list = catalog.sessions(query(text), SessionSort::Recent, 100);
        let mut walked = ids_of(&catalog.walk_sessions(list).await);
        walked.sort_unstable();
        assert_eq!(walked, ids(1..=1_000), "{text}");
    }
}

/// The name of a workspace is found in the row of the workspace, so that a rename writes one row.
pub async fn s221_s380_a_renamed_workspace_is_found_at_once<E: Engine>(catalog: Catalog<E>) {
    let workspace = catalog.created(catalog.new_named("/w/q", "Quasar")).await;
    let sessions: Vec<Session> = (1..=10_000)
        .map(|number| stopped(number, Some(&workspace), i64::try_from(number).unwrap()))
        .collect();
    catalog.plant(&sessions, &[&workspace]).await;
    let before = super::hooks::rows(
        &catalog.store,
        "SELECT id, version, updated_at FROM session ORDER BY id",
    );
    let before = before.await.unwrap();
    catalog.number_all().await;
    let head = catalog.log().await.len();
    let update = super::update::rename(&workspace.id, "Pulsar");
    fresh(catalog.store.update(update, catalog.call()).await.unwrap());
    let log = catalog.log().await;
    assert_eq!(log.len(), head + 1);
    let entry = &log[head].change;
    assert_eq!(
        (entry.kind, entry.op),
        (
            compozy_domain::ChangeKind::Workspace,
            compozy_domain::ChangeOp::Upserted
        )
    );
    let after = super::hooks::rows(
        &catalog.store,
        "SELECT id, version, updated_at FROM session ORDER BY id",
    );
    assert_eq!(after.await.unwrap(), before);
    for (text, total) in [("PULSAR", 10_000), ("quasar", 0), ("pu", 10_000)] {
        let list = catalog.sessions(query(text), SessionSort::Recent, 2);
        let page = catalog.session_page(&list).await.page;
        assert_eq!(page.total, total, "{text}");
        for row in page.rows {
            assert_eq!(
                row.workspace.map(|workspace| workspace.name),
                Some("Pulsar".to_owned())
            );
        }
    }
}

/// Letters of ten scripts: Latin, Greek, Cyrillic, Armenian, Hebrew, Arabic, Devanagari, Thai, kana, Han.
const SCRIPTS: [&str; 10] = [
    "aBc\u{c9}\u{df}\u{130}\u{1c5} ",
    "\u{3b1}\u{392}\u{3c3}\u{3c2}\u{3cc}\u{3a9}\u{1f80} ",
    "\u{430}\u{411}\u{432}\u{419}\u{451} ",
    "\u{561}\u{532}\u{587}\u{536} ",
    "\u{5d0}\u{5d1}\u{5e9}\u{5c1}\u{fb2a} ",
    "\u{627}\u{644}\u{645}\u{fefb}\u{64b} ",
    "\u{915}\u{93c}\u{958}\u{93f} ",
    "\u{e01}\u{e33}\u{e49} ",
    "\u{30ab}\u{3099}\u{30ac}\u{ff76}\u{ff9e}\u{3042} ",
    "\u{65b0}\u{f9d1}\u{516d}\u{20000}\u{2f81a} ",
];

pub async fn s285_names_of_ten_scripts_are_found_as_folded_texts_are<E: Engine>(catalog: Catalog<E>) {
    let mut seed = Seeded::new(285);
    let mut text = |lengths: usize| -> String {
        let letters: Vec<char> = SCRIPTS[seed.below(SCRIPTS.len())].chars().collect();
        let length = 1 + seed.below(lengths);
        (0..length).map(|_| letters[seed.below(letters.len())]).collect()
    };
    let sessions: Vec<Session> = (1..=2_000)
        .map(|number| Session {
            name: text(12),
            ..stopped(number, None, i64::try_from(number).unwrap())
        })
        .collect();
    catalog.plant(&sessions, &[]).await;
    let folded: Vec<String> = sessions
        .iter()
        .map(|session| fold_for_search(&session.name))
        .collect();
    let others: Vec<String> = sessions
        .iter()
        .map(|session| fold_for_search(&format!("{}\n{}", session.id, session.agent)))
        .collect();
    for _ in 0..500 {
        let wanted = fold_for_search(&text(5));
        let expected: Vec<_> = (0..sessions.len())
            .rev()
            .filter(|at| folded[*at].contains(&wanted) || others[*at].contains(&wanted))
            .map(|at| sessions[at].id.clone())
            .collect();
        let list = catalog.sessions(query(&wanted), SessionSort::Recent, 100);
        let page = catalog.session_page(&list).await.page;
        assert_eq!(page.total, expected.len() as u64, "{wanted:?}");
        assert_eq!(
            ids_of(&page.rows),
            expected[..expected.len().min(100)],
            "{wanted:?}"
        );
    }
}
