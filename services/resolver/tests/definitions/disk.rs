//! Files as the disk gives them.

use std::os::unix::fs::PermissionsExt;

use compozy_domain::Layer;
use compozy_resolver::definition::{Agent, DEFINITION_BYTES_MAX, Found, read_agent};
use compozy_resolver::testing::drop_file_privileges;
use compozy_resolver::{Disk, Files};
use tempfile::TempDir;

use crate::support::the;

fn read(directory: &TempDir) -> Agent {
    let path = directory.path().to_str().unwrap();
    let opened = Disk::new().open(path).unwrap();
    let content = opened.read("AGENT.md", DEFINITION_BYTES_MAX);
    read_agent(&Found {
        layer: Layer::User,
        path: format!("{path}/AGENT.md"),
        directory_name: "reviewer".to_owned(),
        content: content.map(|content| content.expect("the file is there").bytes),
        mcp: None,
    })
}

#[test]
fn r151_a_file_that_may_not_be_read_is_listed_by_its_directory() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("AGENT.md");
    std::fs::write(&file, "---\nname: helper\n---\nReview.\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o000)).unwrap();
    let agent = std::thread::scope(|scope| {
        let reading = scope.spawn(|| {
            drop_file_privileges();
            read(&directory)
        });
        reading.join().unwrap()
    });
    assert_eq!((agent.name.as_str(), agent.usable), ("reviewer", false));
    let found = the("definition_unreadable", &agent.diagnostics);
    assert_eq!(found.path, agent.path);
}

#[test]
fn r148_a_file_may_have_a_mebibyte_and_no_byte_more() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("AGENT.md");
    let mut content = b"---\nname: reviewer\n---\n".to_vec();
    content.resize(1024 * 1024, b'x');
    std::fs::write(&file, &content).unwrap();
    assert!(read(&directory).usable);
    content.push(b'x');
    std::fs::write(&file, &content).unwrap();
    let agent = read(&directory);
    assert!(!agent.usable);
    the("definition_too_large", &agent.diagnostics);
}

#[test]
fn a_link_is_no_definition() {
    let directory = TempDir::new().unwrap();
    std::os::unix::fs::symlink("/etc/hostname", directory.path().join("AGENT.md")).unwrap();
    the("definition_not_regular", &read(&directory).diagnostics);
}
