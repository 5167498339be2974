//! The transcripts of a new user in docs/resolution.md and docs/sessions.md: every command of them is run, and what the
//! binaries say has to be what stands there. With COMPOZY_WRITE_TRANSCRIPT set, the pages are written anew instead.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use compozy_e2e::{Environment, program, utf8};

/// Where the page says that projects lie.
const YOURS: &str = "/home/you";
const BEGIN: &str = "<!-- transcript -->\n```console\n";
const END: &str = "```\n<!-- end of transcript -->";

#[test]
fn the_transcript_of_a_new_user_is_what_happens() {
    replay("resolution.md", &Shell::with_a_project());
}

#[test]
fn the_transcript_of_a_session_is_what_happens() {
    replay("sessions.md", &Shell::with_an_empty_project());
}

fn replay(page: &str, shell: &Shell) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(page);
    let text = fs::read_to_string(&page).unwrap();
    let begin = text.find(BEGIN).expect("the page has a transcript") + BEGIN.len();
    let end = begin + text[begin..].find(END).expect("which ends");
    let written = &text[begin..end];
    let mut happened = String::new();
    for line in written.lines().filter_map(|line| line.strip_prefix("$ ")) {
        let _ = writeln!(happened, "$ {line}");
        happened.push_str(&shell.run(line));
        happened.push('\n');
    }
    let happened = happened.trim_end().to_owned() + "\n";
    if std::env::var_os("COMPOZY_WRITE_TRANSCRIPT").is_some() {
        fs::write(&page, format!("{}{happened}{}", &text[..begin], &text[end..])).unwrap();
        return;
    }
    // How wide a table is depends on where this machine keeps temporary files.
    assert_eq!(
        narrow(written),
        narrow(&happened),
        "run the test with COMPOZY_WRITE_TRANSCRIPT=1 and look at what changed"
    );
}

/// A shell in a project.
struct Shell {
    environment: Environment,
    project: PathBuf,
}

impl Shell {
    fn with_an_empty_project() -> Self {
        let environment = Environment::new();
        let project = environment.make("checkout-api");
        Self { environment, project }
    }

    /// A project as it is found: a typo, a colon, a profile that nobody has.
    fn with_a_project() -> Self {
        let Self { environment, project } = Self::with_an_empty_project();
        let file = |path: &str, text: &str| {
            let path = project.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        file(
            ".compozy/config.toml",
            "[defaults]\nprovider = \"claude\"\n\n[permisions]\nmode = \"approve-reads\"\n",
        );
        file(
            ".compozy/skills/deploy/SKILL.md",
            "---\nname: deploy\ndescription: Use when: the release branch is green\n---\nDeploy it.\n",
        );
        file(
            ".compozy/agents/reviewer/AGENT.md",
            "---\nname: reviewer\ndescription: Reviews pull requests\n---\nReview the change.\n",
        );
        file(
            ".compozy/profiles/staging/config.toml",
            "[defaults]\nprovider = \"codex\"\n",
        );
        Self { environment, project }
    }

    /// What a command prints, with what differs from run to run made equal.
    fn run(&self, line: &str) -> String {
        let mut command = Command::new("sh");
        self.environment.apply(&mut command);
        let programs = utf8(program("compozy").parent().unwrap());
        let path = std::env::var("PATH").unwrap();
        command
            .args(["-c", &format!("({line}) 2>&1")])
            .env("PATH", format!("{programs}:{path}"))
            .current_dir(&self.project);
        let done = command.output().unwrap();
        let text = String::from_utf8(done.stdout).unwrap();
        let work = utf8(&self.environment.work);
        let shorter = work.len().saturating_sub(YOURS.len());
        let lines = text.lines().map(|line| match line.contains(&work) {
            true => line.replace(&work, YOURS),
            false => without_blanks(line, shorter),
        });
        lines.map(|line| equal_in_every_run(&line)).collect()
    }
}

/// A line of a table whose paths are shorter than they were: the longest gap gives way.
fn without_blanks(line: &str, count: usize) -> String {
    let gap = " ".repeat(count + 2);
    match line.rfind(&gap) {
        Some(at) => format!("{}{}", &line[..at], &line[at + count..]),
        None => line.to_owned(),
    }
}

fn narrow(text: &str) -> String {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    text.lines().map(|line| words(line) + "\n").collect()
}

/// Ids, times and fingerprints in a form that is the same in every run.
fn equal_in_every_run(line: &str) -> String {
    let mut words = Vec::new();
    for word in line.split(' ') {
        let bare = word.trim_matches(['(', ')', ',']);
        let is_hex = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let replaced = if bare.strip_prefix("ws_").is_some_and(is_hex) {
            word.replace(bare, "ws_5c3a1f0e9b7d2468")
        } else if bare.len() == 64 && is_hex(bare) {
            word.replace(bare, &format!("9f{}", "0".repeat(62)))
        } else if bare.len() == 26
            && bare
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        {
            word.replace(bare, "01HXJ9YR4QZ0V7M3T5B8N2C6KD")
        } else if bare.len() == 10 && bare.starts_with("20") && bare.matches('-').count() == 2 {
            word.replace(bare, "2026-11-30")
        } else if bare.len() == 8 && bare.matches(':').count() == 2 {
            word.replace(bare, "09:30:00")
        } else {
            word.to_owned()
        };
        words.push(replaced);
    }
    format!("{}\n", words.join(" ").trim_end())
}
