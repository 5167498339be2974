//! The steps of a write, so that a test can have something happen between them.

use rustix::io::Errno;

/// A step of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(any(test, feature = "testing")), allow(unreachable_pub))]
pub enum Step {
    /// The content goes into the temporary file.
    Write,
    /// The temporary file is flushed to the device.
    Flush,
    /// The temporary file gets the final name, if that is free.
    Link,
    /// The temporary file takes the place of the final one.
    Rename,
    /// The directory is flushed to the device.
    FlushDirectory,
}

/// What happens before the steps: nothing, but in a test.
#[derive(Clone, Default)]
pub(super) struct Steps {
    #[cfg(any(test, feature = "testing"))]
    hook: Option<std::sync::Arc<Hook>>,
}

/// What a test does before a step; an error is taken for the step's own.
#[cfg(any(test, feature = "testing"))]
type Hook = dyn Fn(Step) -> std::io::Result<()> + Send + Sync;

impl std::fmt::Debug for Steps {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Steps")
    }
}

#[cfg(any(test, feature = "testing"))]
impl Steps {
    pub(super) fn hooked(hook: impl Fn(Step) -> std::io::Result<()> + Send + Sync + 'static) -> Self {
        Self {
            hook: Some(std::sync::Arc::new(hook)),
        }
    }

    pub(super) fn before(&self, step: Step) -> Result<(), Errno> {
        match &self.hook {
            Some(hook) => hook(step).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO)),
            None => Ok(()),
        }
    }
}

#[cfg(not(any(test, feature = "testing")))]
impl Steps {
    pub(super) const fn before(&self, _step: Step) -> Result<(), Errno> {
        Ok(())
    }
}
