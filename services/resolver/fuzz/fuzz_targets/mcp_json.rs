//! See `tests/fuzz/targets/mcp_json.rs`.
#![no_main]

#[path = "../src/led.rs"]
mod led;

led::target!("mcp_json");
