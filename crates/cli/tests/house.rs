//! The invariants of ARCHITECTURE.md that the compiler does not check.

#[path = "house/circles.rs"]
mod circles;
#[path = "house/tidy.rs"]
mod tidy;

use std::fs;
use std::path::{Path, PathBuf};

/// Folders below `crates`, and the crates in each. Every crate may use those before it, never one
/// after it.
const AREAS: [(&str, &[&str]); 9] = [
    (
        "base",
        &["schema", "errors", "units", "stats", "models", "testkit"],
    ),
    (
        "path",
        &[
            "netpath",
            "link",
            "rate_control",
            "sim",
            "observe",
            "emu",
            "simulation_grid",
            "predict",
        ],
    ),
    (
        "net",
        &[
            "measure_protocol",
            "copy_protocol",
            "sockets",
            "probe_net",
            "quic_net",
            "copy_net",
        ],
    ),
    (
        "measure",
        &[
            "endpoints",
            "inference",
            "tune",
            "sweep",
            "probing",
            "movers",
            "target",
        ],
    ),
    ("copy", &["steer", "files", "transfer", "remote_files"]),
    (
        "output",
        &["record", "archive", "draw", "report", "studies"],
    ),
    (
        "watch",
        &[
            "changes",
            "watch_plan",
            "watch_store",
            "watch_flows",
            "watch_run",
            "watch_alerts",
            "watch_metrics",
            "watch_web",
        ],
    ),
    ("campaign", &["campaign_plan", "campaign_store"]),
    (
        "",
        &["trunkline", "trunkline_watch", "trunkline_campaign", "cli"],
    ),
];

/// All crates, in this order.
fn order() -> impl Iterator<Item = &'static str> {
    AREAS.iter().flat_map(|(_, names)| names.iter().copied())
}

/// Where a crate stands.
fn folder(name: &str) -> PathBuf {
    let area = AREAS.iter().find(|(_, names)| names.contains(&name));
    let (area, _) = area.unwrap_or_else(|| panic!("{name} is in no area"));
    crates().join(area).join(name)
}

/// Crates without clock, socket, thread, environment or unseeded randomness.
const PURE: [&str; 22] = [
    "errors",
    "units",
    "stats",
    "models",
    "netpath",
    "link",
    "rate_control",
    "sim",
    "observe",
    "inference",
    "measure_protocol",
    "copy_protocol",
    "tune",
    "steer",
    "sweep",
    "probing",
    "changes",
    "watch_plan",
    "campaign_plan",
    "watch_metrics",
    "predict",
    "movers",
];

const IMPURE: [&str; 10] = [
    "Instant::now",
    "SystemTime",
    "TcpStream",
    "TcpListener",
    "UdpSocket",
    "thread::",
    "env::",
    "from_os_rng",
    "jiff::",
    "tracing::",
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files below `folder` that end in `.ending`, whole.
fn files(folder: &Path, ending: &str) -> Vec<(PathBuf, String)> {
    let mut folders = vec![folder.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let file = entry.unwrap().path();
            if file.is_dir() {
                folders.push(file);
            } else if file.extension().is_some_and(|other| other == ending) {
                let text = fs::read_to_string(&file).unwrap();
                files.push((file, text));
            }
        }
    }
    files
}

/// The sources of a crate, without its tests.
fn sources(name: &str) -> Vec<(PathBuf, String)> {
    let is_test = |file: &Path| file.components().any(|part| part.as_os_str() == "tests.rs");
    let mut sources = files(&folder(name).join("src"), "rs");
    assert!(!sources.is_empty(), "{name} has no sources");
    sources.retain(|(file, _)| !is_test(file));
    for (_, text) in &mut sources {
        *text = code_of(text);
    }
    sources
}

/// What stands before the tests, without comments.
fn code_of(text: &str) -> String {
    let before_tests = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = before_tests
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn pure_crates_touch_nothing_outside_themselves() {
    for name in PURE {
        for (file, code) in sources(name) {
            for word in IMPURE {
                assert!(!code.contains(word), "{}: `{word}`", file.display());
            }
        }
    }
}

#[test]
fn make_quick_has_the_pure_crates() {
    let makefile = fs::read_to_string(crates().join("../Makefile")).unwrap();
    let list = format!("PURE := {}\n", PURE.join(" "));
    assert!(makefile.contains(&list), "Makefile lacks `{list}`");
}

#[test]
fn arrows_point_up_the_list_only() {
    let place = |name: &str| order().position(|known| known == name);
    for (index, name) in order().enumerate() {
        let manifest = folder(name).join("Cargo.toml");
        let text = fs::read_to_string(&manifest).unwrap();
        for used in named(&text, "[dependencies]") {
            if let Some(other) = place(used) {
                assert!(other < index, "{name} uses {used}, which stands below it");
            }
        }
    }
}

/// The names in a section of a manifest.
fn named<'a>(manifest: &'a str, section: &str) -> Vec<&'a str> {
    let lines = manifest.split(section).nth(1).unwrap_or_default();
    let lines = lines.split("\n[").next().unwrap_or_default();
    let names = lines
        .lines()
        .filter_map(|line| line.split(['.', ' ', '=']).next());
    names.collect()
}

#[test]
fn the_program_uses_the_three_libraries_and_no_other_room() {
    let manifest = fs::read_to_string(crates().join("cli/Cargo.toml")).unwrap();
    for (section, own) in [
        (
            "[dependencies]",
            &["trunkline", "trunkline_watch", "trunkline_campaign"][..],
        ),
        ("[dev-dependencies]", &["testkit"]),
    ] {
        let names = named(&manifest, section);
        for own in own {
            assert!(names.contains(own), "{section} lacks {own}");
        }
        for name in names
            .into_iter()
            .filter(|name| order().any(|own| own == *name))
        {
            assert!(own.contains(&name), "{section} has {name}");
        }
    }
}

#[test]
fn every_crate_has_a_place_in_the_list() {
    let names = |folder: PathBuf| {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap())
    };
    for (area, listed) in AREAS {
        let others: Vec<&str> = AREAS.iter().map(|(area, _)| *area).collect();
        let found = names(crates().join(area)).filter(|name| !others.contains(&name.as_str()));
        for name in found {
            assert!(
                listed.contains(&name.as_str()),
                "{area}/{name} is not in the list"
            );
        }
    }
}

#[test]
fn the_program_itself_calculates_nothing() {
    for (file, code) in sources("cli") {
        for line in code.lines() {
            let outside_texts: String = line.split('"').step_by(2).collect();
            for operator in [" * ", " / ", " % ", "as f64"] {
                assert!(
                    !outside_texts.contains(operator),
                    "{}: {line}",
                    file.display()
                );
            }
        }
    }
}

#[test]
fn unsafe_code_stays_in_its_three_rooms() {
    let rooms = ["emu", "sockets", "probe_net"];
    for name in order().filter(|name| !rooms.contains(name)) {
        for (file, code) in sources(name) {
            assert!(!code.contains("unsafe "), "{}", file.display());
        }
    }
}

#[test]
fn the_table_of_rooms_has_the_order_of_the_list() {
    let page = fs::read_to_string(crates().join("../ARCHITECTURE.md")).unwrap();
    let table = page.split("## The rooms").nth(1).unwrap();
    let table = table.split("\n## ").next().unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
    let names: Vec<&str> = rows.filter_map(|row| row.split('`').next()).collect();
    assert_eq!(names, order().collect::<Vec<_>>());
}

#[test]
fn one_file_decides_where_the_log_goes() {
    for name in order().filter(|name| *name != "trunkline") {
        for (file, code) in sources(name) {
            assert!(!code.contains("tracing_subscriber"), "{}", file.display());
        }
    }
}

#[test]
fn no_output_can_depend_on_the_order_of_a_hash_map() {
    for name in order() {
        for (file, code) in sources(name) {
            // The model of copies looks digests up and never walks them.
            let model = file.components().any(|part| part.as_os_str() == "model");
            let hashes = code.contains("HashMap") || code.contains("HashSet");
            assert!(!hashes || model, "{}", file.display());
        }
    }
}
