//! See `tests/fuzz/targets/dotenv.rs`.
#![no_main]

#[path = "../src/led.rs"]
mod led;

led::target!("dotenv");
