//! One daemon per home, signals, exit codes, the log and doctor, with the real binary.

use std::time::Instant;

use compozy_proto::workspace::v1::ListWorkspacesRequest;
use compozy_proto::workspace::v1::workspace_service_client::WorkspaceServiceClient;
use compozy_server::daemon_file::DaemonFile;
use compozy_server::home::Home;
use rustix::process::Signal;

use crate::binary::{Place, SOON, mode, output, text};
use crate::running::{call, call_with, reason, socket_channel, until};

#[tokio::test]
async fn c134_a_socket_file_that_nobody_listens_on_is_replaced() {
    let place = Place::new();
    std::fs::create_dir(place.home.path()).unwrap();
    drop(std::os::unix::net::UnixListener::bind(place.home.socket_path()).unwrap());
    let daemon = place.daemon().await;
    assert_eq!(daemon.socket, place.home.socket_path());
    assert!(daemon.stop().await.success());
    assert!(!place.home.socket_path().exists() && !place.home.daemon_file_path().exists());
}

#[tokio::test]
async fn c135_a_second_daemon_names_the_first_and_the_first_goes_on() {
    let place = Place::new();
    let mut first = place.daemon().await;
    let second = place.run(&["run"]).await;
    assert_eq!(second.status.code(), Some(69));
    let said = text(&second.stderr);
    assert!(
        said.starts_with("error: ") && said.contains(&first.pid.to_string()),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(first.is_running());
    socket_channel(&first.socket).await;
    assert_eq!(DaemonFile::of_running(&place.home).unwrap().pid, first.pid);
}

#[tokio::test]
async fn c136_after_a_kill_the_next_start_succeeds_at_once() {
    let place = Place::new();
    let first = place.daemon().await;
    let killed = first.pid;
    first.kill().await;
    assert_eq!(
        DaemonFile::read(&place.home).unwrap().pid,
        killed,
        "the note is left over"
    );
    assert_eq!(DaemonFile::of_running(&place.home), None, "and known to be stale");
    let second = place.daemon().await;
    assert_ne!(second.pid, killed);
    assert!(second.stop().await.success());
}

#[tokio::test]
async fn c143_two_homes_have_two_daemons() {
    let (one, other) = (Place::new(), Place::new());
    let (mut first, mut second) = (one.daemon().await, other.daemon().await);
    assert!(first.is_running() && second.is_running() && first.socket != second.socket);
    assert!(first.stop().await.success());
    assert!(second.is_running());
    socket_channel(&second.socket).await;
}

#[tokio::test]
async fn w240_the_very_first_list_has_the_home() {
    // Once may be luck: the home was registered beside the first calls, and some of them came before it.
    for _ in 0..5 {
        let place = Place::new();
        let daemon = place.daemon().await;
        let mut client = WorkspaceServiceClient::new(socket_channel(&daemon.socket).await);
        let answer = client
            .list_workspaces(ListWorkspacesRequest::default())
            .await
            .unwrap();
        let rows = answer.into_inner().workspaces;
        assert!(rows.len() == 1 && rows[0].is_default, "{rows:?}");
    }
}

#[tokio::test]
async fn both_signals_end_it_in_order() {
    for signal in [Signal::TERM, Signal::INT] {
        let place = Place::new();
        let mut daemon = place.daemon().await;
        let begun = Instant::now();
        daemon.signal(signal);
        assert!(daemon.wait().await.success());
        assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
        assert!(!daemon.socket.exists());
    }
}

#[tokio::test]
async fn a_failed_call_is_one_line_with_the_trace_of_its_caller() {
    let place = Place::new();
    let daemon = place.daemon().await;
    let channel = socket_channel(&daemon.socket).await;
    let traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let failed = call_with(&channel, "", &[("traceparent", traceparent)])
        .await
        .unwrap_err();
    let expected = reason(&failed);
    call(&channel, "").await.unwrap_err();
    until("two lines", async || {
        place
            .log()
            .iter()
            .filter(|line| line["message"] == "call failed")
            .count()
            == 2
    })
    .await;
    let log = place.log();
    let line = log
        .iter()
        .find(|line| line["trace_id"] == "4bf92f3577b34da6a3ce929d0e0e4736")
        .unwrap();
    assert_eq!(
        line["method"],
        "compozy.workspace.v1.WorkspaceService/GetWorkspace"
    );
    assert_eq!(
        (&line["reason"], &line["principal"]),
        (&expected.into(), &"local".into())
    );
    for line in &log {
        assert_eq!(line["trace_id"].as_str().unwrap().len(), 32, "{line}");
    }
    assert_eq!(mode(&place.home.log_path()), 0o600);
}

#[tokio::test]
async fn usage_and_configuration_have_their_exit_codes() {
    let place = Place::new();
    assert_eq!(place.run(&["nonsense"]).await.status.code(), Some(64));
    assert_eq!(place.run(&["run", "--nonsense"]).await.status.code(), Some(64));
    for help in ["--help", "--version"] {
        assert!(place.run(&[help]).await.status.success());
    }
    assert!(!place.home.path().exists(), "nothing was made");
    std::fs::create_dir(place.home.path()).unwrap();
    std::fs::write(
        place.home.config_path(),
        "[grpc]\nlisten = \"127.0.0.1:0\"\nlisen = 1\n",
    )
    .unwrap();
    let refused = place.run(&[]).await;
    assert_eq!(refused.status.code(), Some(65));
    let said = text(&refused.stderr);
    assert!(
        said.contains("config.toml") && said.contains("line 3") && said.contains("grpc.listen"),
        "{said}"
    );
    assert!(!place.home.socket_path().exists());
}

#[tokio::test]
async fn a_store_that_is_damaged_is_named_and_left_alone() {
    let place = Place::new();
    std::fs::create_dir(place.home.path()).unwrap();
    let damaged = "no database ".repeat(1_000);
    std::fs::write(place.home.catalog_path(), &damaged).unwrap();
    let refused = place.run(&["run"]).await;
    assert!(!refused.status.success());
    let said = text(&refused.stderr);
    assert!(said.contains("compozy.db") && said.lines().count() == 1, "{said}");
    assert_eq!(
        std::fs::read_to_string(place.home.catalog_path()).unwrap(),
        damaged
    );
    assert!(!place.home.socket_path().exists() && !place.home.daemon_file_path().exists());
}

#[tokio::test]
async fn doctor_looks_at_a_running_daemon_and_mends_only_when_asked() {
    let place = Place::new();
    let daemon = place.daemon().await;
    let checks = async |arguments: &[&str]| {
        let output = place.run(arguments).await;
        let object: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), object["checks"].as_array().unwrap().clone())
    };
    let (code, healthy) = checks(&["doctor", "-o", "json"]).await;
    assert_eq!(code, Some(0), "{healthy:?}");
    assert!(
        healthy.iter().all(|check| check["severity"] == "ok"),
        "{healthy:?}"
    );
    assert!(healthy.iter().any(|check| {
        check["message"]
            .as_str()
            .unwrap()
            .contains(&daemon.pid.to_string())
    }));
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(place.home.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let (code, wrong) = checks(&["doctor", "-o", "json"]).await;
    assert_eq!(code, Some(1));
    assert!(
        wrong
            .iter()
            .any(|check| check["severity"] == "error" && check["remedy"] != ""),
        "{wrong:?}"
    );
    assert_eq!(mode(place.home.path()), 0o755);
    let (code, _) = checks(&["doctor", "--fix", "-o", "json"]).await;
    assert_eq!((code, mode(place.home.path())), (Some(0), 0o700));
    assert!(daemon.stop().await.success());
    assert!(text(&place.run(&["doctor"]).await.stdout).contains("no daemon runs"));
}

#[tokio::test]
async fn the_listen_flag_wins_and_the_note_names_the_real_port() {
    let place = Place::new();
    let daemon = place.serving(place.command(&["--listen", "127.0.0.1:0"])).await;
    let file = DaemonFile::read(&Home::at(place.home.path())).unwrap();
    assert_eq!(file.addresses.len(), 1);
    assert!(file.addresses[0].starts_with("127.0.0.1:") && file.addresses[0] != "127.0.0.1:0");
    assert!(daemon.stop().await.success());
    let refused = output(place.command(&["run", "--listen", "0.0.0.0:0"])).await;
    assert_eq!(refused.status.code(), Some(65));
    assert!(text(&refused.stderr).contains("--listen"));
}
