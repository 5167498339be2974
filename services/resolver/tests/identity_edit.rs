//! The identity file changed on a real disk: repaired, restored, forked, and nothing else in it touched.

#![allow(clippy::unwrap_used)]

mod support;

use compozy_domain::{CatalogError, Reason, WorkspaceStatus};
use compozy_resolver::files::Step;
use compozy_resolver::identity::{self, Found};
use compozy_resolver::{Disk, Files, observe};
use support::{FILE, ID1, ID2, Place, durable, file, identity};

fn status(place: &Place, below: &str, id: &str) -> WorkspaceStatus {
    observe(&Disk::new(), &place.at(below), &durable(id)).status
}

fn found(place: &Place, below: &str) -> Found {
    let root = Disk::new().directory(&place.at(below)).unwrap();
    identity::read(&Disk::new(), &root).unwrap().unwrap()
}

#[test]
fn w040_w041_a_lost_file_is_seen_and_repaired_with_the_id_of_the_row() {
    let place = Place::new();
    let root = place.make_with("a", file(ID1));
    std::fs::remove_file(place.at(&format!("a/{FILE}"))).unwrap();
    assert_eq!(status(&place, "a", ID1), WorkspaceStatus::IdentityMissing);
    assert!(!place.exists(&format!("a/{FILE}")));
    let written = identity::repair(&Disk::new(), &root, &identity(ID1, &root.path), false).unwrap();
    assert!(written.written);
    assert_eq!(status(&place, "a", ID1), WorkspaceStatus::Ok);
    let again = identity::repair(&Disk::new(), &root, &identity(ID2, &root.path), true).unwrap();
    assert!(!again.written, "a valid file stays");
    assert_eq!(again.found.identity.durable_id, durable(ID1));
}

#[test]
fn w042_w044_another_id_is_seen_and_taken_back() {
    let place = Place::new();
    let root = place.make_with("a", file(ID2));
    assert_eq!(status(&place, "a", ID1), WorkspaceStatus::IdentityChanged);
    let restored = identity::restore(&Disk::new(), &root, &durable(ID1)).unwrap();
    assert!(restored.written);
    assert_eq!(
        String::from_utf8(place.read(&format!("a/{FILE}"))).unwrap(),
        file(ID1)
    );
    assert_eq!(status(&place, "a", ID1), WorkspaceStatus::Ok);
    let before = place.state(&format!("a/{FILE}"));
    assert!(
        !identity::restore(&Disk::new(), &root, &durable(ID1))
            .unwrap()
            .written
    );
    assert_eq!(place.state(&format!("a/{FILE}")), before);
}

#[test]
fn w058_a_fork_gets_a_new_id_and_keeps_every_other_key() {
    let place = Place::new();
    let content = format!(
        "# ours\n{}team = \"x\" # the team\n\n[note]\nby = \"y\"\n",
        file(ID1)
    );
    let root = place.make_with("b", &content);
    let _mode = place.set_mode(&format!("b/{FILE}"), 0o640);
    let old = found(&place, "b");
    let forked = identity::fork(&Disk::new(), &root, &old, &durable(ID2)).unwrap();
    assert_eq!(forked.found.identity.forked_from, Some(durable(ID1)));
    let expected = content
        .replace(ID1, ID2)
        .replace("team =", &format!("forked_from = \"{ID1}\"\nteam ="));
    assert_eq!(
        String::from_utf8(place.read(&format!("b/{FILE}"))).unwrap(),
        expected
    );
    assert_eq!(place.mode(&format!("b/{FILE}")), 0o640);
    assert_eq!(place.names("b/.compozy"), ["workspace.toml"]);
}

#[test]
fn a_file_that_changed_since_it_was_read_is_not_replaced() {
    let place = Place::new();
    let root = place.make_with("b", file(ID1));
    let old = found(&place, "b");
    let edited = format!("{}team = \"x\"\n", file(ID1));
    place.write(&format!("b/{FILE}"), &edited);
    let error = identity::fork(&Disk::new(), &root, &old, &durable(ID2)).unwrap_err();
    assert_eq!(error.reason(), Reason::IdentityUnwritable);
    assert_eq!(place.read(&format!("b/{FILE}")), edited.into_bytes());
    assert_eq!(place.names("b/.compozy"), ["workspace.toml"]);
}

#[test]
fn a_full_disk_leaves_the_old_file() {
    let place = Place::new();
    let root = place.make_with("b", file(ID1));
    let old = found(&place, "b");
    for failing in [Step::Write, Step::Flush, Step::Rename] {
        let disk = Disk::with_hook(move |step| {
            if step == failing {
                Err(rustix::io::Errno::NOSPC.into())
            } else {
                Ok(())
            }
        });
        let error = identity::fork(&disk, &root, &old, &durable(ID2)).unwrap_err();
        assert_eq!(error, CatalogError::DiskFull);
        assert_eq!(found(&place, "b"), old);
        assert_eq!(place.names("b/.compozy"), ["workspace.toml"]);
    }
}

#[test]
fn w333_w334_an_invalid_file_is_replaced_only_by_force() {
    let place = Place::new();
    let wanted = identity(ID1, "/w/a");
    let missing = place.make("c");
    let made = identity::repair(&Disk::new(), &missing, &wanted, false).unwrap();
    assert!(made.written);
    assert_eq!(found(&place, "c").identity.durable_id, durable(ID1));

    let root = place.make_with("a", "workspace_id = \"x\"\n");
    let before = place.state(&format!("a/{FILE}"));
    let error = identity::repair(&Disk::new(), &root, &wanted, false).unwrap_err();
    assert_eq!(error.reason(), Reason::IdentityInvalid);
    assert_eq!(place.state(&format!("a/{FILE}")), before);
    let written = identity::repair(&Disk::new(), &root, &wanted, true).unwrap();
    assert!(written.written);
    assert_eq!(found(&place, "a").identity, wanted);
    assert_eq!(status(&place, "a", ID1), WorkspaceStatus::Ok);
    assert_eq!(place.names("a/.compozy"), ["workspace.toml"]);
}

#[test]
fn w334_force_replaces_a_link_itself_and_gives_up_on_a_directory() {
    let place = Place::new();
    let wanted = identity(ID1, "/w/a");
    place.write("target.toml", file(ID2));
    let linked = place.make("a");
    std::fs::create_dir(place.at("a/.compozy")).unwrap();
    place.link("../../target.toml", &format!("a/{FILE}"));
    identity::repair(&Disk::new(), &linked, &wanted, true).unwrap();
    assert_eq!(place.read("target.toml"), file(ID2).into_bytes());
    assert_eq!(found(&place, "a").identity, wanted);

    let blocked = place.make("b");
    std::fs::create_dir_all(place.at(&format!("b/{FILE}/inside"))).unwrap();
    let error = identity::repair(&Disk::new(), &blocked, &wanted, true).unwrap_err();
    assert_eq!(error.reason(), Reason::IdentityUnwritable);
    assert_eq!(place.names("b/.compozy"), ["workspace.toml"]);
}

#[test]
fn w335_a_restore_keeps_other_keys_and_tables() {
    let place = Place::new();
    let content = |id: &str| format!("{}team = \"x\"\n[note]\nby = \"y\"\n", file(id));
    let root = place.make_with("a", content(ID2));
    identity::restore(&Disk::new(), &root, &durable(ID1)).unwrap();
    let now = String::from_utf8(place.read(&format!("a/{FILE}"))).unwrap();
    assert_eq!(now, content(ID1));
}

#[test]
fn a_restore_without_a_file_says_what_to_do() {
    let place = Place::new();
    let root = place.make("a");
    let error = identity::restore(&Disk::new(), &root, &durable(ID1)).unwrap_err();
    let CatalogError::Identity { remedy, .. } = error else {
        panic!("{error:?}")
    };
    assert!(remedy.contains(&format!("`compozy workspace identity repair {}`", root.path)));
    assert!(place.names("a").is_empty());
}
