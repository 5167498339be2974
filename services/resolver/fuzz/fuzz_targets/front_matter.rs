//! See `tests/fuzz/targets/front_matter.rs`.
#![no_main]

#[path = "../src/led.rs"]
mod led;

led::target!("front_matter");
