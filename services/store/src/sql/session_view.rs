//! What is shown of a session at an instant, in SQL: the rules of the domain's `view`, over `session s` and
//! `session_live l`. A test compares them for every combination of facts.

use compozy_domain::session::FailureKind;

const LIVE: &str = "s.state IN ('starting', 'active', 'stopping')";
const FAILURES: [FailureKind; 12] = [
    FailureKind::StartupFailure,
    FailureKind::HandshakeFailure,
    FailureKind::LoadSessionFailure,
    FailureKind::ProtocolFailure,
    FailureKind::PromptFailure,
    FailureKind::Cancellation,
    FailureKind::PermissionFailure,
    FailureKind::ProviderAuthFailure,
    FailureKind::ProcessExit,
    FailureKind::TransportFailure,
    FailureKind::Timeout,
    FailureKind::UnknownFailure,
];
const IS_BOUND: &str = "s.runtime = 'bound' AND l.session_id IS NOT NULL";

/// The word of the badge, where `silent_since` is the placeholder of the instant from which on a runtime must have been
/// heard of.
pub(crate) fn badge(silent_since: &str) -> String {
    let failures = failures(Some(FailureKind::Cancellation));
    let heard = format!(
        "(l.lease_hash IS NOT NULL AND l.lease_ttl IS NOT NULL AND l.lease_expires_at IS NOT NULL \
         AND l.lease_bound_at IS NOT NULL AND l.lease_expires_at - l.lease_ttl >= {silent_since})"
    );
    format!(
        "CASE \
         WHEN NOT {LIVE} AND s.failure IN ({failures}) THEN 'failed' \
         WHEN NOT {LIVE} THEN 'stopped' \
         WHEN l.waiting_for_auth IS TRUE THEN 'waiting-for-auth' \
         WHEN l.waiting_for_input IS TRUE THEN 'waiting-for-input' \
         WHEN {IS_BOUND} AND l.stalled IS NOT TRUE AND NOT {heard} THEN 'hung' \
         WHEN {IS_BOUND} AND l.stalled IS TRUE THEN 'unhealthy' \
         WHEN s.state <> 'active' OR ({IS_BOUND} AND l.prompting IS TRUE) THEN 'running' \
         WHEN l.settled_at IS NOT NULL THEN 'done' \
         WHEN {IS_BOUND} THEN 'idle' \
         ELSE 'unknown' END"
    )
}

/// Whether an operator can enter it, where `now` is the placeholder of the instant.
pub(crate) fn attachable(now: &str) -> String {
    let failures = failures(None);
    format!(
        "(s.state = 'active' AND s.archived_at IS NULL AND s.failure NOT IN ({failures}) \
         AND l.stalled IS NOT TRUE \
         AND (l.attach_holder IS NULL OR l.attach_expires_at IS NULL OR l.attach_expires_at <= {now}))"
    )
}

/// The kinds of failures as a list of words. One of a newer release can't be read and counts as none.
fn failures(but: Option<FailureKind>) -> String {
    let words: Vec<String> = FAILURES
        .into_iter()
        .filter(|kind| Some(*kind) != but)
        .map(|kind| format!("'{}'", kind.as_str()))
        .collect();
    words.join(", ")
}
