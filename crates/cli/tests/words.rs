//! What is taken alike by every command, and what programs can read of what they print.

mod common;

use std::fs;

use common::{complaint, run};
use serde_json::Value;

fn printed(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        complaint(&output)
    );
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(arguments)).unwrap()
}

#[test]
fn a_path_may_have_the_prefix_of_a_target() {
    for name in ["lan", "sim:lan", "emu:lan"] {
        let document = json(&["predict", name, "--json"]);
        assert_eq!(document["path"]["name"], "lan", "{name}");
        let document = json(&["simulate", name, "-t", "1", "--no-cache", "--json"]);
        assert_eq!(document["path"]["name"], "lan", "{name}");
    }
}

#[test]
fn a_page_has_two_names() {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("p.json");
    let saved = saved.to_str().unwrap();
    for option in ["--report", "--html"] {
        let page = folder.path().join("page.html");
        let page = page.to_str().unwrap();
        printed(&["predict", "lan", option, page, "--save", saved]);
        assert!(fs::read_to_string(page).unwrap().contains("<svg"));
        printed(&["report", saved, option, page]);
        printed(&["measure", "sim:lan", "-t", "1", option, page]);
        printed(&["history", "1", option, page]);
        assert!(fs::read_to_string(page).unwrap().contains("<svg"));
    }
}

#[test]
fn plots_are_there_unless_there_is_nothing_to_draw() {
    let folder = tempfile::tempdir().unwrap();
    let plots = folder.path().to_str().unwrap();
    printed(&["measure", "sim:lan", "-t", "1"]);
    printed(&["history", "1", "--plots", plots]);
    assert!(folder.path().join("over-time-sending.svg").exists());
    printed(&["responsiveness", "sim:lan", "-t", "1"]);
    printed(&["history", "2", "--plots", plots]);
    assert!(folder.path().join("round-trips-forward.svg").exists());
    let brief = folder.path().join("brief.json");
    let brief = brief.to_str().unwrap();
    printed(&["measure", "sim:lan", "-t", "1", "--brief", "--save", brief]);
    let output = run(&["report", brief, "--plots", plots]);
    assert_eq!(output.status.code(), Some(2));
    assert!(complaint(&output).contains("there are no plots of this measure"));
}

#[test]
fn a_failure_is_an_object_where_json_is_asked_for() {
    for (arguments, part) in [
        (
            &["measure", "sim:nowhere", "--json"][..],
            "neither a named path",
        ),
        (
            &["predict", "--fit", "no.csv", "--json"],
            "cannot read no.csv",
        ),
        (
            &["history", "77", "--history", "no.sqlite", "--json"],
            "no.sqlite",
        ),
        (
            &["tune", "sim:lan", "--json", "--streams-max", "0"],
            "--streams-max",
        ),
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let line: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(line["event"], "error", "{arguments:?}");
        assert!(line["what"].as_str().unwrap().contains(part), "{line}");
        assert!(complaint(&output).contains(part), "{arguments:?}");
    }
    let output = run(&["measure", "sim:nowhere"]);
    assert!(output.stdout.is_empty());
}

#[test]
fn a_document_that_was_printed_is_the_only_one() {
    let output = run(&[
        "simulate",
        "lan",
        "-n",
        "1GB",
        "-t",
        "100ms",
        "--no-cache",
        "--json",
    ]);
    assert_eq!(output.status.code(), Some(1));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["schema"], "trunkline/simulate");
    assert!(complaint(&output).contains("left data"));
}

#[test]
fn a_brief_document_is_small_and_says_the_same() {
    let arguments = ["measure", "sim:lan", "-P", "8", "-t", "5", "--json"];
    let (long, short) = (
        printed(&arguments),
        printed(&[&arguments[..], &["--brief"]].concat()),
    );
    assert!(
        short.len() * 5 < long.len(),
        "{} of {}",
        short.len(),
        long.len()
    );
    let long: Value = serde_json::from_str(&long).unwrap();
    let short: Value = serde_json::from_str(&short).unwrap();
    for key in ["goodput_bits_per_second", "interval", "limit", "directions"] {
        assert_eq!(long[key], short[key], "{key}");
    }
    assert_eq!(short["streams"][0]["tcp"], serde_json::json!([]));
}

#[test]
fn the_first_questions_to_a_search_are_answered_at_the_top() {
    let document = json(&["tune", "sim:lan", "--no-history", "--json", "--brief"]);
    let recommended = &document["recommended"];
    assert!(recommended["streams"].is_u64() && recommended["goodput_bits_per_second"].is_u64());
    let sample = recommended["sample"].as_u64().unwrap() as usize;
    assert_eq!(document["limit"], document["samples"][sample]["limit"]);
    assert!(document["limit_default"]["limit"].is_string());
}

#[test]
fn rows_can_be_fitted_as_they_stand() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let place = folder.path().join(name);
        fs::write(&place, text).unwrap();
        place.to_str().unwrap().to_owned()
    };
    let samples = |arguments: &[&str]| {
        let arguments = [&["predict", "--json", "--fit"], arguments].concat();
        json(&arguments)["samples"].as_array().unwrap().len()
    };
    let grid = [
        "simulate",
        "lan",
        "-P",
        "1,2,4",
        "-w",
        "auto,64k",
        "-t",
        "1",
        "--no-cache",
    ];
    let saved = folder.path().join("grid.json");
    let saved = saved.to_str().unwrap();
    let csv = printed(&[&grid[..], &["--csv", "--save", saved]].concat());
    assert_eq!(csv.lines().count(), 7, "{csv}");
    let csv = file("grid.csv", &csv);
    for from in [saved, &csv] {
        let output = run(&["predict", "--fit", from]);
        assert!(
            complaint(&output).contains("--window"),
            "{}",
            complaint(&output)
        );
        assert_eq!(samples(&[from, "-w", "64k"]), 3);
    }
    let sweep = folder.path().join("sweep.json");
    let sweep = sweep.to_str().unwrap();
    let visits = printed(&[
        "sweep", "sim:lan", "-P", "1,2,4", "--cycles", "2", "-t", "1", "--csv", "--save", sweep,
    ]);
    assert_eq!(samples(&[&file("visits.csv", &visits)]), 6);
    assert_eq!(samples(&[sweep]), 6);
    for streams in ["1", "2"] {
        let row = printed(&["measure", "sim:lan", "-P", streams, "-t", "1", "--csv"]);
        assert_eq!(row.lines().count(), 2, "{row}");
    }
    let list = printed(&["history", "--csv"]);
    assert_eq!(samples(&[&file("history.csv", &list)]), 2);
}

#[test]
fn each_entry_of_a_piped_list_is_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder
        .path()
        .join(format!("{}.toml", "a-long-name".repeat(12)));
    fs::write(
        &path,
        "[forward]\nrate = \"10Mbit/s\"\ndelay = \"1ms\"\nqueue = { kind = \"drop-tail\", limit = \
            \"64KiB\" }\n",
    )
    .unwrap();
    let target = format!("sim:{}", path.display());
    printed(&["measure", &target, "-t", "1"]);
    let list = printed(&["history"]);
    assert_eq!(list.lines().count(), 2, "{list}");
}

#[test]
fn runs_of_different_kinds_are_not_compared() {
    printed(&["measure", "sim:lan", "-t", "1"]);
    printed(&["simulate", "lan", "-t", "1", "--no-cache"]);
    let output = run(&["history", "--compare", "1", "2"]);
    assert_eq!(output.status.code(), Some(2));
    let told = complaint(&output);
    assert!(
        told.contains("run 1 is a `measure` and run 2 a `simulate`"),
        "{told}"
    );
    printed(&["measure", "sim:lan", "-t", "1", "-P", "2"]);
    printed(&["history", "--compare", "1", "3"]);
}
