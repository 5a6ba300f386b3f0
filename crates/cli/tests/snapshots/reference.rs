//! `docs/reference/cli.md` is the help of every command, at most 100 columns wide.

use std::fmt::Write;

use crate::common::run;
use crate::{commands, compare, listed};

const OPENING: &str = "\
# Commands and options

The help of every command. A test writes this page and compares it with the program:
`BLESS=1 cargo test -p trunkline-cli --test snapshots`. The manual pages have the same text.
";

/// The help of a command as a terminal of 100 columns shows it.
fn help(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}");
    let help = String::from_utf8(output.stdout).unwrap();
    assert!(help.contains("Usage: trunkline"), "{help}");
    for line in help.lines() {
        assert!(line.chars().count() <= 100, "{arguments:?}: {line}");
    }
    help
}

fn section(page: &mut String, title: &str, help: &str) {
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let text = lines.join("\n");
    write!(page, "\n## {title}\n\n```text\n{text}\n```\n").unwrap();
}

#[test]
fn the_page_of_commands_is_their_help() {
    let mut page = OPENING.to_owned();
    section(&mut page, "trunkline", &help(&["--help"]));
    for command in commands() {
        let shown = help(&[&command, "--help"]);
        section(&mut page, &format!("trunkline {command}"), &shown);
        for below in listed(&shown) {
            let title = format!("trunkline {command} {below}");
            section(&mut page, &title, &help(&[&command, &below, "--help"]));
        }
    }
    compare("docs/reference/cli.md", &page);
}
