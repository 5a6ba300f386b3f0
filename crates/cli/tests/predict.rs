//! Predictions and fits as a user runs them.

mod common;

use std::fs;
use std::path::Path;

use common::{complaint, run};
use serde_json::Value;

fn text(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{}", complaint(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&text(arguments)).unwrap()
}

fn refused(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(2), "{}", complaint(&output));
    complaint(&output)
}

fn write(folder: &Path, name: &str, text: &str) -> String {
    let file = folder.join(name);
    fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn a_named_path_gives_tables_that_fit_the_terminal() {
    for path in ["slac-cern", "lan", "shallow-queue", "dadc-dumbbell-cross12"] {
        let text = text(&["predict", path]);
        for word in [
            "streams", "Hacker", "Altman", "BDP1", "BDP6", "PFTK", "Use ",
        ] {
            assert!(text.contains(word), "{path}: {word}\n{text}");
        }
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= 80, "{path}: {widest}\n{text}");
    }
}

#[test]
fn the_document_is_the_table_and_can_be_shown_again() {
    let folder = tempfile::tempdir().unwrap();
    let (saved, page) = (folder.path().join("p.json"), folder.path().join("p.html"));
    let (saved, page) = (saved.to_str().unwrap(), page.to_str().unwrap());
    let asked = ["predict", "slac-cern", "-w", "64k", "-P", "1,8"];
    let first = text(&[&asked[..], &["--save", saved, "--report", page]].concat());
    assert!(text(&["report", saved]).ends_with(&first));
    let html = fs::read_to_string(page).unwrap();
    assert!(html.contains("<svg") && html.contains("equilibrium"));
    let document = json(&[&asked[..], &["--json"]].concat());
    assert_eq!(document["schema"], "trunkline/predict");
    assert_eq!(document["points"].as_array().unwrap().len(), 2);
    assert_eq!(document["points"][0]["limit"], "window");
    // Eight windows of 64 KiB each 165 ms are 25.4 Mbit/s at the most.
    let eight = document["points"][1]["goodput_bits_per_second"]
        .as_u64()
        .unwrap();
    assert!((20_000_000..25_400_000).contains(&eight), "{eight}");
    assert!(document.get("seed").is_none());
}

#[test]
fn another_congestion_control_answers_what_if() {
    let document = json(&["predict", "slac-cern", "-C", "bbr", "-P", "1", "--json"]);
    let bbr = document["points"][0]["goodput_bits_per_second"]
        .as_u64()
        .unwrap();
    assert!(bbr > 40_000_000, "{bbr}");
}

#[test]
fn wrong_requests_name_the_value_and_the_way_out() {
    let unknown = refused(&["predict", "slac-cern", "-C", "vegas"]);
    assert!(
        unknown.contains("`vegas`") && unknown.contains("hint: choose another"),
        "{unknown}"
    );
    assert!(refused(&["predict", "nowhere"]).contains("nowhere"));
    assert!(refused(&["predict"]).contains("PATH"));
    assert!(refused(&["predict", "lan", "-P", "5000"]).contains("4096"));
    assert!(refused(&["predict", "lan", "-w", "64k,128k"]).contains("takes one"));
    assert!(refused(&["predict", "lan", "--fit", "points.csv"]).contains("cannot be used with"));
}

#[test]
fn points_from_csv_get_a_knee_with_its_spread() {
    let folder = tempfile::tempdir().unwrap();
    // The full second order of a = 1e-4, b = -1.5e-3, c = 0.012, some 1 % off.
    let points = "streams,throughput\n1,9.81Mbit/s\n2,20.42Mbit/s\n4,46.34Mbit/s\n8,99.0Mbit/s\n\
                  16,138.57Mbit/s\n32,122.94Mbit/s\n";
    let file = write(folder.path(), "points.csv", points);
    let document = json(&["predict", "--fit", &file, "--json"]);
    let best = &document["recommended"];
    // The curve's peak is at 16, and 90 % of that are reached at 10.5.
    let streams = best["streams"].as_u64().unwrap();
    assert!((10..=12).contains(&streams), "{document}");
    assert!(best["spread"]["low_streams"].as_f64() <= best["spread"]["streams"].as_f64());
    let page = folder.path().join("fit.html");
    let shown = text(&[
        "predict",
        "--fit",
        &file,
        "--report",
        page.to_str().unwrap(),
    ]);
    assert!(shown.contains("full second order "), "{shown}");
    assert!(
        shown.lines().all(|line| line.chars().count() <= 80),
        "{shown}"
    );
    assert!(fs::read_to_string(page).unwrap().contains("measured"));
}

#[test]
fn a_saved_campaign_can_be_fitted() {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("grid.json");
    let saved = saved.to_str().unwrap();
    text(&[
        "simulate",
        "shallow-queue",
        "-P",
        "1,2,4,8",
        "-t",
        "3",
        "--no-cache",
        "--save",
        saved,
    ]);
    let document = json(&["predict", "--fit", saved, "--json"]);
    assert_eq!(document["samples"].as_array().unwrap().len(), 4);
    assert_eq!(document["models"].as_array().unwrap().len(), 5);
}

#[test]
fn bad_files_are_told_with_line_value_and_next_step() {
    let folder = tempfile::tempdir().unwrap();
    let bad = write(
        folder.path(),
        "bad.csv",
        "streams,throughput\n1,5Mbit/s\ntwo,9Mbit/s\n",
    );
    let told = refused(&["predict", "--fit", &bad]);
    assert!(
        told.contains("bad.csv:3: `two`") && told.contains("hint: write lines like"),
        "{told}"
    );
    let names = write(folder.path(), "names.csv", "n,rate\n1,5\n");
    assert!(refused(&["predict", "--fit", &names]).contains("no column `streams`"));
    let document = write(folder.path(), "other.json", "{\"schema\": \"other\"}");
    assert!(refused(&["predict", "--fit", &document]).contains("the schema is `other`"));
    assert!(refused(&["predict", "--fit", "missing.csv"]).contains("cannot read missing.csv"));
    let one = write(folder.path(), "one.csv", "streams,throughput\n1,5Mbit/s\n");
    assert!(text(&["predict", "--fit", &one]).contains("No form of the curve fits"));
}

#[test]
fn data_get_a_time_and_rates_their_loss() {
    let asked = [
        "predict",
        "slac-cern",
        "-P",
        "8",
        "--bytes",
        "1TB",
        "--loss-table",
    ];
    let told = text(&asked);
    for line in told.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert!(told.contains("Time for 1.00 TB") && told.contains("Loss that one stream bears"));
    let document = json(&[&asked[..], &["--json"]].concat());
    let times = document["transfer"]["times"].as_array().unwrap();
    let eight = times.iter().find(|time| time["streams"] == 8).unwrap();
    let seconds = eight["duration_seconds"].as_f64().unwrap();
    let rate = eight["rate_bits_per_second"].as_f64().unwrap();
    assert!((seconds * rate / 8e12 - 1.0).abs() < 1e-9);
    assert_eq!(document["acceptable_losses"].as_array().unwrap().len(), 36);
    let plain = json(&["predict", "slac-cern", "--json"]);
    assert!(plain["transfer"].is_null() && plain["acceptable_losses"].is_null());
}

#[test]
fn a_fit_is_explained_beside_the_rules_of_the_literature() {
    let folder = tempfile::tempdir().unwrap();
    let points = "streams,goodput\n1,4M\n2,8M\n4,15M\n8,26M\n16,38M\n32,41M\n";
    let file = write(folder.path(), "points.csv", points);
    let told = text(&["predict", "--fit", &file, "--explain"]);
    assert!(told.contains("What other rules choose") && told.contains("ExpSelection"));
    assert!(!text(&["predict", "--fit", &file]).contains("ExpSelection"));
    let told = refused(&["predict", "--fit", &file, "--bytes", "1GB"]);
    assert!(told.contains("cannot be used with"));
}
