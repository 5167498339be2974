//! A history against the promises. Nothing here asks a server: what was recorded either holds or it does not.

use std::time::Duration;

use compozy_proto::change::v1::ResyncReason;

use crate::bound;
use crate::history::{End, Event, History, Origin, Span, Stream, Watcher};
use crate::log_check::check_log;
use crate::model_check::{check_model, check_snapshot};
use crate::reference::Reference;
use crate::stream_check::check_stream;
use crate::violation::{Rule, Violation};

/// How long after an outage a stream may still be silent.
const RECOVERY: Duration = Duration::from_secs(15);

/// Every promise that the history breaks.
pub(crate) fn check(history: &History) -> Vec<Violation> {
    let reference = Reference::of(history);
    let mut found = check_log(history, &reference);
    for (number, watcher) in history.watchers.iter().enumerate() {
        if watcher.stranded {
            let last = watcher.streams.last().map(|stream| (&stream.origin, &stream.end));
            found.push(Violation::new(
                Rule::Return,
                format!("watcher {number}: {last:?}"),
            ));
        }
        for (stream_number, stream) in watcher.streams.iter().enumerate() {
            let name = format!(
                "watcher {number} stream {stream_number} on server {}",
                stream.server
            );
            found.extend(check_stream(number, watcher, stream_number, &reference));
            found.extend(check_snapshot(stream, &name, &reference));
            found.extend(check_model(watcher, stream_number, &name, &reference));
            let around = Around {
                history,
                reference: &reference,
                watcher,
                stream,
                name,
            };
            found.extend(around.resyncs());
            found.extend(around.refusal());
            found.extend(around.epoch());
        }
    }
    for lie in &history.lies {
        let told = matches!(&lie.end, End::Refused(reason) if reason == "CURSOR_INVALID");
        let unanswered = matches!(lie.end, End::Broken(_) | End::Silent);
        if lie.accepted || !(told || unanswered) {
            let detail = format!("{}: ended {:?}, accepted: {}", lie.what, lie.end, lie.accepted);
            found.push(Violation::new(Rule::Lie, detail));
        }
    }
    found
}

/// A stream with what happened around it.
struct Around<'h> {
    history: &'h History,
    reference: &'h Reference,
    watcher: &'h Watcher,
    stream: &'h Stream,
    name: String,
}

impl Around<'_> {
    /// N121, N124: no `resync` without a new epoch, a trim, or a client that fell behind a trim.
    fn resyncs(&self) -> Vec<Violation> {
        let mut found = Vec::new();
        for received in &self.stream.received {
            let Event::Resync { reason, .. } = &received.event else {
                continue;
            };
            let caused = match reason {
                ResyncReason::Epoch => self.history.epochs.iter().any(|epoch| epoch.begun < received.at),
                ResyncReason::Expired | ResyncReason::Behind => self.history.log.floor > 0,
                ResyncReason::Unspecified => false,
            };
            if !caused {
                found.push(self.violation(Rule::ResyncCause, &format!("{:?}", received.event)));
            }
        }
        found
    }

    /// N191 and its opposite: a token is refused only when what comes after it was trimmed.
    fn refusal(&self) -> Vec<Violation> {
        let mut found = Vec::new();
        match &self.stream.end {
            End::Refused(reason) if reason == "RESUME_TOKEN_EXPIRED" => {
                let start = bound::start(self.watcher, self.stream, self.reference);
                if start.lowest >= self.reference.floor && self.history.epochs.is_empty() {
                    found.push(self.violation(Rule::Expired, "what comes after it is still kept"));
                }
            }
            // A workspace of the filter may be gone; whoever has a token of the watch may go on all the same.
            end if *end == End::gone() && !self.is_resumed() => {}
            End::Refused(reason) => found.push(self.violation(Rule::ValidToken, reason)),
            End::Silent if !self.is_excused_by_an_outage() => {
                found.push(self.violation(Rule::Silence, "no message, not even a heartbeat"));
            }
            End::Left | End::Ok | End::Broken(_) | End::Silent => {}
        }
        found
    }

    fn is_resumed(&self) -> bool {
        matches!(self.stream.origin, Origin::Token { .. })
    }

    fn is_excused_by_an_outage(&self) -> bool {
        let last = self
            .stream
            .received
            .last()
            .map_or(self.stream.opened, |last| last.at);
        let silent_since = |outage: &Span| outage.ended + RECOVERY > last;
        self.history.outages.iter().any(silent_since)
    }

    /// N190: who comes with a token of before a new epoch is told so before anything else.
    fn epoch(&self) -> Vec<Violation> {
        let Origin::Token { stream, event } = self.stream.origin else {
            return Vec::new();
        };
        let taken = self.watcher.streams[stream].received[event].at;
        let changed = |epoch: &&Span| taken < epoch.begun && epoch.ended < self.stream.opened;
        if !self.history.epochs.iter().any(|epoch| changed(&epoch)) {
            return Vec::new();
        }
        let first = self
            .stream
            .received
            .iter()
            .find(|one| one.event != Event::Heartbeat);
        match first.map(|one| &one.event) {
            None | Some(Event::Resync { .. } | Event::GoingAway) => Vec::new(),
            Some(other) => vec![self.violation(Rule::Epoch, &format!("{other:?} after a token of before"))],
        }
    }

    fn violation(&self, rule: Rule, words: &str) -> Violation {
        let Self { name, stream, .. } = self;
        Violation::new(
            rule,
            format!(
                "{name}: {words}\n  from {:?}, {:?}, ended {:?}",
                stream.origin, stream.filter, stream.end
            ),
        )
    }
}
