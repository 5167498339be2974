//! Help and completion, which need nobody.

use std::path::Path;

use crate::run::{Done, Run};

fn run(home: &Path, arguments: &[&str]) -> Done {
    Run::new(&home.join("home"), home, arguments).done()
}

#[test]
fn c074_help_lists_the_exit_codes() {
    let directory = tempfile::tempdir().unwrap();
    let done = run(directory.path(), &["--help"]);
    assert_eq!((done.exit, done.stderr.as_str()), (0, ""));
    for code in ["0", "1", "64", "65", "66", "69", "70", "73", "75", "77", "130"] {
        let listed = done
            .stdout
            .lines()
            .any(|line| line.split_whitespace().next() == Some(code));
        assert!(listed, "{code} is not listed");
    }
}

#[test]
fn c074_c124_every_command_explains_itself_with_an_example() {
    let directory = tempfile::tempdir().unwrap();
    let mut waiting: Vec<Vec<String>> = vec![Vec::new()];
    let mut leaves = 0;
    while let Some(command) = waiting.pop() {
        let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        arguments.push("--help");
        let done = run(directory.path(), &arguments);
        assert_eq!(done.exit, 0, "{command:?}");
        let verbs = subcommands(&done.stdout);
        assert!(
            !verbs.is_empty() || done.stdout.contains("Example"),
            "{command:?} has no example"
        );
        leaves += usize::from(verbs.is_empty());
        waiting.extend(
            verbs
                .into_iter()
                .map(|verb| [command.clone(), vec![verb]].concat()),
        );
    }
    assert!(leaves >= 60, "only {leaves} commands were found");
    assert!(!directory.path().join("home").exists(), "help makes no home");
}

fn subcommands(help: &str) -> Vec<String> {
    let Some(list) = help.split("\nCommands:\n").nth(1) else {
        return Vec::new();
    };
    list.lines()
        .take_while(|line| !line.is_empty())
        .filter_map(|line| {
            line.strip_prefix("  ")?
                .split_whitespace()
                .next()
                .map(str::to_owned)
        })
        .filter(|verb| verb != "help")
        .collect()
}

#[test]
fn c123_a_script_for_each_shell() {
    let directory = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let done = run(directory.path(), &["completion", shell]);
        assert_eq!(done.exit, 0);
        assert!(
            done.stdout.contains("compozy") && done.stdout.contains("relink"),
            "{shell}"
        );
    }
    let done = run(directory.path(), &["completion", "sh"]);
    assert_eq!((done.exit, done.stdout.as_str()), (64, ""));
    assert!(!directory.path().join("home").exists());
}
