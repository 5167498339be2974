//! From a failure to the status that a caller gets: the only place that builds one. Every status carries
//! exactly one `google.rpc.ErrorInfo` with domain `compozy.dev`, and what its kind adds.
//!
//! Keys of `ErrorInfo.metadata`, each present only where it is known:
//!
//! | key | meaning |
//! | --- | --- |
//! | `field` | path of the request's field |
//! | `path`, `line`, `problem`, `remedy` | a file or directory, the line in it, the broken rule, what to do |
//! | `problems_count` | how many problems a configuration has; the violations name up to twenty of them |
//! | `name`, `holder` | the name that is taken; id of the workspace that has it, or that stands in the way |
//! | `fields`, `original` | fields that differ; root of the registered original of a copy; comma-separated |
//! | `cause` | what is wrong with a cursor |
//! | `reference`, `ids`, `ids_count` | what was looked for; the first ten candidates; how many there are |
//! | `durable_id`, `expected`, `found` | durable ids |
//! | `state` | the state of the session `id` |
//! | `host`, `id`, `scope`, `limit` | another host; a record; the scope that is needed; a limit in bytes |
//! | `oldest_token` | the oldest token that a watch can still resume from |
//! | `outcome` | `unknown` when a write may have happened |
//! | `trace_id` | where the log has the defect |

mod facts;
mod reason;

use std::sync::LazyLock;
use std::time::Duration;

use compozy_domain::{CatalogError, Reason};
use prometheus_client::metrics::counter::Counter;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

pub use self::reason::{code, reason_name};

use self::facts::Facts;

/// The domain of every `ErrorInfo`.
pub const DOMAIN: &str = "compozy.dev";
/// Bytes of a status message at most.
pub const MESSAGE_BYTES_MAX: usize = 1_024;
/// Bytes of the encoded details at most.
pub const DETAILS_BYTES_MAX: usize = 4_096;
/// Field violations of one status at most.
pub const FIELD_VIOLATIONS_MAX: usize = 20;

/// Defects since the start; telemetry shows it.
pub static DEFECTS: LazyLock<Counter> = LazyLock::new(Counter::default);

/// When a caller should come again, if nothing better is known.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The status of a failure. A defect is logged and counted here.
#[must_use]
pub fn status(error: CatalogError) -> Status {
    build(&Facts::of(error))
}

/// The status of an overload, with the time after which the caller should come again.
#[must_use]
pub fn rate_limited(retry_after: Duration) -> Status {
    let mut facts = Facts::of(CatalogError::RateLimited);
    facts.retry_after = Some(retry_after);
    build(&facts)
}

/// The status of a call that the server's end cut off. What it had begun may have happened.
#[must_use]
pub fn cut_off() -> Status {
    let mut facts = Facts::of(CatalogError::Draining);
    facts.message =
        "the server has shut down before the call was done: call again in a moment, a write with the \
                     same request_id"
            .to_owned();
    facts.metadata.push(("outcome", "unknown".to_owned()));
    build(&facts)
}

/// Several fields are wrong at once: the message speaks of the first one, the details name up to twenty.
#[must_use]
pub fn invalid_fields(violations: Vec<(String, String)>) -> Status {
    let mut violations = violations.into_iter();
    let Some((field, problem)) = violations.next() else {
        return status(CatalogError::invalid_field("", "is not valid"));
    };
    let mut facts = Facts::of(CatalogError::InvalidField { field, problem });
    facts.violations.extend(violations);
    build(&facts)
}

/// The health protocol's own answer for a service that is not served: NOT_FOUND, as probes expect it.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the only place that builds a status")]
pub fn unknown_service(name: &str) -> Status {
    let name = facts::shortened(&facts::printable(name), 256);
    let metadata = std::collections::HashMap::from([("service".to_owned(), name.clone())]);
    let mut details = ErrorDetails::with_error_info("SERVICE_NOT_FOUND", DOMAIN, metadata);
    details.set_resource_info("service", name.as_str(), "", "");
    let message =
        format!("the service '{name}' is not served here: list the services, or use a newer server");
    Status::with_error_details(Code::NotFound, message, details)
}

/// Replaces a status that the transport made by itself with one of ours: every failing call carries our details.
#[must_use]
pub fn adopt(code: Code, message: &str) -> Status {
    let transport = || CatalogError::invalid_field("request", format!("can't be read ({message})"));
    match code {
        Code::Unimplemented if message.contains("compressed") => {
            let mut facts = Facts::of(CatalogError::MethodUnknown);
            facts.message = "this server reads no compressed messages: send them uncompressed".to_owned();
            build(&facts)
        }
        Code::Unimplemented => status(CatalogError::MethodUnknown),
        Code::OutOfRange if message.contains("decoded message length too large") => {
            status(CatalogError::MessageTooLarge {
                limit: compozy_domain::limits::REQUEST_BYTES_MAX,
            })
        }
        Code::Internal if is_about_the_request(message) => status(transport()),
        Code::Cancelled | Code::InvalidArgument => status(transport()),
        Code::DeadlineExceeded => status(CatalogError::DeadlineExceeded),
        _ => status(CatalogError::Defect {
            detail: format!("a status without details: {code:?} {message}"),
        }),
    }
}

/// Whether a status says by itself what contract.md asks for.
#[must_use]
pub fn is_ours(status: &Status) -> bool {
    status
        .get_details_error_info()
        .is_some_and(|info| info.domain == DOMAIN)
}

/// How tonic words a request message that does not parse or does not arrive.
fn is_about_the_request(message: &str) -> bool {
    const OPENINGS: [&str; 6] = [
        "failed to decode Protobuf message",
        "Missing request message",
        "protocol error",
        "Unexpected EOF",
        "invalid compression flag",
        "h2 protocol error",
    ];
    OPENINGS.iter().any(|opening| message.contains(opening))
}

#[expect(clippy::disallowed_methods, reason = "the only place that builds a status")]
fn build(facts: &Facts) -> Status {
    let code = code(facts.reason);
    let message = facts::shortened(&facts.message, MESSAGE_BYTES_MAX);
    // Paths may be 4 KiB each: first fewer violations are named, then long values are cut, until everything fits.
    for (violations, value_bytes) in [
        (FIELD_VIOLATIONS_MAX, 1_024),
        (FIELD_VIOLATIONS_MAX, 256),
        (10, 384),
        (FIELD_VIOLATIONS_MAX, 64),
    ] {
        let details = details(facts, violations, value_bytes);
        let candidate = Status::with_error_details(code, message.clone(), details);
        if candidate.details().len() <= DETAILS_BYTES_MAX {
            return candidate;
        }
    }
    let bare = ErrorDetails::with_error_info(
        reason_name(facts.reason),
        DOMAIN,
        std::collections::HashMap::new(),
    );
    Status::with_error_details(code, message, bare)
}

fn details(facts: &Facts, violations: usize, value_bytes: usize) -> ErrorDetails {
    let short = |text: &str| facts::shortened(text, value_bytes);
    let metadata: std::collections::HashMap<String, String> = facts
        .metadata
        .iter()
        .map(|(key, value)| ((*key).to_owned(), short(value)))
        .collect();
    let mut details = ErrorDetails::with_error_info(reason_name(facts.reason), DOMAIN, metadata);
    for (field, problem) in facts.violations.iter().take(violations) {
        details.add_bad_request_violation(short(field), short(problem));
    }
    if let Some((kind, name)) = &facts.resource {
        details.set_resource_info(*kind, short(name), "", "");
    }
    if let Some(subject) = &facts.precondition {
        details.add_precondition_failure_violation(
            reason_name(facts.reason),
            short(subject),
            short(&facts.message),
        );
    }
    if let Some(after) = facts.retry_after {
        details.set_retry_info(Some(after));
    }
    details
}

/// Logs and counts a defect. Answers what the caller is told.
fn record_defect(detail: &str) -> (String, String) {
    let trace_id = crate::trace_context::current().id();
    DEFECTS.inc();
    tracing::error!(reason = reason_name(Reason::Defect), detail, "defect");
    (
        format!("internal error: the server's log has it under trace id {trace_id}"),
        trace_id,
    )
}

#[cfg(test)]
mod tests;
