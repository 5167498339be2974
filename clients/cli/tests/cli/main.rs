//! The real `compozy` against a server of this process that answers by the contract, on a socket in
//! a directory of its own. Function names carry the ids of the cases.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    unreachable_pub,
    reason = "tests; the fake plays the server, statuses and tasks included"
)]

mod autostart;
mod backup;
mod chain;
mod config;
mod definitions;
mod exits;
mod fake;
mod first_resolve;
mod forms;
mod help;
mod info;
mod network;
mod own_session;
mod profile;
mod resolution;
mod run;
mod session;
mod session_list;
mod session_live;
mod session_new;
mod session_wait;
mod terminal;
mod watch;
mod workspace;
