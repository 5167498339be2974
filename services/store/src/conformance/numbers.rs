//! Randomness of tests: never the same twice in a process, or the same for a seed.

use std::sync::atomic::{AtomicU64, Ordering};

use compozy_domain::{Random, RandomFailed};

static DRAWN: AtomicU64 = AtomicU64::new(0);

/// Bytes for ids, different with each draw of this process.
#[derive(Debug, Clone, Copy)]
pub struct Numbers;

impl Random for Numbers {
    fn fill(&self, buffer: &mut [u8]) -> Result<(), RandomFailed> {
        for part in buffer.chunks_mut(8) {
            let number = mixed(DRAWN.fetch_add(1, Ordering::Relaxed));
            part.copy_from_slice(&number.to_be_bytes()[..part.len()]);
        }
        Ok(())
    }
}

/// Numbers that follow from a seed, so that a failed run can be repeated.
#[derive(Debug, Clone)]
pub struct Seeded(u64);

impl Seeded {
    /// Starts from a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(1);
        let bound = bound as u64;
        usize::try_from(mixed(self.0) % bound).expect("it is below a usize")
    }
}

/// Splits a counter into numbers without a visible pattern: a bijection, so that nothing repeats.
fn mixed(counter: u64) -> u64 {
    let mut number = counter.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}
