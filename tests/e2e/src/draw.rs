//! Random choices that can be made again: a test that fails prints its seed.

/// A generator (SplitMix64) with a printed seed. Not for secrets.
#[derive(Debug, Clone)]
pub struct Draw {
    state: u64,
}

impl Draw {
    /// The same seed draws the same numbers.
    pub fn seeded(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A seed from the system.
    pub fn new_seed() -> u64 {
        getrandom::u64().unwrap()
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which must not be 0.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.number() % bound as u64).unwrap()
    }

    /// True in one of `count` cases.
    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// One of these.
    pub fn choose<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        if from.is_empty() {
            return None;
        }
        Some(&from[self.below(from.len())])
    }

    /// Another generator, which goes on independently of this one.
    pub fn fork(&mut self) -> Self {
        Self { state: self.number() }
    }
}
