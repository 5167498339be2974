//! See `tests/fuzz/targets/config.rs`.
#![no_main]

#[path = "../src/led.rs"]
mod led;

led::target!("config");
