//! Kept text beside what the program prints now: the help and the errors of every command.
//!
//! `BLESS=1 cargo test -p trunkline-cli --test snapshots` writes the kept text anew.

#[path = "../common/mod.rs"]
mod common;

mod errors;
mod reference;

use std::fs;
use std::path::Path;

use common::run;

/// The names of all commands that `trunkline --help` shows, in its order.
fn commands() -> Vec<String> {
    listed(&String::from_utf8(run(&["--help"]).stdout).unwrap())
}

/// The names of the commands that a help lists; none where it lists none.
fn listed(help: &str) -> Vec<String> {
    let list = help.split("Commands:\n").nth(1).unwrap_or_default();
    let list = list.split("\n\n").next().unwrap_or_default();
    // Lines that go on with a text are indented further.
    let entries = list.lines().filter_map(|line| line.strip_prefix("  "));
    let names = entries.filter_map(|entry| entry.split(' ').next());
    let other = |name: &&str| !name.is_empty() && *name != "help";
    names.filter(other).map(str::to_owned).collect()
}

/// Compares `text` with a kept file of the repository; with `BLESS` set, writes the file instead.
fn compare(file: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(file);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&file, text).unwrap();
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    let differs = kept.lines().zip(text.lines()).find(|(old, new)| old != new);
    assert!(
        kept == text,
        "{} differs, first at {differs:?}; after a change that you want, set BLESS=1",
        file.display()
    );
}
