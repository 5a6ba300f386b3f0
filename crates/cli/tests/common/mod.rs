//! Running the program as a user does.

use std::process::{Command, Output};

/// The program with these arguments, not yet started.
pub fn trunkline(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trunkline"));
    command.args(arguments);
    command
}

/// Runs to the end.
pub fn run(arguments: &[&str]) -> Output {
    trunkline(arguments).output().unwrap()
}

/// Standard error as text.
pub fn complaint(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
