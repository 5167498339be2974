//! The daemon's log.

use std::collections::BTreeSet;
use std::fs;

use compozy_e2e::{Daemon, Environment, Run, by_id, mode, names, until};
use compozy_proto::workspace::v1::GetWorkspaceRequest;
use serde_json::Value;

#[tokio::test(flavor = "multi_thread")]
async fn c140_logs_prints_the_log_of_this_home() {
    let environment = Environment::new();
    let daemon = Daemon::start(&environment).await;
    let pid = daemon.pid().to_string();
    let file = environment.home.join("logs/compozy.log");
    until("the start to be logged with its pid", || {
        fs::read_to_string(&file).unwrap().contains(&pid)
    });
    let printed = Run::of(&environment, "compozy", &["daemon", "logs", "-o", "jsonl"]).done();
    let lines: Vec<&str> = printed.exits(0).stdout.lines().collect();
    assert!(lines.iter().any(|line| line.contains(&pid)), "{lines:?}");
    for line in lines {
        assert!(serde_json::from_str::<Value>(line).unwrap().is_object(), "{line}");
    }
}

/// Every failing call is one line; their trace ids tell whether one was lost.
#[tokio::test(flavor = "multi_thread")]
async fn c141_a_log_beyond_its_size_is_rotated_and_loses_no_line() {
    const FAILURES: usize = 300;
    let environment = Environment::new();
    environment.configure("[workspaces]\nregister_home = false\n[log]\nmax_bytes = 16384\nkeep = 1000\n");
    let daemon = Daemon::start(&environment).await;
    for _ in 0..FAILURES {
        let request = GetWorkspaceRequest {
            r#ref: Some(by_id("ws_0123456789abcdef")),
            ..Default::default()
        };
        daemon.client().get_workspace(request).await.unwrap_err();
    }
    daemon.stop();
    let folder = environment.home.join("logs");
    let files: Vec<String> = names(&folder)
        .into_iter()
        .filter(|name| name.starts_with("compozy.log"))
        .collect();
    assert!(files.len() > 2, "{files:?}");
    let (mut failures, mut traces) = (0, BTreeSet::new());
    for name in files {
        let path = folder.join(name);
        assert_eq!(mode(&path), 0o600);
        assert!(path.metadata().unwrap().len() <= 16_384);
        for line in fs::read_to_string(path).unwrap().lines() {
            let entry: Value = serde_json::from_str(line).unwrap();
            if entry.to_string().contains("WORKSPACE_NOT_FOUND") {
                failures += 1;
                traces.insert(entry["trace_id"].to_string());
            }
        }
    }
    assert_eq!((failures, traces.len()), (FAILURES, FAILURES));
}
