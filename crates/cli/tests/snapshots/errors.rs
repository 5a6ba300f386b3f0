//! `errors.txt`: wrong command lines, each with its exit code and message.
//!
//! A new case is a new line `$ trunkline ...`.

use std::fmt::Write;

use crate::common::{complaint, run, trunkline};
use crate::{commands, compare};

const CASES: &str = include_str!("errors.txt");

/// The command lines of the file, each without `trunkline`.
fn cases() -> impl Iterator<Item = &'static str> {
    let lines = CASES.lines();
    lines.filter_map(|line| line.strip_prefix("$ trunkline "))
}

/// What a message says with the archive's folder, which differs from run to run, as `STATE`.
fn told(complaint: &str) -> String {
    let command = trunkline(&[]);
    let mut variables = command.get_envs();
    let state = variables.find(|(name, _)| *name == "TRUNKLINE_STATE");
    let folder = state.and_then(|(_, value)| value).unwrap();
    complaint.replace(folder.to_str().unwrap(), "STATE")
}

#[test]
fn every_message_is_the_kept_one() {
    let mut text = String::new();
    for case in cases() {
        let words: Vec<&str> = case.split_whitespace().collect();
        let output = run(&words);
        let code = output.status.code().unwrap();
        assert!(code == 1 || code == 2, "{case}: exit {code}");
        assert!(output.stdout.is_empty(), "{case} printed a result");
        writeln!(text, "$ trunkline {case}\nexit {code}").unwrap();
        writeln!(text, "{}", told(&complaint(&output))).unwrap();
    }
    compare("crates/cli/tests/snapshots/errors.txt", &text);
}

#[test]
fn every_command_has_a_case() {
    for command in commands() {
        let names_it = |case: &str| case.split_whitespace().next() == Some(&command);
        assert!(cases().any(names_it), "{command} has no case in errors.txt");
    }
}
