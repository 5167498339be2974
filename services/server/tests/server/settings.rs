//! The daemon's own settings over the wire: what it runs with, and one key of its file at a time.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use compozy_proto::admin::v1::admin_service_client::AdminServiceClient;
use compozy_proto::admin::v1::{
    GetConfigRequest, GetConfigResponse, SetConfigRequest, SetConfigResponse, Setting,
};
use compozy_server::home::Home;
use tonic::transport::Channel;
use tonic::{Code, Status};
use tonic_types::StatusExt;

use crate::binary::{Place, mode};
use crate::running::{
    Scripted, explained, reason, socket_channel, start, tokens_file, try_start, with_headers,
};
use crate::site::{Site, register, roots};

on_both_engines! {
    r067_a_user_s_file_that_breaks_while_the_daemon_runs_costs_nobody_the_list,
    r220_a_workspace_can_t_change_the_daemon_s_settings,
}

async fn get(channel: &Channel) -> GetConfigResponse {
    let mut client = AdminServiceClient::new(channel.clone());
    client.get_config(GetConfigRequest {}).await.unwrap().into_inner()
}

fn setting(answer: &GetConfigResponse, key: &str) -> Setting {
    let found = answer.settings.iter().find(|setting| setting.key == key);
    found.unwrap_or_else(|| panic!("no {key}")).clone()
}

async fn send(channel: &Channel, request: SetConfigRequest) -> Result<SetConfigResponse, Status> {
    let mut client = AdminServiceClient::new(channel.clone());
    client.set_config(request).await.map(tonic::Response::into_inner)
}

async fn set(channel: &Channel, key: &str, value: &str) -> Result<SetConfigResponse, Status> {
    let (key, value) = (key.to_owned(), value.to_owned());
    send(
        channel,
        SetConfigRequest {
            key,
            value,
            unset: false,
        },
    )
    .await
}

async fn unset(channel: &Channel, key: &str) -> Result<SetConfigResponse, Status> {
    let (key, value) = (key.to_owned(), String::new());
    send(
        channel,
        SetConfigRequest {
            key,
            value,
            unset: true,
        },
    )
    .await
}

fn file(server: &Scripted) -> PathBuf {
    server.home.config_path()
}

fn text(server: &Scripted) -> String {
    std::fs::read_to_string(file(server)).unwrap()
}

#[tokio::test]
async fn the_settings_are_those_that_the_daemon_runs_with() {
    let server = start("log.level = \"debug\"\ndefaults.agent = \"x\"\n").await;
    let answer = get(&server.channel().await).await;
    assert_eq!(answer.path, file(&server).to_str().unwrap());
    let level = setting(&answer, "log.level");
    assert_eq!(
        (level.value.as_str(), level.is_default, level.is_secret),
        ("\"debug\"", false, false)
    );
    let drain = setting(&answer, "daemon.drain_timeout");
    assert_eq!((drain.value.as_str(), drain.is_default), ("\"20s\"", true));
    let host = setting(&answer, "daemon.host_id");
    assert_eq!(
        (host.value.len(), host.is_default),
        ("\"01ARZ3NDEKTSV4RRFFQ69G5FAV\"".len(), true)
    );
    let url = setting(&answer, "store.url").value;
    assert!(
        url.contains("compozy.db") && url.contains(server.home.path().to_str().unwrap()),
        "{url}"
    );
    assert!(
        answer
            .settings
            .iter()
            .all(|setting| !setting.key.starts_with("defaults.")),
        "those are of workspaces"
    );
}

#[tokio::test]
async fn a_key_is_set_and_taken_out_and_the_rest_of_the_file_stays() {
    let server = start("").await;
    let channel = server.channel().await;
    let made = set(&channel, "defaults.agent", "reviewer").await.unwrap();
    assert_eq!((made.line, made.changed, made.needs_restart), (2, true, false));
    assert_eq!(made.path, file(&server).to_str().unwrap());
    assert_eq!(mode(&file(&server)), 0o600);

    std::fs::write(
        file(&server),
        "# mine\n[log] # here\nlevel = \"info\" # was debug\n",
    )
    .unwrap();
    std::fs::set_permissions(file(&server), std::fs::Permissions::from_mode(0o644)).unwrap();
    let changed = set(&channel, "log.level", "trace").await.unwrap();
    assert_eq!(
        (changed.line, changed.changed, changed.needs_restart),
        (3, true, true)
    );
    assert_eq!(
        text(&server),
        "# mine\n[log] # here\nlevel = \"trace\" # was debug\n"
    );
    assert_eq!(mode(&file(&server)), 0o600, "it may hold secrets");

    let same = set(&channel, "log.level", "\"trace\"").await.unwrap();
    assert_eq!((same.line, same.changed), (3, false));
    let taken = unset(&channel, "log.level").await.unwrap();
    assert_eq!((taken.line, taken.changed), (0, true));
    assert_eq!(text(&server), "# mine\n[log] # here\n");
    assert!(!unset(&channel, "log.level").await.unwrap().changed);
    assert_eq!(
        std::fs::read_dir(server.home.path())
            .unwrap()
            .filter(|entry| {
                entry
                    .as_ref()
                    .unwrap()
                    .file_name()
                    .to_string_lossy()
                    .ends_with("tmp")
            })
            .count(),
        0,
        "nothing is left behind"
    );
}

#[tokio::test]
async fn what_could_not_be_used_is_refused_and_the_file_stays_as_it_is() {
    let server = start("").await;
    let channel = server.channel().await;
    let before = "log.keep = 3\n";
    std::fs::write(file(&server), before).unwrap();
    for (key, value) in [
        ("log.keep", "many"),
        ("log.keep", "0"),
        ("log.kep", "4"),
        ("permissions.mode", "yes"),
        ("daemon.drain_timeout", "20"),
        ("store.url", "mysql://u:s3cr3t@db"),
        ("log.level", "loud=x=y"),
        ("grpc.tls.cert", "/c"),
        ("log", "3"),
        ("", "x"),
        ("providers.Acme.model", "x"),
    ] {
        let status = set(&channel, key, value).await.unwrap_err();
        assert_eq!(
            (status.code(), reason(&status).as_str()),
            (Code::InvalidArgument, "CONFIG_INVALID"),
            "{key}"
        );
        assert!(!status.message().contains("s3cr3t"), "{}", status.message());
        assert!(status.message().contains("config.toml"), "{}", status.message());
        assert_eq!(text(&server), before, "{key}");
    }
    let status = send(
        &channel,
        SetConfigRequest {
            key: "log.keep".to_owned(),
            value: "4".to_owned(),
            unset: true,
        },
    )
    .await
    .unwrap_err();
    assert_eq!(reason(&status), "INVALID_FIELD");
    // What was broken before is told with its place, and is not for this call to mend.
    std::fs::write(file(&server), "log.keep = 3\n[oops\n").unwrap();
    let status = set(&channel, "log.keep", "4").await.unwrap_err();
    let details = status.get_details_bad_request().unwrap();
    assert!(
        details.field_violations[0].field.ends_with("config.toml:2:6"),
        "{details:?}"
    );
}

#[tokio::test]
async fn a_link_or_a_directory_in_the_place_of_the_file_is_refused() {
    let server = start("").await;
    let channel = server.channel().await;
    let elsewhere = server.home.path().join("elsewhere");
    std::fs::write(&elsewhere, "").unwrap();
    std::os::unix::fs::symlink(&elsewhere, file(&server)).unwrap();
    assert_eq!(
        reason(&set(&channel, "log.keep", "4").await.unwrap_err()),
        "CONFIG_INVALID"
    );
    assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "");
    std::fs::remove_file(file(&server)).unwrap();
    std::fs::create_dir(file(&server)).unwrap();
    assert_eq!(
        reason(&set(&channel, "log.keep", "4").await.unwrap_err()),
        "CONFIG_INVALID"
    );
}

#[tokio::test]
async fn many_edits_at_once_are_all_in_the_file() {
    let server = start("").await;
    let mut edits = tokio::task::JoinSet::new();
    for number in 0..16 {
        let channel = server.channel().await;
        edits.spawn(async move { set(&channel, &format!("providers.p{number}.model"), "m").await });
    }
    while let Some(done) = edits.join_next().await {
        assert!(done.unwrap().unwrap().changed);
    }
    for number in 0..16 {
        assert!(
            text(&server).contains(&format!("[providers.p{number}]")),
            "{number}"
        );
    }
}

#[tokio::test]
async fn only_an_administrator_of_everything_may() {
    let config = "grpc.listen = \"127.0.0.1:0\"\nauth.tokens_file = \"$COMPOZY_HOME/tokens.toml\"\n";
    let write = |home: &Home| {
        let entries: [(&str, &[&str]); 3] = [
            ("writer", &["read", "write"]),
            ("admin", &["admin"]),
            ("narrow", &["admin"]),
        ];
        // The last token is of one workspace.
        let tokens = tokens_file(&entries) + "workspaces = [\"ws_0123456789abcdef\"]\n";
        std::fs::write(home.path().join("tokens.toml"), tokens).unwrap();
    };
    let server = try_start(config, write).await.unwrap();
    let mut client = AdminServiceClient::new(server.network().await);
    for (id, may) in [("writer", false), ("narrow", false), ("admin", true)] {
        let token = format!("Bearer token-{id}");
        let headers = [("authorization", token.as_str())];
        let got = client
            .get_config(with_headers(GetConfigRequest {}, &headers))
            .await
            .map(|_| ());
        let request = SetConfigRequest {
            key: "log.keep".to_owned(),
            value: "4".to_owned(),
            unset: false,
        };
        let done = client
            .set_config(with_headers(request, &headers))
            .await
            .map(|_| ());
        for outcome in [got, done] {
            match outcome {
                Ok(()) => assert!(may, "{id}"),
                Err(status) => {
                    assert!(!may, "{id}: {status:?}");
                    assert_eq!(status.code(), Code::PermissionDenied, "{id}");
                    assert_eq!(explained(&status).metadata["scope"], "admin", "{id}");
                }
            }
        }
        assert_eq!(file(&server).exists(), may, "{id}");
    }
}

#[tokio::test]
async fn the_next_start_runs_with_what_was_set() {
    let place = Place::new();
    let daemon = place.daemon().await;
    let channel = socket_channel(&daemon.socket).await;
    assert!(set(&channel, "log.keep", "5").await.unwrap().needs_restart);
    assert_eq!(
        setting(&get(&channel).await, "log.keep").value,
        "8",
        "this one goes on as it began"
    );
    assert!(daemon.stop().await.success());
    let daemon = place.daemon().await;
    let answer = get(&socket_channel(&daemon.socket).await).await;
    assert_eq!(
        (
            setting(&answer, "log.keep").value.as_str(),
            setting(&answer, "log.keep").is_default
        ),
        ("5", false)
    );
    assert!(daemon.stop().await.success());
}

async fn r067_a_user_s_file_that_breaks_while_the_daemon_runs_costs_nobody_the_list(site: Site) {
    let server = site.start("").await;
    let channel = server.channel().await;
    let folder = site.folder();
    register(&channel, &folder).await.unwrap();
    std::fs::write(site.home.config_path(), "[defaults]\nagent = \n").unwrap();
    let status = resolve(&channel, &folder).await.unwrap_err();
    assert_eq!(reason(&status), "CONFIG_INVALID");
    assert!(
        status
            .message()
            .contains(site.home.config_path().to_str().unwrap()),
        "{}",
        status.message()
    );
    assert_eq!(roots(&channel).await, [folder.canonicalize().unwrap()]);
    assert_eq!(got(&channel, &folder).await, folder.canonicalize().unwrap());
    assert!(server.end().await);
}

async fn r220_a_workspace_can_t_change_the_daemon_s_settings(site: Site) {
    let server = site.start("").await;
    let channel = server.channel().await;
    let before = get(&channel).await;
    for (key, value) in [
        ("daemon.drain_timeout", "\"1s\""),
        ("http.port", "1"),
        ("grpc.connection_age", "\"1s\""),
        ("store.durability", "\"normal\""),
        ("changes.retain_entries", "1"),
        ("workspaces.allowed_roots", "[\"/\"]"),
        ("auth.tokens_file", "\"/tmp/x\""),
        ("log.level", "\"trace\""),
        ("telemetry.listen", "\"127.0.0.1:0\""),
        ("config.unknown_keys", "\"warn\""),
        ("memory.session.ledger_root", "\"/tmp\""),
        ("memory.global_dir", "\"/tmp\""),
        ("marketplace.x", "1"),
        ("gateway.x", "1"),
        ("shell.x", "1"),
    ] {
        let folder = site.folder();
        std::fs::create_dir(folder.join(".compozy")).unwrap();
        std::fs::write(
            folder.join(".compozy/config.toml"),
            format!("# first\n{key} = {value}\n"),
        )
        .unwrap();
        let status = register(&channel, &folder).await.unwrap_err();
        assert_eq!(reason(&status), "CONFIG_INVALID", "{key}");
        let details = status.get_details_bad_request().unwrap();
        let violation = &details.field_violations[0];
        assert!(
            violation.field.contains(".compozy/config.toml:2:"),
            "{violation:?}"
        );
        let table = key.rsplit_once('.').map_or(key, |(table, _)| table);
        assert!(
            violation.description.contains(table.split('.').next().unwrap())
                && violation.description.contains("workspace"),
            "{violation:?}"
        );
    }
    assert_eq!(get(&channel).await, before);
    assert!(server.end().await);
}

/// What a session in the workspace at this root would see.
async fn resolve(channel: &Channel, root: &std::path::Path) -> Result<(), Status> {
    use compozy_proto::workspace::v1::workspace_service_client::WorkspaceServiceClient;
    use compozy_proto::workspace::v1::{ResolveView, ResolveWorkspaceRequest};
    let request = ResolveWorkspaceRequest {
        r#ref: Some(at(root)),
        view: ResolveView::Full.into(),
        ..ResolveWorkspaceRequest::default()
    };
    let mut client = WorkspaceServiceClient::new(channel.clone());
    client.resolve_workspace(request).await.map(|_| ())
}

fn at(root: &std::path::Path) -> compozy_proto::workspace::v1::WorkspaceRef {
    use compozy_proto::workspace::v1::workspace_ref::Form;
    compozy_proto::workspace::v1::WorkspaceRef {
        form: Some(Form::Path(root.to_str().unwrap().to_owned())),
    }
}

/// The root of the workspace at this root.
async fn got(channel: &Channel, root: &std::path::Path) -> PathBuf {
    use compozy_proto::workspace::v1::GetWorkspaceRequest;
    use compozy_proto::workspace::v1::workspace_service_client::WorkspaceServiceClient;
    let request = GetWorkspaceRequest {
        r#ref: Some(at(root)),
        ..GetWorkspaceRequest::default()
    };
    let mut client = WorkspaceServiceClient::new(channel.clone());
    let answer = client.get_workspace(request).await.unwrap().into_inner();
    PathBuf::from(answer.workspace.unwrap().root_dir)
}
