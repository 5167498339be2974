//! The operating system's random generator.

use compozy_domain::{Random, RandomFailed};

/// Unpredictable bytes from the kernel.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    fn fill(&self, buffer: &mut [u8]) -> Result<(), RandomFailed> {
        getrandom::fill(buffer).map_err(|_| RandomFailed)
    }
}
