//! A target for libFuzzer: what it changes are bytes, so half of the time the changes are those of the bounded run,
//! which know lines and words.

#[path = "../../tests/fuzz/mutation.rs"]
pub(crate) mod mutation;
#[path = "../../tests/fuzz/targets/mod.rs"]
pub(crate) mod targets;

/// Makes the program of one target.
macro_rules! target {
    ($name:literal) => {
        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| $crate::led::check($name, bytes));

        libfuzzer_sys::fuzz_mutator!(|bytes: &mut [u8], size: usize, most: usize, seed: u32| {
            $crate::led::change($name, bytes, size, most, seed)
        });
    };
}
pub(crate) use target;

/// Reads a file; a panic is what libFuzzer understands.
pub(crate) fn check(name: &str, bytes: &[u8]) {
    let target = targets::target(name).expect("every program has the name of its target");
    if let Err(fault) = target.check(bytes) {
        panic!("{name}: {fault}");
    }
}

/// Changes the first `size` bytes in their place and answers how many there are then, `most` at most.
pub(crate) fn change(name: &str, bytes: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    let target = targets::target(name).expect("every program has the name of its target");
    let mut chance = mutation::Chance::new(u64::from(seed), 0);
    if chance.one_in(2) {
        return libfuzzer_sys::fuzzer_mutate(bytes, size, most);
    }
    let mut file = bytes[..size].to_vec();
    let other = file.clone();
    mutation::mutate(&mut file, target.pieces, &other, &mut chance);
    file.truncate(most.min(bytes.len()));
    bytes[..file.len()].copy_from_slice(&file);
    file.len()
}
