//! What the layers know about a call: made by the outermost one, read by the others.

use std::sync::{Arc, OnceLock};

use http::Extensions;

use crate::methods::Method;

/// A call under way.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) method: Arc<Method>,
    /// The caller's id, once it is known; for the log.
    pub(super) principal: OnceLock<String>,
}

impl Call {
    pub(super) fn new(method: Arc<Method>) -> Arc<Self> {
        Arc::new(Self {
            method,
            principal: OnceLock::new(),
        })
    }

    /// The call that a request belongs to.
    pub(super) fn of(extensions: &Extensions) -> Arc<Self> {
        // The outermost layer puts it there; without it a call is treated as unknown.
        extensions.get::<Arc<Self>>().map(Arc::clone).unwrap_or_else(|| {
            Self::new(Arc::new(Method {
                name: "_OTHER".into(),
                streaming: false,
                client_streaming: false,
                open: false,
            }))
        })
    }
}
