//! The daemon: whether it runs, which it is, how it serves.

use compozy_client::ServingStatus;
use serde::Serialize;

use super::table::Cell;
use super::time::Time;
use super::{Answer, Human};
use crate::duration::spelled;

/// What `daemon status` prints.
#[derive(Debug, Default, Serialize)]
pub(crate) struct StatusView {
    pub(crate) running: bool,
    pub(crate) server: String,
    /// Path of the socket, if the daemon is reached over one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) socket: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pid: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    /// SQLITE or POSTGRES.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) backend: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) catalog_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) host_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) started_at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uptime_seconds: Option<u64>,
    pub(crate) services: Vec<ServiceView>,
}

/// How one service of the daemon does.
#[derive(Debug, Serialize)]
pub(crate) struct ServiceView {
    /// Empty for the daemon as a whole.
    pub(crate) service: String,
    pub(crate) status: &'static str,
}

/// What `daemon health` prints.
#[derive(Debug, Serialize)]
pub(crate) struct HealthView {
    pub(crate) service: String,
    pub(crate) status: &'static str,
}

/// What `daemon start` prints.
#[derive(Debug, Serialize)]
pub(crate) struct StartedView {
    pub(crate) started: bool,
    pub(crate) pid: i64,
    pub(crate) server: String,
}

/// What `daemon stop` prints.
#[derive(Debug, Serialize)]
pub(crate) struct StoppedView {
    pub(crate) stopped: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pid: Option<i64>,
}

impl ServiceView {
    pub(crate) fn new(service: &str, status: ServingStatus) -> Self {
        Self {
            service: service.to_owned(),
            status: status_name(status),
        }
    }
}

impl HealthView {
    pub(crate) fn new(service: &str, status: ServingStatus) -> Self {
        Self {
            service: service.to_owned(),
            status: status_name(status),
        }
    }
}

impl Answer for StatusView {
    fn human(&self, human: &mut Human) {
        if !self.running {
            human.line(&format!("no daemon runs at {}", self.server));
            return;
        }
        let text = |value: &Option<String>| Cell::plain(value.as_deref().unwrap_or_default());
        let mut fields = vec![
            (
                "pid",
                Cell::plain(self.pid.map(|pid| pid.to_string()).unwrap_or_default()),
            ),
            ("version", text(&self.version)),
            (
                "server",
                Cell::plain(if self.socket.is_none() {
                    self.server.as_str()
                } else {
                    ""
                }),
            ),
            ("socket", text(&self.socket)),
            ("backend", Cell::plain(self.backend.unwrap_or_default())),
            ("catalog", text(&self.catalog_id)),
            ("host", text(&self.host_id)),
            ("started", human.time(self.started_at)),
            (
                "uptime",
                Cell::plain(
                    self.started_at
                        .map(|time| spelled(time.age()))
                        .unwrap_or_default(),
                ),
            ),
        ];
        for ServiceView { service, status } in &self.services {
            let name = if service.is_empty() { "daemon" } else { service };
            fields.push((name, serving_cell(status)));
        }
        human.fields(&fields);
    }
}

impl Answer for HealthView {
    fn human(&self, human: &mut Human) {
        human.line(self.status);
    }
}

impl Answer for StartedView {
    fn human(&self, human: &mut Human) {
        let what = if self.started {
            "started"
        } else {
            "a daemon runs already"
        };
        human.line(&format!("{what}: pid {} at {}", self.pid, self.server));
    }
}

impl Answer for StoppedView {
    fn human(&self, human: &mut Human) {
        human.line(&match (self.stopped, self.pid) {
            (true, Some(pid)) => format!("stopped: pid {pid}"),
            (true, None) => "stopped".to_owned(),
            (false, _) => "no daemon runs".to_owned(),
        });
    }
}

fn serving_cell(status: &str) -> Cell {
    if status == "SERVING" {
        Cell::good(status)
    } else {
        Cell::bad(status)
    }
}

/// The names of the health protocol.
fn status_name(status: ServingStatus) -> &'static str {
    match status {
        ServingStatus::Unknown => "UNKNOWN",
        ServingStatus::Serving => "SERVING",
        ServingStatus::NotServing => "NOT_SERVING",
        ServingStatus::ServiceUnknown => "SERVICE_UNKNOWN",
    }
}
