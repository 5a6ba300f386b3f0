//! Running the program as a user does.

use std::process::{Command, Output};

use tempfile::TempDir;

thread_local! {
    /// Where the results of one test are kept. Each test has a thread, and with it the folder goes
    /// away.
    static STATE: TempDir = tempfile::tempdir().unwrap();
}

/// The program with these arguments, not yet started. What it keeps, it keeps beside what the other
/// commands of the same test kept, and never in the user's own archive.
pub fn trunkline(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trunkline"));
    command.args(arguments);
    STATE.with(|state| command.env("TRUNKLINE_STATE", state.path()));
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
