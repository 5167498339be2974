//! The client against servers that answer what each test says, frame by frame.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    unreachable_pub,
    reason = "tests; the server's tasks end with the test"
)]

mod calls;
mod health;
mod resolution;
mod rows;
mod server;
mod sessions;
mod tls;
mod watch;
