//! Every document says where it comes from: schema, version, command line, host and seed.

mod common;

use common::{complaint, run};
use serde_json::Value;

/// The document that a command prints.
fn document(arguments: &[&str]) -> Value {
    let output = run(arguments);
    assert!(output.status.success(), "{}", complaint(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn every_document_names_its_origin() {
    for line in [
        "measure sim:lan -t 1 --json",
        "tune sim:lan --json",
        "sweep sim:lan --streams 1 --cycles 1 --json",
        "path sim:lan --quick --json",
        "responsiveness sim:lan --json",
        "simulate lan -t 1s --no-cache --json",
        "simulate lan -P 1,2 -t 1s --no-cache --json",
        "simulate oc12-100ms -P 50 --fluid --no-history --json",
        "predict lan --json",
    ] {
        let command: Vec<&str> = line.split(' ').collect();
        let document = document(&command);
        let schema = document["schema"].as_str().unwrap();
        assert!(schema.starts_with("trunkline/"), "{line}: {schema}");
        assert!(document["schema_version"].is_u64(), "{line}");
        assert!(document["trunkline_version"].is_string(), "{line}");
        let words = document["command_line"].as_array().unwrap();
        let words = words.iter().skip(1).filter_map(Value::as_str);
        assert!(words.eq(command.iter().copied()), "{line}");
        assert!(document["host"]["kernel"].is_string(), "{line}");
        let random = command[0] != "predict";
        assert_eq!(document["seed"].is_u64(), random, "{line}");
    }
}
