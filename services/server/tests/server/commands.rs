//! The commands about files that work without a daemon: validate, schema, set-config.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::binary::{Place, mode, output, text};

/// Writes a file and the directories above it.
fn write(path: &Path, content: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

struct Project {
    place: Place,
    root: PathBuf,
    _directory: tempfile::TempDir,
}

impl Project {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self {
            place: Place::new(),
            root: directory.path().canonicalize().unwrap(),
            _directory: directory,
        }
    }

    fn write(&self, path: &str, content: &str) -> String {
        let path = self.root.join(path);
        write(&path, content);
        path.to_str().unwrap().to_owned()
    }

    async fn run(&self, arguments: &[&str]) -> Output {
        let mut command = self.place.command(arguments);
        command.current_dir(&self.root);
        output(command).await
    }

    /// Exit code and lines of `validate`.
    async fn validate(&self, arguments: &[&str]) -> (i32, Vec<String>) {
        let output = self.run(&[&["validate"], arguments].concat()).await;
        let lines = text(&output.stdout).lines().map(str::to_owned).collect();
        (output.status.code().unwrap(), lines)
    }

    fn assert_no_daemon(&self) {
        assert!(!self.place.home.path().exists(), "nothing made a home");
    }
}

fn assert_line(lines: &[String], start: &str, parts: &[&str]) {
    let line = lines.iter().find(|line| line.starts_with(start));
    let line = line.unwrap_or_else(|| panic!("no line starts with {start}: {lines:#?}"));
    for part in parts {
        assert!(line.contains(part), "{part} in {line}");
    }
}

#[tokio::test]
async fn c104_c129_one_file_is_checked_without_a_daemon() {
    let project = Project::new();
    let good = project.write("good.toml", "defaults.agent = \"reviewer\"\n");
    let bad = project.write(
        "bad.toml",
        "[defaults]\nagent = 3\n[permisions]\nmode = \"s3cr3t\"\n",
    );
    assert_eq!(project.validate(&[&good]).await, (0, Vec::new()));
    let (code, lines) = project.validate(&[&bad]).await;
    assert_eq!((code, lines.len()), (65, 2));
    assert_line(
        &lines,
        &format!("{bad}:2:1: config_wrong_type: "),
        &["`defaults.agent`"],
    );
    assert_line(
        &lines,
        &format!("{bad}:3:2: config_unknown_key: "),
        &["`permisions`", "`permissions`"],
    );
    assert!(!lines.concat().contains("s3cr3t"));
    let (code, lines) = project.validate(&[&good, &bad]).await;
    assert_eq!((code, lines.len()), (65, 2));
    project.assert_no_daemon();
}

#[tokio::test]
async fn a_directory_below_the_one_with_the_files_is_checked_as_what_it_belongs_to() {
    let project = Project::new();
    let own = project.write(".compozy/profiles/p/config.toml", "[http]\n");
    project.write(".compozy/agents/x/notes", "");
    let personal = project.place.home.path().join("profiles/q/config.toml");
    for inside in [
        ".compozy",
        ".compozy/profiles",
        ".compozy/profiles/p",
        ".compozy/agents/x",
    ] {
        let (code, lines) = project.validate(&[inside]).await;
        assert_eq!((code, lines.len()), (65, 1), "{inside} {lines:?}");
        assert_line(
            &lines,
            &format!("{own}:1:2: config_key_not_allowed: "),
            &["`http`"],
        );
    }
    write(&personal, "[sandboxes]\n");
    let (code, lines) = project
        .validate(&[personal.parent().unwrap().to_str().unwrap()])
        .await;
    assert_eq!((code, lines.len()), (65, 1), "{lines:?}");
    assert_line(&lines, &format!("{}:1:2: ", personal.display()), &["`sandboxes`"]);
}

#[tokio::test]
async fn c106_c129_r047_the_schema_needs_no_daemon_and_no_workspace() {
    let project = Project::new();
    let output = project.run(&["schema", "--format", "json"]).await;
    assert!(output.status.success());
    let schema: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let keys = schema["keys"].as_array().unwrap();
    let find = |key: &str| {
        keys.iter()
            .find(|entry| entry["key"] == key)
            .unwrap_or_else(|| panic!("{key}"))
    };
    let mode = find("permissions.mode");
    assert_eq!(
        (mode["default"].as_str(), mode["merge"].as_str()),
        (Some("\"approve-all\""), Some("replace"))
    );
    assert!(mode["type"].as_str().unwrap().contains("deny-all"));
    assert_eq!(find("mcp_servers")["merge"], "patch by name");
    assert_eq!(find("hooks.declarations")["merge"], "replace by name");
    assert_eq!(find("automation.jobs")["merge"], "append");
    assert_eq!(find("daemon.socket")["layers"], serde_json::json!(["user"]));
    for opaque in ["attention", "gateway", "loops", "window_manager", "worktrees"] {
        assert_eq!(find(opaque)["type"], "opaque", "{opaque}");
    }
    // Every typed key is there for a person, too.
    let human = text(&project.run(&["schema"]).await.stdout);
    for entry in keys {
        let key = entry["key"].as_str().unwrap();
        assert!(
            human
                .lines()
                .any(|line| line.split_whitespace().next() == Some(key)),
            "{key}"
        );
    }
    project.assert_no_daemon();
}

#[tokio::test]
async fn without_a_path_the_home_is_no_project_of_what_lies_below() {
    let project = Project::new();
    let home = project.root.join(".compozy");
    let broken = project.write(".compozy/config.toml", "foo = 1\n");
    project.write("dev/api/.claude/skills/x/SKILL.md", "broken");
    let validate = async |directory: &str| {
        let mut command = project.place.command(&["validate"]);
        command.env("COMPOZY_HOME", &home);
        command.current_dir(project.root.join(directory));
        output(command).await
    };
    let refused = validate("dev/api").await;
    assert_eq!(refused.status.code(), Some(66));
    assert!(text(&refused.stderr).contains("name what is to be checked"));
    for here in ["", ".compozy"] {
        let told = validate(here).await;
        assert_eq!(told.status.code(), Some(65), "{here}");
        assert!(
            text(&told.stdout).starts_with(&format!("{broken}:1:1: ")),
            "{here}"
        );
    }
}

#[tokio::test]
async fn what_all_profiles_share_is_told_once_beside_a_broken_one() {
    let project = Project::new();
    let env = project.write(".env", "no assignment\n");
    project.write(".compozy/profiles/p/config.toml", "broken\n");
    let (code, lines) = project.validate(&[]).await;
    assert_eq!((code, lines.len()), (65, 2), "{lines:#?}");
    assert_line(&lines, &format!("{env}:1:1: "), &["dotenv_not_understood"]);
}

#[tokio::test]
async fn a_directory_is_checked_as_its_registration_would_read_it() {
    let project = Project::new();
    let config = project.write(".compozy/config.toml", "[defaults]\nagent = 3\n");
    let mcp = project.write(".compozy/mcp.json", "{\n // a comment\n}");
    let agent = project.write(".compozy/agents/a/AGENT.md", "---\nname: a\n---\n");
    let skill = project.write(
        ".agents/skills/s/SKILL.md",
        "---\nname: s\ndescription: Use when: x\n---\ntext\n",
    );
    let profile = project.write(".compozy/profiles/p/config.toml", "[sandboxes.x]\n");
    let profile_agent = project.write(".compozy/profiles/p/agents/b/AGENT.md", "no front matter\n");
    let env = project.write(".env", "COMPOZY_HOME=/tmp/other\nwhat is this s3cr3t\n");
    let (code, lines) = project.validate(&[]).await;
    assert_eq!(code, 65);
    assert_line(
        &lines,
        &format!("{config}:2:1: config_wrong_type: "),
        &["`defaults.agent`"],
    );
    assert_line(&lines, &format!("{mcp}:2:2: mcp_syntax: "), &[]);
    assert_line(&lines, &format!("{agent}:"), &[]);
    assert_line(&lines, &format!("{skill}:3:"), &["warning: "]);
    assert_line(
        &lines,
        &format!("{profile}:1:"),
        &["config_key_not_allowed", "`sandboxes`"],
    );
    assert_line(&lines, &format!("{profile_agent}:1:"), &[]);
    assert_line(&lines, &format!("{env}:1:1: dotenv_home_ignored: warning: "), &[]);
    assert_line(
        &lines,
        &format!("{env}:2:1: dotenv_not_understood: warning: "),
        &[],
    );
    assert!(!lines.concat().contains("s3cr3t"));
    let unique: std::collections::HashSet<&String> = lines.iter().collect();
    assert_eq!(unique.len(), lines.len(), "each thing is told once: {lines:#?}");
    let from_below = project.validate(&[".compozy"]).await;
    assert_eq!(
        from_below,
        (65, lines),
        "the directory with the files means its root"
    );
    project.assert_no_daemon();
}

#[tokio::test]
async fn warnings_do_not_fail() {
    let project = Project::new();
    project.write(
        ".compozy/skills/s/SKILL.md",
        "---\nname: s\ndescription: Use when: x\n---\ntext\n",
    );
    let (code, lines) = project.validate(&["."]).await;
    assert_eq!((code, lines.len()), (0, 1), "{lines:#?}");
    let output = project.run(&["validate", "--format", "json", "."]).await;
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (found["severity"].as_str(), found["line"].as_i64()),
        (Some("warning"), Some(3))
    );
    assert!(found["remedy"].as_str().is_some_and(|remedy| !remedy.is_empty()));
}

#[tokio::test]
async fn the_user_s_layer_counts() {
    let project = Project::new();
    let home = project.place.home.path();
    project.write(
        ".compozy/config.toml",
        "[[mcp_servers]]\nname = \"s\"\nargs = [\"x\"]\n[old]\nkey = 1\n",
    );
    let (code, lines) = project.validate(&[]).await;
    assert_eq!((code, lines.len()), (65, 2), "{lines:#?}");
    write(
        &home.join("mcp.json"),
        "{\"mcpServers\": {\"s\": {\"command\": \"c\"}}}",
    );
    write(&home.join("config.toml"), "config.unknown_keys = \"warn\"\n");
    let (code, lines) = project.validate(&[]).await;
    assert_eq!(
        (code, lines.len()),
        (0, 1),
        "a patch of the user's server is whole: {lines:#?}"
    );
    assert!(lines[0].contains("config_unknown_key: warning: "), "{lines:?}");
    let (code, lines) = project.validate(&[".compozy/config.toml"]).await;
    assert_eq!((code, lines.len()), (0, 1), "also for one file: {lines:#?}");
    // The home itself is a directory like others.
    write(&home.join("config.toml"), "nonsense\n");
    write(&home.join("profiles/p/mcp.json"), "[]");
    let (code, lines) = project.validate(&[home.to_str().unwrap()]).await;
    assert_eq!(code, 65);
    assert_line(
        &lines,
        &format!("{}/config.toml:1:", home.display()),
        &["config_syntax"],
    );
    assert_line(
        &lines,
        &format!("{}/profiles/p/mcp.json:1:1: mcp_wrong_type", home.display()),
        &[],
    );
}

#[tokio::test]
async fn profiles_that_are_left_out_are_counted() {
    let project = Project::new();
    for number in 0..66 {
        project.write(&format!(".compozy/profiles/p{number}/config.toml"), "");
    }
    let (code, lines) = project.validate(&[]).await;
    assert_eq!((code, lines.len()), (0, 1), "{lines:#?}");
    assert!(
        lines[0].contains("validate_truncated: warning: 2 of 66 profiles"),
        "{lines:?}"
    );
}

#[tokio::test]
async fn files_are_known_by_their_names() {
    let project = Project::new();
    for (name, content, code) in [
        ("mcp.json", "[]", "mcp_wrong_type"),
        (".mcp.json", "{", "mcp_syntax"),
        ("a/AGENT.md", "---\nname: a\n", ":1:1: "),
        ("s/SKILL.md", "text", ":1:1: "),
        ("workspace.toml", "workspace_id = 1\n", "identity_invalid"),
        ("x.toml", "= 1", "config_syntax"),
    ] {
        let path = project.write(name, content);
        let (exit, lines) = project.validate(&[&path]).await;
        assert_eq!(exit, 65, "{name}");
        assert_line(&lines, &path, &[code]);
    }
    let (exit, lines) = project.validate(&[&project.write(".env", "x")]).await;
    assert_eq!((exit, lines.len()), (0, 1));
    let link = project.root.join("link.toml");
    std::os::unix::fs::symlink("x.toml", &link).unwrap();
    let (exit, lines) = project.validate(&["link.toml"]).await;
    assert_eq!(exit, 65);
    assert_line(&lines, link.to_str().unwrap(), &["config_not_regular"]);
    project.write("README.md", "hello");
    assert_eq!(project.validate(&["README.md"]).await.0, 64);
    assert_eq!(project.validate(&["none.toml"]).await.0, 66);
    assert_eq!(project.validate(&["none/"]).await.0, 66);
    assert_eq!(project.validate(&[]).await.0, 66, "no .compozy above");
}

#[tokio::test]
async fn r220_daemon_owned_tables_are_refused_in_every_file_of_a_workspace() {
    let project = Project::new();
    let lines_of = |key: &str| format!("# first\n[{key}]\n");
    for table in [
        "daemon",
        "http",
        "grpc",
        "store",
        "changes",
        "workspaces",
        "auth",
        "log",
        "telemetry",
        "config",
        "memory.session",
        "marketplace",
        "gateway",
        "shell",
    ] {
        for (file, layer) in [
            (".compozy/config.toml", "workspace"),
            (".compozy/profiles/p/config.toml", "workspace_profile"),
        ] {
            let path = project.write(file, &lines_of(table));
            let (code, lines) = project.validate(&[&path]).await;
            assert_eq!((code, lines.len()), (65, 1), "{table} in {layer}: {lines:?}");
            let parts = [
                "config_key_not_allowed",
                &format!("`{table}`"),
                &format!("layer {layer})"),
            ];
            assert_line(&lines, &format!("{path}:2:"), &parts);
        }
    }
    let path = project.write(".compozy/config.toml", "memory.global_dir = \"/x\"\n");
    let (code, lines) = project.validate(&[&path]).await;
    assert_eq!(code, 65);
    assert_line(
        &lines,
        &format!("{path}:1:"),
        &["config_key_not_allowed", "`memory.global_dir`"],
    );
}

#[tokio::test]
async fn r067_doctor_names_the_user_s_broken_file() {
    let project = Project::new();
    let path = project.place.home.config_path();
    write(&path, "[store]\nurl = \"postgres://u:s3cr3t@db\n");
    let output = project.run(&["doctor", "-o", "json"]).await;
    assert_eq!(output.status.code(), Some(1));
    let told = text(&output.stdout);
    assert!(
        told.contains(path.to_str().unwrap()) && told.contains("line 2"),
        "{told}"
    );
    assert!(!told.contains("s3cr3t"), "{told}");
}

#[tokio::test]
async fn a_workspace_s_file_is_edited_without_a_daemon() {
    let project = Project::new();
    let path = project.root.join(".compozy/config.toml");
    let set = [
        "set-config",
        "--file",
        ".compozy/config.toml",
        "--layer",
        "workspace",
    ];
    let made = project
        .run(&[&set[..], &["defaults.agent", "reviewer"]].concat())
        .await;
    assert!(made.status.success(), "{}", text(&made.stderr));
    assert!(
        text(&made.stdout).contains(&format!("{}:2", path.display())),
        "{}",
        text(&made.stdout)
    );
    assert_eq!(
        (mode(&path), mode(path.parent().unwrap())),
        (0o644, 0o755),
        "shared like the workspace"
    );

    write(&path, "# mine\r\n[defaults] # x\r\nagent = 'a' # y\r\n");
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o640)).unwrap();
    let changed = project
        .run(&[&set[..], &["--format", "json", "defaults.agent", "b"]].concat())
        .await;
    let told: serde_json::Value = serde_json::from_slice(&changed.stdout).unwrap();
    assert_eq!(
        (told["line"].as_i64(), told["changed"].as_bool()),
        (Some(3), Some(true))
    );
    let after = std::fs::read_to_string(&path).unwrap();
    assert_eq!(after, "# mine\r\n[defaults] # x\r\nagent = \"b\" # y\r\n");
    assert_eq!(mode(&path), 0o640);

    for wrong in [
        ["defaults.agent", "Not A Name"],
        ["daemon.socket", "/x"],
        ["defalts.agent", "x"],
    ] {
        let refused = project.run(&[&set[..], &wrong].concat()).await;
        assert_eq!(refused.status.code(), Some(65), "{wrong:?}");
        assert!(
            text(&refused.stderr).contains(path.to_str().unwrap()),
            "{}",
            text(&refused.stderr)
        );
        assert_eq!(std::fs::read_to_string(&path).unwrap(), after);
    }
    let unset = project
        .run(&[&set[..], &["--unset", "defaults.agent"]].concat())
        .await;
    assert!(unset.status.success());
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        "# mine\r\n[defaults] # x\r\n"
    );
    assert_eq!(
        project
            .run(&[&set[..], &["defaults.agent"]].concat())
            .await
            .status
            .code(),
        Some(64)
    );
    let behind = project
        .run(&[&set[..], &["defaults.agent", "--unset"]].concat())
        .await;
    assert!(
        text(&behind.stdout).contains("nothing was changed"),
        "the flag is one wherever it stands"
    );
    let dashed = project.run(&[&set[..], &["memory.other", "-3"]].concat()).await;
    assert!(
        dashed.status.success(),
        "a value may start with a dash: {}",
        text(&dashed.stderr)
    );
    project.assert_no_daemon();
}

#[tokio::test]
async fn a_profile_s_file_whose_directory_is_missing_says_what_to_make() {
    let project = Project::new();
    let set = ["set-config", "--layer", "workspace_profile", "--file"];
    let edit = ["p/config.toml", "defaults.agent", "a"];
    let refused = project.run(&[&set[..], &edit].concat()).await;
    assert_eq!(refused.status.code(), Some(65));
    let told = text(&refused.stderr);
    assert!(
        told.contains("does not exist; make the directory first"),
        "{told}"
    );
    std::fs::create_dir(project.root.join("p")).unwrap();
    assert!(project.run(&[&set[..], &edit].concat()).await.status.success());
}

/// What a killed edit left lies beside the file, where a person would commit it.
#[tokio::test]
async fn the_next_edit_removes_what_a_killed_one_left_and_nothing_else() {
    let project = Project::new();
    project.write(".compozy/config.toml", "");
    let half = project.write(".compozy/.config.toml.0123456789abcdef.compozy-tmp", "half");
    let others = [
        ".config.toml.mine.compozy-tmp",
        ".other.toml.0123456789abcdef.compozy-tmp",
        ".config.toml.bak",
    ];
    let others = others.map(|name| project.write(&format!(".compozy/{name}"), "mine"));
    let set = [
        "set-config",
        "--file",
        ".compozy/config.toml",
        "--layer",
        "workspace",
        "defaults.agent",
        "a",
    ];
    assert!(project.run(&set).await.status.success());
    assert!(!Path::new(&half).exists());
    for other in others {
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "mine", "{other}");
    }
}

#[tokio::test]
async fn an_edit_follows_no_link() {
    let project = Project::new();
    let elsewhere = project.write("elsewhere/config.toml", "");
    std::os::unix::fs::symlink("elsewhere", project.root.join(".compozy")).unwrap();
    let set = |file: &'static str| {
        [
            "set-config",
            "--file",
            file,
            "--layer",
            "workspace",
            "defaults.agent",
            "a",
        ]
    };
    let refused = project.run(&set(".compozy/config.toml")).await;
    assert_eq!(refused.status.code(), Some(65), "{}", text(&refused.stderr));
    std::os::unix::fs::symlink("elsewhere/config.toml", project.root.join("link.toml")).unwrap();
    assert_eq!(project.run(&set("link.toml")).await.status.code(), Some(65));
    assert_eq!(std::fs::read_to_string(elsewhere).unwrap(), "");
}
