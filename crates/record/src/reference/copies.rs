//! The keys of copies and of their events.

use serde_json::Value;

use super::{COMMON, Keys, all_of, at, documented, keys, without};
use crate::{CopyEventLine, CopyLog, CopyRequest, Document, synthetic};

/// A copy in which every optional key is there.
fn full() -> Document<crate::Copy> {
    let mut document = synthetic::copy();
    let spec = synthetic::full_copy_spec();
    let request = CopyRequest {
        spec: &spec,
        sources: &[],
        destination: "",
    };
    let mut outcome = synthetic::copy_outcome();
    outcome.failed[0].below = 3;
    outcome.left_out.push(synthetic::no_content());
    let full = crate::Copy::new(&request, CopyLog::default(), &outcome, None);
    document.body.asked = full.asked;
    document.body.failed = full.failed;
    document.body.left_out = full.left_out;
    document.body.removed = full.removed;
    document.body.cut_because = Some("the copy was stopped".to_owned());
    document
}

#[test]
fn every_key_of_a_copy_is_documented_and_the_other_way_round() {
    let found = without(keys(&full().to_json()), &[&all_of(&COMMON)]);
    assert_eq!(found, documented("copy"));
}

#[test]
fn every_key_of_an_event_is_documented_and_the_other_way_round() {
    let mut lines: Vec<CopyEventLine> = synthetic::events().iter().map(Into::into).collect();
    lines.push(CopyEventLine::Error {
        what: "no".to_owned(),
        hint: Some("yes".to_owned()),
    });
    let mut found = Keys::new();
    for line in lines {
        let text = line.to_line();
        let value: Value = serde_json::from_str(&text).unwrap();
        let event = value["event"].as_str().unwrap().to_owned();
        let named = |key: String| (key != "event").then(|| format!("{event}.{key}"));
        found.extend(keys(&text).into_iter().filter_map(named));
    }
    assert_eq!(found, documented("Events of a copy"));
}

#[test]
fn what_scripts_rely_on_in_a_copy_is_where_it_was_promised() {
    let line = synthetic::copy().to_line();
    assert!(line.starts_with("{\"schema\":\"trunkline/copy\",\"schema_version\":3,"));
    assert_eq!(line.matches('\n').count(), 1);
    assert_eq!(at(&line, "/target/name"), "dtn1.example.org");
    assert_eq!(at(&line, "/direction"), "forward");
    assert_eq!(at(&line, "/files"), 1201);
    assert_eq!(at(&line, "/failed/0/kind"), "permission");
    assert_eq!(at(&line, "/limit/by"), "link");
    assert!(at(&line, "/goodput_bits_per_second").is_u64());
    assert!(at(&line, "/readings/9/rtt_seconds").is_f64());
}
