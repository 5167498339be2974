//! Randomness, passed in so that a test can make it fail or repeat.

use thiserror::Error;

/// The generator of the operating system gave nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the operating system's random generator failed")]
pub struct RandomFailed;

/// A source of unpredictable bytes.
pub trait Random: Send + Sync + std::fmt::Debug {
    /// Fills the buffer completely.
    ///
    /// # Errors
    /// [`RandomFailed`]; the content of the buffer is not to be used then.
    fn fill(&self, buffer: &mut [u8]) -> Result<(), RandomFailed>;
}
