//! What a manual page has behind its options: EXIT STATUS, ENVIRONMENT, FILES, EXAMPLES, SEE ALSO.

use std::io::{self, Write};

use clap_mangen::roff::{Roff, bold, roman};

/// A name and what it means.
type Entry = (&'static str, &'static str);

const EXIT_STATUS: [Entry; 3] = [
    ("0", "All went well."),
    (
        "1",
        "What was to be measured, moved or computed failed, or the user ended it; what is there \
            was shown and kept.",
    ),
    (
        "2",
        "The request was wrong: an argument, a path file or a document.",
    ),
];

/// `trunkline emulate` ends as its program does.
const EMULATE_STATUS: Entry = ("other", "The exit status of the program on the near host.");

/// `trunkline copy` leaves what has arrived.
const COPY_STATUS: Entry = (
    "75",
    "A signal ended the copy. What has arrived stays: run the same command again to resume.",
);

const ENVIRONMENT: [Entry; 5] = [
    (
        "TRUNKLINE_STATE",
        "The folder of the archive of results, in place of the one below FILES.",
    ),
    (
        "TRUNKLINE_TOKEN",
        "The token of a trunkline:// server, where --token-file names no file.",
    ),
    (
        "XDG_STATE_HOME, XDG_CACHE_HOME, XDG_RUNTIME_DIR",
        "Where state, finished simulations and the sockets of running copies are, in place of \
            ~/.local/state, ~/.cache and the archive's folder.",
    ),
    ("HOME", "Where those are otherwise."),
    ("NO_COLOR", "No colours in text, whatever its value."),
];

const FILES: [Entry; 2] = [
    (
        "~/.local/state/trunkline/archive.sqlite",
        "Results of all commands; trunkline-history(1) lists them.",
    ),
    (
        "~/.cache/trunkline/simulate",
        "Finished runs of simulations. May be deleted at any time.",
    ),
];

/// Pages that belong together.
const RELATED: [&[&str]; 5] = [
    &["copy", "limit", "serve", "verify"],
    &["measure", "tune", "sweep", "serve", "history"],
    &["path", "responsiveness", "measure", "serve"],
    &["simulate", "predict", "study", "emulate", "demo"],
    &["history", "report"],
];

/// Writes all of it.
pub(super) fn behind_options(command: &clap::Command, out: &mut dyn Write) -> io::Result<()> {
    let mut roff = Roff::new();
    let name = command.get_name();
    let emulate = (name == "emulate").then_some(EMULATE_STATUS);
    let copy = (name == "copy").then_some(COPY_STATUS);
    let further = emulate.into_iter().chain(copy);
    let status: Vec<Entry> = EXIT_STATUS.into_iter().chain(further).collect();
    entries(&mut roff, "EXIT STATUS", &status);
    entries(&mut roff, "ENVIRONMENT", &ENVIRONMENT);
    entries(&mut roff, "FILES", &FILES);
    if let Some(help) = command.get_after_help() {
        examples(&mut roff, &help.to_string());
    }
    see_also(&mut roff, name);
    roff.to_writer(out)
}

fn entries(roff: &mut Roff, title: &str, entries: &[Entry]) {
    roff.control("SH", [title]);
    for (name, meaning) in entries {
        roff.control("TP", []);
        roff.text([bold(*name)]);
        roff.text([roman(*meaning)]);
    }
}

/// The help's examples as they stand, what follows them as text.
fn examples(roff: &mut Roff, help: &str) {
    let (head, rest) = help.split_once("\n\n").unwrap_or((help, ""));
    let (title, lines) = head.split_once('\n').unwrap_or(("", head));
    roff.control("SH", ["EXAMPLES"]);
    if let Some((_, about)) = title.split_once(", ") {
        roff.text([roman(about.trim_end_matches(':'))]);
    }
    roff.control("nf", []);
    for line in lines.lines() {
        roff.text([roman(line.trim_start())]);
    }
    roff.control("fi", []);
    if !rest.is_empty() {
        roff.control("PP", []);
        roff.text([roman(rest)]);
    }
}

fn see_also(roff: &mut Roff, name: &str) {
    let mut pages: Vec<String> = vec!["trunkline".to_owned()];
    let groups = RELATED
        .iter()
        .filter(|group| group.contains(&name) || name == "trunkline");
    for page in groups.flat_map(|group| group.iter()) {
        let page = format!("trunkline-{page}");
        if !pages.contains(&page) {
            pages.push(page);
        }
    }
    let own = match name {
        "trunkline" => name.to_owned(),
        command => format!("trunkline-{command}"),
    };
    pages.retain(|page| *page != own);
    let pages: Vec<String> = pages.iter().map(|page| format!("{page}(1)")).collect();
    roff.control("SH", ["SEE ALSO"]);
    roff.text([roman(pages.join(", "))]);
}
