//! What the disk takes for the files of a workspace: the bare stat of everything that a resolve watches, and the bare
//! reading of the same files, one system call after the other.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use compozy_e2e::utf8;

use crate::cpu::Busy;
use crate::measured::Measured;

/// Bytes of a skill's text, as most have.
const TEXT_BYTES: usize = 2_000;
/// Skills of one group.
const GROUP: usize = 50;

/// Makes a workspace with this many skills, and a few agents.
pub(crate) fn make(root: &Path, skills: usize) {
    let text = "All work and no play makes a dull skill.\n".repeat(TEXT_BYTES / 41);
    for number in 0..skills {
        let group = number / GROUP;
        let directory = root.join(format!(".compozy/skills/group-{group}/skill-{number}"));
        fs::create_dir_all(&directory).unwrap();
        let matter = format!("---\nname: skill-{number}\ndescription: Does the work number {number}\n---\n");
        fs::write(directory.join("SKILL.md"), matter + &text).unwrap();
    }
    for number in 0..10 {
        let directory = root.join(format!(".compozy/agents/agent-{number}"));
        fs::create_dir_all(&directory).unwrap();
        let matter = format!("---\nname: agent-{number}\ndescription: An agent\n---\nDo it.\n");
        fs::write(directory.join("AGENT.md"), matter).unwrap();
    }
    fs::write(
        root.join(".compozy/config.toml"),
        "[defaults]\nprovider = \"acme\"\n",
    )
    .unwrap();
}

/// Works for a while, pass after pass, on everything below a root.
pub(crate) fn measure(kind: &str, root: &str, span: Duration) -> Measured {
    let (mut directories, mut files) = (vec![PathBuf::from(root)], Vec::new());
    let mut at = 0;
    while at < directories.len() {
        for entry in fs::read_dir(&directories[at]).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => directories.push(path),
                false => files.push(path),
            }
        }
        at += 1;
    }
    let watched: Vec<String> = directories.iter().chain(&files).map(utf8).collect();
    let files: Vec<String> = files.iter().map(utf8).collect();
    let pass = || match kind {
        "stat" => {
            for path in &watched {
                std::hint::black_box(rustix::fs::lstat(path.as_str()).unwrap());
            }
        }
        "read" => {
            for path in &files {
                std::hint::black_box(fs::read(path).unwrap());
            }
        }
        _ => panic!("no such pass: {kind}"),
    };
    pass();
    let (begun, before, mut passes) = (Instant::now(), Busy::of(std::process::id()), Vec::new());
    while begun.elapsed() < span {
        let pass_begun = Instant::now();
        pass();
        passes.push(pass_begun.elapsed());
    }
    let busy = Busy::of(std::process::id()).since(&before);
    Measured::of(passes, begun.elapsed(), busy)
}
