//! The shipped binaries as a stranger uses them: every test starts real processes on a home of its own.
//! Function names and comments carry the ids of the cases that they cover.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod archive;
mod autostart;
mod backup;
mod doctor;
mod doctor_store;
mod home;
mod home_disk;
mod home_workspace;
mod hosts;
mod log;
mod main_job;
mod network;
mod process;
mod refused;
mod replicas;
mod session_crash;
mod session_disk;
mod session_limits;
mod session_store;
mod sessions;
mod start;
mod store_away;
mod transcript;
mod watch;
