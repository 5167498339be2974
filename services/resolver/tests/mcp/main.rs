//! `mcp.json` and `.env`, as files alone.

#![allow(clippy::unwrap_used)]

mod dotenv;
mod hostile;
mod json;
mod merged;
mod secrets;
mod servers;
mod support;
