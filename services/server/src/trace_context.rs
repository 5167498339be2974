//! W3C trace context: reading and writing `traceparent`, and the trace that the current work belongs to.
//! What belongs to no call (start, background loops) has the trace of the process.

use std::fmt::Write as _;
use std::future::Future;
use std::sync::OnceLock;

use compozy_domain::Random;

/// The header that carries a trace.
pub const TRACEPARENT: &str = "traceparent";
/// The header of an answer that carries the trace id alone, for people.
pub const TRACE_ID: &str = "trace-id";

/// A position in a trace: which trace, and which step of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceContext {
    /// The trace; never all zero.
    pub trace_id: u128,
    /// The step; never zero.
    pub span_id: u64,
    /// Whether the caller records the trace.
    pub sampled: bool,
}

impl TraceContext {
    /// Reads a `traceparent` of any version; `None` for what is none.
    #[must_use]
    pub fn parse(header: &str) -> Option<Self> {
        let mut parts = header.trim().split('-');
        let version = hex(parts.next()?, 2)?;
        let trace_id = hex(parts.next()?, 32)?;
        let span_id = u64::try_from(hex(parts.next()?, 16)?).ok()?;
        let flags = hex(parts.next()?, 2)?;
        let closed = version != 0 || parts.next().is_none();
        if version == 0xff || trace_id == 0 || span_id == 0 || !closed {
            return None;
        }
        Some(Self {
            trace_id,
            span_id,
            sampled: flags & 1 == 1,
        })
    }

    /// The start of a new trace.
    #[must_use]
    pub fn begin(random: &dyn Random) -> Self {
        let mut bytes = [0_u8; 16];
        // Without randomness a call is still served; its trace id is only not unique.
        let _ = random.fill(&mut bytes);
        Self {
            trace_id: u128::from_be_bytes(bytes).max(1),
            span_id: new_span(random),
            sampled: false,
        }
    }

    /// A step below this one, in the same trace.
    #[must_use]
    pub fn child(self, random: &dyn Random) -> Self {
        Self {
            span_id: new_span(random),
            ..self
        }
    }

    /// The trace id in 32 hex digits.
    #[must_use]
    pub fn id(self) -> String {
        format!("{:032x}", self.trace_id)
    }

    /// The header's text.
    #[must_use]
    pub fn header(self) -> String {
        let mut text = String::with_capacity(55);
        let flags = u8::from(self.sampled);
        // Writing to a String can't fail.
        let _ = write!(
            text,
            "00-{:032x}-{:016x}-{flags:02x}",
            self.trace_id, self.span_id
        );
        text
    }
}

tokio::task_local! {
    static CURRENT: TraceContext;
}

static PROCESS: OnceLock<TraceContext> = OnceLock::new();

/// Runs work as part of a trace.
pub fn within<F: Future>(trace: TraceContext, work: F) -> impl Future<Output = F::Output> {
    CURRENT.scope(trace, work)
}

/// Runs one step of work as part of a trace.
pub fn within_sync<R>(trace: TraceContext, step: impl FnOnce() -> R) -> R {
    CURRENT.sync_scope(trace, step)
}

/// Runs work as part of the trace that is current now.
pub fn inherit<F: Future>(work: F) -> impl Future<Output = F::Output> {
    within(current(), work)
}

/// The trace of the current work, else that of the process.
#[must_use]
pub fn current() -> TraceContext {
    CURRENT.try_with(|trace| *trace).unwrap_or_else(|_| of_process())
}

/// The trace of what belongs to no call.
#[must_use]
pub fn of_process() -> TraceContext {
    *PROCESS.get_or_init(|| TraceContext::begin(&crate::random::SystemRandom))
}

fn new_span(random: &dyn Random) -> u64 {
    let mut bytes = [0_u8; 8];
    let _ = random.fill(&mut bytes);
    u64::from_be_bytes(bytes).max(1)
}

/// Lower-case hex digits of exactly this many, as the header has them.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let lower = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if text.len() != digits || !lower {
        return None;
    }
    u128::from_str_radix(text, 16).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const HEADER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_header_is_read_and_written_back() {
        let trace = TraceContext::parse(HEADER).unwrap();
        assert_eq!(trace.header(), HEADER);
        assert_eq!(trace.id(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert!(trace.sampled);
    }

    #[test]
    fn a_later_version_may_carry_more() {
        let later = format!("01{}-what-comes", &HEADER[2..]);
        assert!(TraceContext::parse(&later).is_some());
    }

    #[test]
    fn what_is_no_header_is_passed_over() {
        let upper = HEADER.to_uppercase();
        let longer = format!("{HEADER}-x");
        let no_version = format!("ff{}", &HEADER[2..]);
        for text in ["", "00", &HEADER[..54], &upper, &longer, &no_version] {
            assert_eq!(TraceContext::parse(text), None, "{text}");
        }
        assert_eq!(
            TraceContext::parse(&HEADER.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32))),
            None
        );
    }

    #[tokio::test]
    async fn work_knows_its_trace_and_hands_it_on() {
        let trace = TraceContext::parse(HEADER).unwrap();
        let seen = within(trace, async {
            crate::tasks::Tasks::new()
                .spawn(async { current() })
                .await
                .unwrap()
        })
        .await;
        assert_eq!(seen, trace);
        assert_eq!(current(), of_process());
    }
}
