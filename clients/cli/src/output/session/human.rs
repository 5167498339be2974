//! A session's record as a person reads it.

use super::super::Human;
use super::super::table::Cell;
use super::super::words::spoken;
use super::SessionView;
use super::parts::{ActivityView, LineageView, RuntimeView, SessionHealthView, StopView};

impl SessionView {
    /// Writes the record, field by field.
    pub(crate) fn human(&self, human: &mut Human) {
        let labels: Vec<String> = self
            .labels
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let lineage = self.lineage.as_ref();
        human.fields(&[
            ("name", Cell::plain(&self.name)),
            ("id", Cell::plain(&self.id)),
            ("workspace", Cell::plain(self.home())),
            ("directory", Cell::plain(self.directory())),
            ("agent", Cell::plain(&self.agent)),
            ("provider", Cell::plain(&self.provider)),
            ("model", Cell::plain(&self.model)),
            ("type", Cell::plain(unless(self.r#type, "USER"))),
            ("state", self.state_cell()),
            ("stop", self.stop_cell()),
            ("runtime", runtime_cell(self.runtime.as_ref(), human)),
            ("health", health_cell(self.health.as_ref())),
            (
                "activity",
                Cell::plain(self.activity.as_ref().map(doing).unwrap_or_default()),
            ),
            ("entered by", self.attach_cell(human)),
            ("can", Cell::plain(self.abilities())),
            (
                "permission",
                Cell::plain(unless(self.permission_mode, "UNSPECIFIED")),
            ),
            ("profile", Cell::plain(&self.profile_id)),
            ("parent", Cell::plain(lineage.map(parentage).unwrap_or_default())),
            ("labels", Cell::plain(labels.join(", "))),
            ("origin", Cell::plain(self.foreign_origin())),
            ("events", Cell::plain(counted(self.event_count))),
            ("ledger", self.ledger_cell()),
            ("started", Cell::plain(self.start_cause())),
            ("created", human.time(self.created_at)),
            ("updated", human.time(self.updated_at)),
            ("archived", human.time(self.archived_at)),
            ("defect", Cell::bad(self.defect.as_deref().unwrap_or_default())),
        ]);
    }

    /// State and badge, as far as the badge says more; painted by the badge.
    pub(super) fn state_cell(&self) -> Cell {
        let state = spoken(self.state);
        let text = match self.badge {
            "UNSPECIFIED" | "UNKNOWN" => state,
            badge if badge == self.state => state,
            // To start and to stop is all that it is at.
            "RUNNING" if matches!(self.state, "STARTING" | "STOPPING") => state,
            badge => format!("{state}, {}", spoken(badge)),
        };
        match self.badge {
            "FAILED" => Cell::bad(text),
            "WAITING_FOR_AUTH" | "WAITING_FOR_INPUT" | "HUNG" | "UNHEALTHY" => Cell::doubtful(text),
            "RUNNING" | "DONE" => Cell::good(text),
            "STOPPED" => Cell::faint(text),
            _ => Cell::plain(text),
        }
    }

    /// Where it is now: the text given at its creation is of before the project was moved.
    fn directory(&self) -> &str {
        match self.canonical_cwd.as_str() {
            "" => &self.cwd,
            canonical => canonical,
        }
    }

    fn home(&self) -> String {
        match (self.workspace_name.as_str(), self.workspace_id.as_str()) {
            (_, "") => "none".to_owned(),
            ("", id) => id.to_owned(),
            (name, id) => format!("{name} ({id})"),
        }
    }

    fn stop_cell(&self) -> Cell {
        let Some(stop) = &self.stop else {
            return Cell::plain("");
        };
        let text = ending(stop);
        match &stop.failure {
            Some(failure) if failure.kind != "CANCELLATION" => Cell::bad(text),
            _ => Cell::plain(text),
        }
    }

    fn attach_cell(&self, human: &Human) -> Cell {
        let Some(attach) = &self.attach else {
            return Cell::plain("");
        };
        Cell::doubtful(format!(
            "{}, until {}",
            attach.holder,
            human.clock(attach.expires_at)
        ))
    }

    fn abilities(&self) -> String {
        let abilities = [(self.attachable, "be entered"), (self.resumable, "be resumed")];
        let held: Vec<&str> = abilities
            .iter()
            .filter(|(holds, _)| *holds)
            .map(|(_, what)| *what)
            .collect();
        held.join(", ")
    }

    fn foreign_origin(&self) -> String {
        match &self.origin {
            Some(origin) if !origin.tool.is_empty() && origin.tool != "native" => {
                format!("{} {}", origin.tool, origin.id).trim_end().to_owned()
            }
            _ => String::new(),
        }
    }

    fn ledger_cell(&self) -> Cell {
        match &self.ledger {
            None => Cell::plain(""),
            Some(ledger) if ledger.problem.is_empty() => Cell::plain(&ledger.path),
            Some(ledger) => Cell::doubtful(&ledger.problem),
        }
    }

    fn start_cause(&self) -> String {
        let Some(start) = &self.start else {
            return String::new();
        };
        match (start.cause.as_str(), start.by.as_str()) {
            ("", by) => by.to_owned(),
            (cause, "") => cause.to_owned(),
            (cause, by) => format!("{cause} ({by})"),
        }
    }
}

/// `user canceled: enough (cancellation)`.
fn ending(stop: &StopView) -> String {
    let mut text = match stop.reason {
        "UNSPECIFIED" => format!("asked for ({})", spoken(stop.cause)),
        reason => spoken(reason),
    };
    if !stop.detail.is_empty() {
        text.push_str(&format!(": {}", stop.detail));
    }
    if let Some(failure) = &stop.failure {
        text.push_str(&format!("; {}", spoken(failure.kind)));
        if !failure.summary.is_empty() {
            text.push_str(&format!(": {}", failure.summary));
        }
    }
    if let Some(status) = stop.exit_status {
        text.push_str(&format!("; exit status {status}"));
    }
    text
}

fn runtime_cell(runtime: Option<&RuntimeView>, human: &Human) -> Cell {
    let Some(runtime) = runtime else {
        return Cell::plain("");
    };
    match runtime.state {
        "BOUND" => Cell::plain(format!(
            "{}, its lease ends at {}",
            runtime.holder,
            human.clock(runtime.expires_at)
        )),
        "LOST" => Cell::bad(format!("lost ({})", runtime.holder)),
        _ => Cell::plain("none"),
    }
}

pub(super) fn health_cell(health: Option<&SessionHealthView>) -> Cell {
    let Some(health) = health else {
        return Cell::plain("");
    };
    let text = format!("{} ({})", spoken(health.health), spoken(health.state));
    match health.health {
        "HEALTHY" => Cell::good(text),
        "DEGRADED" => Cell::doubtful(text),
        "STALE" => Cell::bad(text),
        _ => Cell::plain(text),
    }
}

fn doing(activity: &ActivityView) -> String {
    let parts = [&activity.kind, &activity.current_tool, &activity.detail];
    let told: Vec<&str> = parts
        .into_iter()
        .filter(|part| !part.is_empty())
        .map(String::as_str)
        .collect();
    told.join(", ")
}

fn parentage(lineage: &LineageView) -> String {
    if lineage.parent_session_id.is_empty() {
        return String::new();
    }
    let mut text = lineage.parent_session_id.clone();
    if !lineage.spawn_role.is_empty() {
        text.push_str(&format!(", as {}", lineage.spawn_role));
    }
    if lineage.root_session_id != lineage.parent_session_id {
        text.push_str(&format!(
            "; root {}, depth {}",
            lineage.root_session_id, lineage.depth
        ));
    }
    text
}

/// What is as it usually is needs no line.
fn unless(name: &'static str, usual: &str) -> String {
    if name == usual {
        String::new()
    } else {
        spoken(name)
    }
}

fn counted(count: i64) -> String {
    if count == 0 {
        String::new()
    } else {
        count.to_string()
    }
}
