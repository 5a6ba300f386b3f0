//! Pages and sources as the style page of CONTRIBUTING.md asks: lines of 100 columns, plain words,
//! links that lead somewhere.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{crates, files, folder, order};

/// Words that stand where a noun should.
const RIDDLES: [&str; 3] = ["somebody", "nobody", "whoever"];

/// Pages outside `docs`.
const PAGES: [&str; 7] = [
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "bench/README.md",
    "fuzz/README.md",
];

/// All pages, with their text.
fn pages() -> Vec<(PathBuf, String)> {
    let root = crates().join("..");
    let mut pages = files(&root.join("docs"), "md");
    for page in PAGES {
        let text = fs::read_to_string(root.join(page)).unwrap();
        pages.push((root.join(page), text));
    }
    pages
}

/// Lines of more than 100 columns; one with an address cannot be broken.
fn wide(text: &str) -> usize {
    let wide = |line: &&str| line.chars().count() > 100 && !line.contains("://");
    text.lines().filter(wide).count()
}

/// The lines of a page that can be broken: no tables, pictures or output of programs.
fn prose(page: &str) -> String {
    let outside_blocks = page.split("```").step_by(2);
    let breakable = |line: &&str| !line.starts_with('|') && !line.starts_with("![");
    let lines = outside_blocks.flat_map(str::lines).filter(breakable);
    lines.collect::<Vec<_>>().join("\n")
}

fn riddles(text: &str) -> usize {
    let text = text.to_lowercase();
    RIDDLES.iter().map(|word| text.matches(word).count()).sum()
}

/// The most lines of a function.
const LONGEST: usize = 60;

/// Functions of more lines: from `fn` to the brace below it, as rustfmt lays them out.
fn long(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let begins = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().take(4).collect();
        words.contains(&"fn") && !line.ends_with(';') && !line.trim_start().starts_with("//")
    };
    let is_long = |(at, line): &(usize, &&str)| {
        let end = format!("{}}}", " ".repeat(indent(line)));
        let length = lines[*at..].iter().position(|line| *line == end);
        begins(line) && length.is_some_and(|length| length + 1 > LONGEST)
    };
    lines.iter().enumerate().filter(is_long).count()
}

/// Wide lines, long functions and riddles of every crate, and of the pages, as they are now.
fn counts() -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let mut count = |place: &str, wide: usize, riddles: usize| {
        *counts.entry(format!("wide {place}")).or_insert(0) += wide;
        *counts.entry(format!("riddles {place}")).or_insert(0) += riddles;
    };
    let mut long_ones = BTreeMap::new();
    for name in order() {
        for (file, text) in files(&folder(name), "rs") {
            // This file has to name the words.
            if !file.ends_with("house/tidy.rs") {
                count(name, wide(&text), riddles(&text));
                *long_ones.entry(format!("long {name}")).or_insert(0) += long(&text);
            }
        }
    }
    for (_, text) in pages() {
        // The style page has to name the words, too.
        let ours = text.split("| instead of | write |").next().unwrap();
        count("pages", wide(&prose(&text)), riddles(ours));
    }
    counts.append(&mut long_ones);
    counts
}

/// The allowed counts, one `WHAT PLACE NUMBER` a line.
fn ratchet() -> PathBuf {
    crates().join("cli/tests/house/ratchet.txt")
}

fn allowed() -> BTreeMap<String, usize> {
    let text = fs::read_to_string(ratchet()).unwrap();
    let lines = text.lines().filter_map(|line| line.rsplit_once(' '));
    let numbers = lines.map(|(name, number)| (name.to_owned(), number.parse().unwrap()));
    numbers.collect()
}

/// Wide lines, long functions and riddles may only become fewer: no change of `ratchet.txt` raises a number.
/// `BLESS=1` writes the numbers of now.
#[test]
fn wide_lines_long_functions_and_riddles_become_no_more() {
    let now = counts();
    if std::env::var_os("BLESS").is_some() {
        let mut text = String::new();
        for (name, number) in now.iter().filter(|(_, number)| **number > 0) {
            writeln!(text, "{name} {number}").unwrap();
        }
        fs::write(ratchet(), text).unwrap();
    }
    let allowed = allowed();
    for (name, number) in now {
        let most = allowed.get(&name).copied().unwrap_or(0);
        assert!(number <= most, "{name}: {number}, allowed {most}");
    }
}

/// Phrases of pages about what was not there yet when they were written.
const STALE: [&str; 3] = ["is being built", "no command does", "not implemented yet"];

/// A file below `crates`, its constant; then pages below `docs`, the line that says its value.
const VERSIONS: &str = "
net/copy_protocol/src/version.rs COPYING_VERSION
    reference/copy-protocol.md # The copy protocol, version {}
    reference/copy-protocol.md | 3..5 | version: {} |
    guide/installing.md the copy protocol | {} |
net/copy_protocol/src/remote.rs REMOTE_VERSION
    reference/file-access.md # The file access protocol, version {}
    guide/installing.md file access | {} |
net/copy_protocol/src/third_party.rs THIRD_PARTY_VERSION
    reference/third-party.md # Third-party copies, version {}
    reference/third-party.md version: u16, {}.
net/copy_protocol/src/pipe.rs PIPE_VERSION
    reference/copy-protocol.md unknown length, version {}.
    guide/installing.md pipes | {} |
net/measure_protocol/src/iperf3/extension.rs VERSION
    guide/installing.md the extension | {} |
net/measure_protocol/src/trains.rs PROBING_VERSION
    guide/installing.md packet trains | {} |
output/record/src/document.rs SCHEMA_VERSION
    guide/installing.md up to this one | {} |
watch/watch_run/src/link/message.rs LINK_VERSION
    guide/installing.md reports | {} |
campaign/campaign_store/src/line.rs VERSION
    guide/installing.md manifests | {} |
../Cargo.toml version
    ../CITATION.cff version: {}
    ../CHANGELOG.md ## {}";

/// The value of a constant, or of a key of TOML.
fn value(file: &str, name: &str) -> String {
    let source = fs::read_to_string(crates().join(file)).unwrap();
    let names = |left: &str| left.split([' ', ':']).any(|word| word == name);
    let mut pairs = source.lines().filter_map(|line| line.split_once(" = "));
    let (_, value) = pairs.find(|(left, _)| names(left)).unwrap();
    value.trim_matches([';', '"']).to_owned()
}

#[test]
fn pages_say_the_versions_that_the_program_has() {
    let mut now = String::new();
    for line in VERSIONS.lines().skip(1) {
        let (file, rest) = line.trim_start().split_once(' ').unwrap();
        if !line.starts_with(' ') {
            now = value(file, rest);
            continue;
        }
        let text = fs::read_to_string(crates().join("../docs").join(file)).unwrap();
        let wanted = rest.replace("{}", &now);
        assert!(text.contains(&wanted), "{file} lacks `{wanted}`");
    }
}

/// Pages promise nothing that is to come. Decisions and the change log keep what was true then.
#[test]
fn pages_say_what_the_program_is_now() {
    for (file, text) in pages() {
        let name = file.display().to_string();
        if name.contains("decisions") || name.ends_with("CHANGELOG.md") {
            continue;
        }
        for phrase in STALE {
            assert!(!text.contains(phrase), "{name}: `{phrase}`");
        }
    }
}

/// Where the links of a page lead, without anchors: `[text](place)` and `[name]: place`.
fn links(page: &str) -> Vec<&str> {
    let inline = page
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    let named = page.lines().filter_map(|line| {
        let line = line.strip_prefix('[')?;
        line.split_once("]: ").map(|(_, place)| place)
    });
    let places = inline
        .chain(named)
        .filter(|place| !place.contains("://"))
        .filter_map(|place| place.split('#').next());
    places.filter(|place| !place.is_empty()).collect()
}

#[test]
fn every_link_leads_to_a_file() {
    for (page, text) in pages() {
        let folder = page.parent().unwrap_or(Path::new(""));
        for link in links(&text) {
            let there = folder.join(link).exists();
            assert!(there, "{}: no `{link}`", page.display());
        }
    }
}
