//! Secrets in files of a workspace reach nobody (case R093, end to end).

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use compozy_proto::workspace::v1 as pb;
use compozy_resolver::value::REDACTED;
use prost::Message;
use tracing_subscriber::fmt::MakeWriter;

use crate::place::{at, config, write};
use crate::requests::{register, resolve};
use crate::world::World;

cases! {
    r093_no_secret_is_in_any_answer_error_or_log_line,
}

/// What stands in the files of the case, in any place where a secret may stand.
const SECRET: &str = "s3cr3t";
/// Lines of the log with a secret in them, over all cases of this process.
static LEAKS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// What tells that the log is listened to.
const MARK: &str = "the listener hears everything";
/// Whether it was heard.
static HEARD: AtomicBool = AtomicBool::new(false);

/// Reads the log.
#[derive(Debug, Clone, Copy)]
struct Listener;

impl io::Write for Listener {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        if text.contains(SECRET) {
            LEAKS
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(text.to_string());
        }
        HEARD.fetch_or(text.contains(MARK), Ordering::Relaxed);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Listener {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        *self
    }
}

fn listen() {
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(Listener);
    // Somebody else of this process was first.
    let _ = subscriber.try_init();
}

/// A server with a secret in every field that may hold one.
fn server(number: u32) -> String {
    format!(
        r#"{{
          "command": "serve", "args": ["x"],
          "env": {{"API_TOKEN": "{SECRET}-{number}-a", "LANG": "C"}},
          "secret_env": {{"PLAIN": "{SECRET}-{number}-b"}},
          "headers": {{"Authorization": "{SECRET}-{number}-c"}},
          "auth": {{"password": "{SECRET}-{number}-d", "list": ["{SECRET}-{number}-e"]}},
          "api_key": "{SECRET}-{number}-f"
        }}"#
    )
}

fn servers(number: u32) -> String {
    format!(
        r#"{{"mcpServers": {{"program": {}, "remote": {{
          "type": "http", "url": "https://user:{SECRET}-{number}-g@example.com/?token={SECRET}-{number}-h",
          "headers": {{"X-Key": "{SECRET}-{number}-i"}}
        }}}}}}"#,
        server(number)
    )
}

fn fill(world: &World, root: &str) {
    let base = format!("{root}/.compozy");
    config(
        root,
        &format!(
            "[[mcp_servers]]\nname = \"table\"\ncommand = \"serve\"\nenv = {{ GITHUB_TOKEN = \"{SECRET}-1\" }}\n\
             secret_env = {{ PLAIN = \"{SECRET}-2\" }}\n"
        ),
    );
    write(
        format!("{}/config.toml", world.home),
        format!(
            "[[mcp_servers]]\nname = \"table\"\ncommand = \"other\"\nenv = {{ GITHUB_TOKEN = \"{SECRET}-3\" }}\n"
        ),
    );
    write(format!("{base}/mcp.json"), servers(4));
    write(
        format!("{base}/agents/one/AGENT.md"),
        format!(
            "---\nname: one\ndescription: one\nmcp_servers:\n  - name: inline\n    command: serve\n    env:\n      \
             API_KEY: {SECRET}-5\nhooks:\n  - event: start\n    command: run\n    env:\n      MY_SECRET: {SECRET}-6\n\
             ---\nYou are the one.\n"
        ),
    );
    write(format!("{base}/agents/one/mcp.json"), servers(7));
    write(
        format!("{base}/skills/x/SKILL.md"),
        "---\nname: x\ndescription: x\n---\nDo it.\n",
    );
    write(format!("{base}/skills/x/mcp.json"), servers(8));
    write(
        format!("{root}/.env"),
        format!("API_TOKEN={SECRET}-9\nno assignment {SECRET}-10\n"),
    );
}

fn silent(answer: &(impl Message + std::fmt::Debug)) {
    let bytes = answer.encode_to_vec();
    let shown = format!("{answer:?}");
    assert!(!shown.contains(SECRET), "{shown}");
    assert!(!bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes()));
}

async fn r093_no_secret_is_in_any_answer_error_or_log_line(world: World) {
    listen();
    tracing::trace!("{MARK}");
    assert!(HEARD.load(Ordering::Relaxed));
    let root = world.mkdir("a");
    fill(&world, &root);
    let answer = world.daemon.api.register(register(&root)).await.unwrap();
    silent(&answer);
    let row = answer.workspace.unwrap();
    for view in [pb::ResolveView::Basic, pb::ResolveView::Full] {
        for agent in [None, Some("one".to_owned())] {
            let request = pb::ResolveWorkspaceRequest {
                view: view.into(),
                agent,
                ..resolve(&row.id)
            };
            silent(&world.daemon.api.resolve(request).await.unwrap());
        }
    }
    let snapshot = world.resolved(&row.id).await;
    let mut names: Vec<_> = snapshot.mcp_server_names.iter().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["program", "remote", "table"]);
    let program = snapshot
        .mcp_servers
        .iter()
        .find(|server| server.name == "program")
        .unwrap();
    assert_eq!(
        (program.env["API_TOKEN"].as_str(), program.env["LANG"].as_str()),
        (REDACTED, "C")
    );
    assert_eq!(program.secret_env["PLAIN"], REDACTED);
    assert_eq!(program.headers["Authorization"], REDACTED);
    assert!(format!("{:?}", program.auth).contains("password"));
    assert!(at(snapshot.config.as_ref().unwrap(), "mcp_servers").is_some());
    let secret = snapshot
        .config_leaves
        .iter()
        .find(|leaf| leaf.key == "mcp_servers.table.env.GITHUB_TOKEN");
    let secret = secret.unwrap_or_else(|| panic!("no such leaf: {:?}", snapshot.config_leaves));
    assert!(secret.is_secret && !secret.losers.is_empty());

    // Files that break right at a secret.
    let base = format!("{root}/.compozy");
    let breaks = [
        (format!("{base}/mcp.json"), servers(4).replace("\"args\"", "args")),
        (
            format!("{base}/mcp.json"),
            format!("{{\"mcpServers\": {{\"s\": {{\"command\": \"{SECRET}\\x\"}}}}}}"),
        ),
        (
            format!("{base}/mcp.json"),
            format!("{{\"mcpServers\": {{\"s\": {{\"env\": \"{SECRET}\"}}}}}}"),
        ),
        (
            format!("{base}/config.toml"),
            format!("[defaults]\nagent = \"{SECRET}\n"),
        ),
        (
            format!("{base}/config.toml"),
            format!("[defaults]\nagent = \"Not {SECRET} a name\"\n"),
        ),
        (
            format!("{base}/config.toml"),
            format!("[permissions]\nmode = \"{SECRET}\"\n"),
        ),
        (
            format!("{base}/workspace.toml"),
            format!("workspace_id = \"{SECRET}\"\n"),
        ),
        (
            format!("{base}/workspace.toml"),
            format!("workspace_id = {SECRET}\n"),
        ),
    ];
    for (path, broken) in breaks {
        let whole = std::fs::read(&path).unwrap();
        write(&path, &broken);
        let failure = world
            .daemon
            .api
            .resolve(resolve(&row.id))
            .await
            .expect_err(&broken);
        assert!(!format!("{failure:?}").contains(SECRET), "{failure:?}");
        write(&path, whole);
    }
    // Definitions that break right at one.
    for broken in [
        format!("---\nname: one\ndescription: \"{SECRET}\n---\nYou.\n"),
        format!("---\nname: one\n\t{SECRET}: {SECRET}\n---\nYou.\n"),
        format!("---\nname: one\nmodel: [{SECRET}\n---\nYou.\n"),
        format!("---\nname: one\npermissions: {SECRET}\n---\nYou.\n"),
        format!("---\nname: one\nmcp_servers:\n  - name: s\n    env: {SECRET}\n---\nYou.\n"),
    ] {
        write(format!("{base}/agents/one/AGENT.md"), &broken);
        silent(&world.daemon.api.resolve(resolve(&row.id)).await.unwrap());
        let copied = register(world.mkdir("copied"));
        let path = format!("{}/.compozy/agents/one/AGENT.md", copied.path);
        write(&path, &broken);
        let failure = world.daemon.api.register(copied).await.expect_err(&broken);
        assert!(!format!("{failure:?}").contains(SECRET), "{failure:?}");
    }
    let leaks = LEAKS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    assert!(leaks.is_empty(), "{leaks:?}");
}
