//! The catalog daemon.

use std::process::ExitCode;

fn main() -> ExitCode {
    compozy_server::command::main(std::env::args_os())
}
