//! The program on simulated paths: no rights, no sockets, the same answer every time.

mod common;

use common::{complaint, run};
use serde_json::Value;

fn json(arguments: &[&str]) -> Value {
    let output = run(arguments);
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        complaint(&output)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

fn number(document: &Value, path: &str) -> f64 {
    let value = document.pointer(path).and_then(Value::as_f64);
    value.unwrap_or_else(|| panic!("{path} is missing"))
}

/// Without what tells one call from another.
fn comparable(mut document: Value) -> Value {
    let keys = document.as_object_mut().unwrap();
    keys.remove("created");
    keys.remove("command_line");
    document
}

#[test]
fn the_same_seed_gives_the_same_document() {
    let measured = |seed| {
        comparable(json(&[
            "measure",
            "sim:slac-cern",
            "-P",
            "8",
            "-w",
            "64K",
            "--seed",
            seed,
            "--json",
        ]))
    };
    assert_eq!(measured("5"), measured("5"));
    assert_ne!(measured("5")["streams"], measured("6")["streams"]);
}

#[test]
fn a_measurement_has_everything_that_an_emulated_one_has() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let saved = folder.path().join("measure.json");
    let files = (page.to_str().unwrap(), saved.to_str().unwrap());
    let document = json(&[
        "measure",
        "sim:slac-cern",
        "-P",
        "8",
        "-w",
        "64K",
        "--json",
        "--report",
        files.0,
        "--save",
        files.1,
    ]);
    assert_eq!(document["target"]["kind"], "simulated");
    // Published: 26.8 Mbit/s; the emulated path carries 26.6.
    let goodput = number(&document, "/goodput_bits_per_second");
    assert!((23e6..30e6).contains(&goodput), "{goodput}");
    assert_eq!(document["streams"].as_array().unwrap().len(), 8);
    assert!(number(&document, "/rtt/unloaded/min_seconds") >= 0.165);
    assert!(number(&document, "/rtt/loaded/mean_seconds") >= 0.165);
    // Nothing ever waits for a processor.
    assert_eq!(document["cpu"], serde_json::json!({}));
    let again = run(&["report", files.1]);
    let again = String::from_utf8(again.stdout).unwrap();
    assert!(again.contains("sim:slac-cern"), "{again}");
    assert!(page.exists());
}

/// Truth that the path file states, and what the verdict makes of it.
#[test]
fn the_limit_is_the_one_that_was_put_there() {
    for (target, arguments, limit) in [
        ("sim:capped-buffers", &[][..], "receive-buffer"),
        ("sim:oc12-100ms", &["-w", "64K"][..], "receive-buffer"),
        ("sim:lan", &[][..], "link"),
        ("sim:oc3-80ms", &["-P", "16"][..], "link"),
        ("sim:slac-caltech", &["-P", "8"][..], "link"),
        // A loss comes every twenty seconds there: it takes a while to see that they repeat.
        ("sim:slac-cern", &["-t", "120"][..], "loss"),
        ("sim:slac-caltech", &[][..], "loss"),
    ] {
        let mut words = vec!["measure", target, "--json"];
        words.extend(arguments);
        let document = json(&words);
        let because = &document["limit_because"];
        let or = document["limit_or"].as_array();
        let is_named =
            document["limit"] == limit || or.is_some_and(|or| or.contains(&limit.into()));
        assert!(is_named, "{target}: {because}");
    }
}

/// Of 45 Mbit/s, 43.44 are payload, and one default stream carries 6 to 12 of them.
#[test]
fn the_tuner_fills_the_simulated_path_that_one_stream_leaves_empty() {
    let mut rates = Vec::new();
    for seed in ["1", "2", "3", "4", "5", "6", "7", "8", "9"] {
        let words = ["tune", "sim:slac-cern", "--seed", seed, "--json"];
        let document = json(&[&words[..], &["--no-history"]].concat());
        let throughput = number(&document, "/recommended/goodput_bits_per_second");
        assert!((30e6..46e6).contains(&throughput), "{seed}: {throughput}");
        // What is recommended fills the link, or nearly: then losses before a queue of a seventh of
        // the product leave the rest.
        let named = document["limit"].as_str().unwrap();
        assert!(
            ["link", "loss", "shallow-queue"].contains(&named),
            "{seed}: {named}"
        );
        rates.push(throughput);
    }
    rates.sort_by(f64::total_cmp);
    assert!(rates[4] > 39e6, "{rates:?}");
}

#[test]
fn what_a_simulation_cannot_do_is_refused_before_anything_runs() {
    for (arguments, words) in [
        (&["--bidir"][..], "one way at a time"),
        (&["-C", "westwood"][..], "known: tahoe"),
    ] {
        let mut all = vec!["measure", "sim:lan"];
        all.extend(arguments);
        let output = run(&all);
        assert_eq!(output.status.code(), Some(2));
        let complaint = complaint(&output);
        assert!(complaint.contains(words), "{complaint}");
        assert!(complaint.contains("hint: "), "{complaint}");
    }
}

#[test]
fn the_studies_are_listed_and_a_folder_that_cannot_be_made_costs_no_run() {
    let output = run(&["study"]);
    let told = String::from_utf8(output.stdout).unwrap();
    for name in ["windows", "lecture", "buffers", "taiwan", "striping"] {
        assert!(told.lines().any(|line| line.starts_with(name)), "{told}");
    }
    assert!(
        told.lines().all(|line| line.chars().count() <= 80),
        "{told}"
    );
    let output = run(&["study", "all", "--out", "/dev/null/below"]);
    assert!(!output.status.success());
    assert!(complaint(&output).contains("/dev/null/below"));
}
