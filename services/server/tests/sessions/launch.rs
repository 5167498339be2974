//! What an agent is started with: who learns it, what it is made of, and that nobody else learns the secrets in it.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use compozy_proto::session::v1 as pb;
use compozy_store::conformance::raw_rows;
use prost::Message as _;
use tonic::Code;
use tracing_subscriber::fmt::MakeWriter;

use crate::asked::{R, beat, bind, get, list, new, ungrouped};
use crate::leases_place::{LOST, NO_LEASE};
use crate::requests::resolve;
use crate::world::World;

cases! {
    s361_who_may_launch_gets_everything_and_nobody_else_anything,
    s362_a_secret_is_told_to_the_holder_alone,
    an_ungrouped_session_sees_the_home_and_nothing_else,
}

file_cases! {
    an_agent_that_no_layer_defines_runs_what_its_provider_says,
    a_provider_with_a_home_of_its_own_gets_one,
    a_dotenv_that_can_not_be_used_costs_only_itself,
    what_a_launch_can_not_be_made_of_is_told,
}

fn write(path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.as_ref().parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

/// An agent with everything that a launch tells, and a `.env` beside it.
fn fill(world: &World, root: &str, secret: &str) {
    write(
        format!("{root}/.compozy/agents/general/AGENT.md"),
        "---\nname: general\ndescription: all\ncommand: run --model 'm 1'\npermissions: approve-reads\n\
         mcp_servers:\n  - name: own\n    command: serve\n    env:\n      LANG: C\n---\nYou are the one.\n",
    );
    write(
        format!("{root}/.compozy/mcp.json"),
        format!(
            r#"{{"mcpServers": {{
                "own": {{"command": "other"}},
                "off": {{"command": "other", "disabled": true}},
                "program": {{"command": "tool", "args": ["-x"], "env": {{"A": "1"}},
                             "secret_env": {{"KEY": "{secret}-1", "A": "2"}}}},
                "remote": {{"type": "http", "url": "https://example.com/?t={secret}-2",
                            "headers": {{"X-Key": "{secret}-3"}},
                            "auth": {{"type": "bearer", "token": "{secret}-4"}}}}
            }}}}"#
        ),
    );
    write(
        format!("{}/config.toml", world.home),
        format!(
            "[providers.acme]\nenv = {{ PLAIN = \"p\" }}\nsecret_env = {{ ACME_KEY = \"{secret}-5\" }}\n"
        ),
    );
    write(
        format!("{root}/.env"),
        format!(
            "export K=\"v w\"\nTOKEN={secret}-6\nK=later\nnot an assignment {secret}-7\n\
             COMPOZY_HOME=/elsewhere\nPLAIN=lost\n"
        ),
    );
}

async fn launch(world: &World, token: &str) -> pb::GetLaunchResponse {
    let request = pb::GetLaunchRequest {
        lease: token.to_owned(),
    };
    world.daemon.api.get_launch(request).await.unwrap()
}

/// A bound session with the provider `acme`.
async fn bound(world: &World, workspace_id: &str) -> (pb::Session, String) {
    let request = pb::CreateSessionRequest {
        provider: Some("acme".to_owned()),
        bind: Some(crate::asked::binding("h1", 30)),
        request_id: R.to_owned(),
        ..new(workspace_id)
    };
    let answer = world.daemon.api.create_session(request).await.unwrap();
    (answer.session.unwrap(), answer.lease.unwrap().token)
}

async fn s361_who_may_launch_gets_everything_and_nobody_else_anything(mut world: World) {
    let a = world.only_a().await;
    let root = world.path("a");
    fill(&world, &root, "s");
    let (session, token) = bound(&world, &a.id).await;
    let found = world.unchanged_by(launch(&world, &token)).await;
    assert_eq!(found.argv, ["run", "--model", "m 1"]);
    assert_eq!(found.cwd, root);
    assert_eq!(found.prompt, "You are the one.\n");
    assert_eq!(found.permission_mode(), pb::PermissionMode::ApproveReads);
    let mut environment: Vec<(&str, &str)> = found
        .environment
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    environment.sort_unstable();
    let expected = [
        ("ACME_KEY", "s-5"),
        ("COMPOZY_AGENT", "general"),
        ("COMPOZY_HOME", &world.home),
        ("COMPOZY_SESSION_ID", &session.id),
        ("COMPOZY_WORKSPACE", &a.id),
        ("PLAIN", "p"),
    ];
    assert_eq!(environment, expected);
    let mut fallback: Vec<_> = found.fallback_environment.clone().into_iter().collect();
    fallback.sort_unstable();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(fallback, [pair("K", "later"), pair("TOKEN", "s-6")]);
    check_servers(&found.servers);

    let roots = vec![world.t.clone()];
    world.restart(|parts| parts.settings.allowed_roots = roots).await;
    let request = pb::GetLaunchRequest { lease: token };
    let may = world.daemon.api.seen_by("launcher");
    assert_eq!(may.get_launch(request.clone()).await.unwrap(), found);
    for principal in ["administrator", "token", "reader"] {
        let may_not = world.daemon.api.seen_by(principal);
        let failures = [
            may_not.get_launch(request.clone()).await.unwrap_err(),
            may_not
                .get_launch(pb::GetLaunchRequest::default())
                .await
                .unwrap_err(),
        ];
        for failure in failures {
            assert_eq!(
                (failure.code, failure.reason.as_str()),
                (Code::PermissionDenied, "SCOPE_DENIED")
            );
        }
    }
    world.stop_for(&session.id, pb::StopCause::User, "").await;
    launch(&world, &request.lease).await;
    world.finish_done(&request.lease).await;
    for lease in [request.lease.as_str(), NO_LEASE, ""] {
        let request = pb::GetLaunchRequest {
            lease: lease.to_owned(),
        };
        world
            .refused(Code::Aborted, LOST, world.daemon.api.get_launch(request))
            .await;
    }
}

fn check_servers(servers: &[pb::LaunchServer]) {
    let names: Vec<&str> = servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names, ["own", "program", "remote"]);
    assert_eq!(servers[0].argv, ["serve"], "the agent's own one");
    assert_eq!(servers[0].environment["LANG"], "C");
    let (program, remote) = (&servers[1], &servers[2]);
    assert_eq!(
        (program.transport.as_str(), program.argv.as_slice()),
        ("stdio", ["tool", "-x"].map(String::from).as_slice())
    );
    assert_eq!(
        (
            program.environment["KEY"].as_str(),
            program.environment["A"].as_str()
        ),
        ("s-1", "2")
    );
    assert_eq!(
        (remote.transport.as_str(), remote.url.as_str()),
        ("http", "https://example.com/?t=s-2")
    );
    assert_eq!(remote.headers["X-Key"], "s-3");
    assert_eq!(remote.headers["Authorization"], "Bearer s-4");
}

/// What stands in the files of the case, in any place where a secret may stand.
const SECRET: &str = "s3cr3t-of-the-launch";
/// What the log was told, over all cases of this process.
static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Reads the log.
#[derive(Debug, Clone, Copy)]
struct Listener;

impl io::Write for Listener {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        LOG.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend_from_slice(line);
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

fn logged() -> String {
    let log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    String::from_utf8_lossy(&log).into_owned()
}

fn listen() {
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(Listener);
    // The same case on the other engine was first.
    let _ = subscriber.try_init();
}

async fn s362_a_secret_is_told_to_the_holder_alone(world: World) {
    listen();
    let a = world.only_a().await;
    fill(&world, &world.path("a"), SECRET);
    let (session, token) = bound(&world, &a.id).await;
    for _ in 0..10 {
        let found = launch(&world, &token).await;
        assert!(found.environment["ACME_KEY"].contains(SECRET));
        assert!(!format!("{found:?}").is_empty());
    }
    world.beat(&token).await.unwrap();
    let api = &world.daemon.api;
    let inspect = pb::InspectSessionRequest {
        session_id: session.id.clone(),
    };
    let answers = [
        api.get_session(get(&session.id)).await.unwrap().encode_to_vec(),
        api.list_sessions(list(pb::SessionFilter::default()))
            .await
            .unwrap()
            .encode_to_vec(),
        api.inspect_session(inspect).await.unwrap().encode_to_vec(),
        api.resolve(resolve(&a.id)).await.unwrap().encode_to_vec(),
    ];
    for answer in answers {
        assert!(!String::from_utf8_lossy(&answer).contains(SECRET));
    }
    for table in [
        "session",
        "session_live",
        "session_transition",
        "request",
        "change",
    ] {
        let rows = raw_rows(&world.store, &format!("SELECT * FROM {table}"))
            .await
            .unwrap();
        let hex: Vec<String> = SECRET.bytes().map(|byte| format!("{byte:02x}")).collect();
        let shown = format!("{rows:?}");
        assert!(
            !shown.contains(SECRET) && !shown.to_lowercase().contains(&hex.concat()),
            "{table}"
        );
    }
    let written: Vec<_> = std::fs::read_dir(&world.home)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(written, ["config.toml"], "the one that the operator wrote");
    let log = logged();
    assert!(log.contains("dotenv_not_understood"), "the listener hears it");
    let digits = token.strip_prefix("lease_").unwrap();
    assert!(!log.contains(SECRET) && !log.contains(digits));
}

async fn an_ungrouped_session_sees_the_home_and_nothing_else(world: World) {
    world.tell_time().await;
    let cwd = world.mkdir("c");
    write(
        format!("{}/agents/general/AGENT.md", world.home),
        "---\nname: general\ndescription: all\ncommand: home-tool\n---\nAt home.\n",
    );
    write(
        format!("{cwd}/.compozy/agents/general/AGENT.md"),
        "---\nname: general\ndescription: all\ncommand: foreign-tool\n---\nAbroad.\n",
    );
    write(format!("{cwd}/.env"), "K=v\n");
    let id = world.create(ungrouped(&cwd)).await.id;
    let lease = world.bind(&id, "h1").await;
    let found = world.unchanged_by(launch(&world, &lease.token)).await;
    assert_eq!(
        (found.argv, found.prompt.as_str()),
        (vec!["home-tool".to_owned()], "At home.\n")
    );
    assert_eq!(found.cwd, cwd);
    assert!(found.fallback_environment.is_empty());
    assert!(!found.environment.contains_key("COMPOZY_WORKSPACE"));
    assert_eq!(found.environment["COMPOZY_SESSION_ID"], id);
}

async fn an_agent_that_no_layer_defines_runs_what_its_provider_says(world: World) {
    let a = world.only_a().await;
    write(
        format!("{}/config.toml", world.home),
        "[providers.acme]\ncommand = \"npx -y @acme/agent\"\nargs = [\"--stdio\", \"a b\"]\n",
    );
    let (_, token) = bound(&world, &a.id).await;
    let found = launch(&world, &token).await;
    assert_eq!(found.argv, ["npx", "-y", "@acme/agent", "--stdio", "a b"]);
    assert_eq!(found.prompt, "");
    assert_eq!(found.servers, []);
    assert_eq!(found.permission_mode(), pb::PermissionMode::ApproveAll);

    let id = world.create(new(&a.id)).await.id;
    let lease = world.bind(&id, "h1").await;
    assert!(
        launch(&world, &lease.token).await.argv.is_empty(),
        "nobody says what to run"
    );
}

async fn a_provider_with_a_home_of_its_own_gets_one(world: World) {
    let a = world.only_a().await;
    let config = format!("{}/config.toml", world.home);
    write(&config, "[providers.acme]\nenv = { HOME = \"/lost\" }\n");
    let (_, token) = bound(&world, &a.id).await;
    launch(&world, &token).await;
    assert!(!Path::new(&format!("{}/providers", world.home)).exists());

    write(
        &config,
        "[providers.acme]\nhome_policy = \"isolated\"\nenv = { HOME = \"/lost\" }\n",
    );
    let found = launch(&world, &token).await;
    let own = format!("{}/providers/acme", world.home);
    for name in [
        "HOME",
        "PROVIDER_HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_CACHE_HOME",
    ] {
        let directory = &found.environment[name];
        assert!(directory.starts_with(&own), "{name} is {directory}");
        let mode = std::fs::metadata(directory).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o700, "{name}");
    }
    assert_eq!(found.environment["HOME"], own);

    std::fs::remove_dir_all(&own).unwrap();
    std::os::unix::fs::symlink(&world.t, &own).unwrap();
    let request = pb::GetLaunchRequest { lease: token };
    let call = world.daemon.api.get_launch(request);
    let refused = world.refused(Code::InvalidArgument, "CONFIG_INVALID", call).await;
    assert!(refused.message.contains("providers/acme"), "{}", refused.message);
}

async fn a_dotenv_that_can_not_be_used_costs_only_itself(world: World) {
    let a = world.only_a().await;
    let (_, token) = bound(&world, &a.id).await;
    let path = world.path("a/.env");
    let outside = world.path("outside");
    write(&outside, "SECRET=1\n");
    std::os::unix::fs::symlink(&outside, &path).unwrap();
    assert!(launch(&world, &token).await.fallback_environment.is_empty());
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert!(launch(&world, &token).await.fallback_environment.is_empty());
    std::fs::remove_dir(&path).unwrap();
    write(&path, "A=1\nnot an assignment\nB=2\n");
    let fallback = launch(&world, &token).await.fallback_environment;
    assert_eq!((fallback["A"].as_str(), fallback["B"].as_str()), ("1", "2"));
}

async fn what_a_launch_can_not_be_made_of_is_told(world: World) {
    let a = world.only_a().await;
    let root = world.path("a");
    let cwd = world.mkdir("a/sub");
    let request = pb::CreateSessionRequest {
        cwd: Some(cwd.clone()),
        ..new(&a.id)
    };
    let id = world.create(request).await.id;
    let request = bind(&id, "h1", 3_600);
    let token = world
        .daemon
        .api
        .bind_runtime(request)
        .await
        .unwrap()
        .lease
        .unwrap()
        .token;
    let refused = async |code, reason: &str| {
        let request = pb::GetLaunchRequest { lease: token.clone() };
        world
            .refused(code, reason, world.daemon.api.get_launch(request))
            .await
    };

    let agent = format!("{root}/.compozy/agents/general/AGENT.md");
    write(
        &agent,
        "---\nname: general\ndescription: all\ncommand: run 'open\n---\nYou.\n",
    );
    let broken = refused(Code::InvalidArgument, "CONFIG_INVALID").await;
    assert!(broken.message.contains("AGENT.md") && !broken.message.contains("open'"));
    write(&agent, "---\nname: [\n");
    refused(Code::InvalidArgument, "CONFIG_INVALID").await;
    std::fs::remove_file(&agent).unwrap();
    let config = format!("{root}/.compozy/config.toml");
    write(&config, "nonsense = [\n");
    refused(Code::InvalidArgument, "CONFIG_INVALID").await;
    std::fs::remove_file(&config).unwrap();

    std::fs::remove_dir(&cwd).unwrap();
    refused(Code::FailedPrecondition, "SESSION_CWD_NOT_FOUND").await;
    write(&cwd, "a file");
    refused(Code::FailedPrecondition, "SESSION_CWD_NOT_DIRECTORY").await;
    std::fs::remove_file(&cwd).unwrap();
    let elsewhere = world.mkdir("elsewhere");
    std::os::unix::fs::symlink(&elsewhere, &cwd).unwrap();
    refused(Code::FailedPrecondition, "SESSION_CWD_MISMATCH").await;
    std::fs::remove_file(&cwd).unwrap();
    std::fs::create_dir(&cwd).unwrap();
    assert_eq!(launch(&world, &token).await.cwd, cwd);
    world.daemon.api.heartbeat(beat(&token)).await.unwrap();
}
