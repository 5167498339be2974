//! See `tests/fuzz/targets/config_edit.rs`.
#![no_main]

#[path = "../src/led.rs"]
mod led;

led::target!("config_edit");
