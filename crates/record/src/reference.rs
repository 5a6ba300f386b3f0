//! Tests that hold `docs/reference/json.md` and the promised keys to the documents.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::archive::{Comparison, Entry, Essence, Listed, Listing, SweepEntry};
use crate::simulate::AccessLink;
use crate::sweep::{CellFigures, RoundTripFigures, StreamFigures};
use crate::synthetic::{self, Case};
use crate::{
    Count, Direction, Document, DuplexCounters, Emulation, Interval, Limit, LinkCounters,
    LoadCounters, Measure, Objective, Run, Schema, Setting, Simulate, Sweep, SweepCell, SweepPlan,
    Target, Tune, Unsettled, Window,
};

const PAGE: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/reference/json.md"
));

type Keys = BTreeSet<String>;

/// The first cells of the table under the heading `section`.
fn documented(section: &str) -> Keys {
    let heading = format!("## {section}");
    let lines = PAGE.lines().skip_while(|line| *line != heading).skip(1);
    let lines = lines.take_while(|line| !line.starts_with("## "));
    let key = |line: &str| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned());
    lines.filter_map(key).collect()
}

/// The path of every value in `value` that is not an object or a list.
fn leaves(value: &Value, path: &str, found: &mut Keys) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            let dot = if path.is_empty() { "" } else { "." };
            leaves(value, &format!("{path}{dot}{key}"), found);
        }),
        Value::Array(list) => list
            .iter()
            .for_each(|value| leaves(value, &format!("{path}[]"), found)),
        Value::Null => panic!("{path} is null"),
        _ => drop(found.insert(path.to_owned())),
    }
}

fn keys(json: &str) -> Keys {
    let mut found = Keys::new();
    leaves(&serde_json::from_str(json).unwrap(), "", &mut found);
    found
}

/// A run in which every optional key is there.
fn fill(run: &mut Run) {
    run.setting.congestion = Some("cubic".to_owned());
    run.setting.pacing_bits_per_second = Some(1);
    run.setting.mss_bytes = Some(1448);
    run.limit_or = vec![Limit::Loss];
    run.could_reach_bits_per_second = Some(1);
    run.window_needed_bytes = Some(1);
    run.steady.unsettled = Some(Unsettled::TotalsOnly);
    run.directions[0].steady.unsettled = Some(Unsettled::NeverSettled);
    for steady in [&mut run.steady, &mut run.directions[0].steady] {
        steady.takes_seconds = Some(1.0);
    }
}

fn full_measure() -> Document<Measure> {
    let mut document = synthetic::measure(&Case {
        window: observe::Window::Fixed(units::Bytes::from_kib(64)),
        ..Case::streams(2, 1)
    });
    fill(&mut document.body.run);
    document
}

fn fill_answer(answer: &mut crate::Answer) {
    for cause in [&mut answer.limit, &mut answer.limit_default] {
        cause.limit_or = vec![Limit::Host];
        cause.could_reach_bits_per_second = Some(1);
        cause.window_needed_bytes = Some(1);
    }
    answer.recommended.congestion = Some("bbr".to_owned());
    answer.recommended.pacing_bits_per_second = Some(1);
    answer.unpaced = Some(answer.recommended.clone());
}

fn full_tune(objective: Objective) -> Document<Tune> {
    let mut document = synthetic::tune(1);
    let tune = &mut document.body;
    tune.objective = objective;
    tune.cut_because = Some("no time".to_owned());
    tune.drift = Some("another route".to_owned());
    tune.samples[1].doubt = Some(crate::Doubt {
        counts_for_bits_per_second: Some(1),
        because: "it was short".to_owned(),
    });
    fill_answer(tune.answer.as_mut().unwrap());
    document
}

fn full_emulation() -> Document<Emulation> {
    let count = Count {
        packets: 1,
        bytes: 1500,
    };
    let counters = LinkCounters {
        offered: count,
        delivered: count,
        dropped_queue_full: count,
        dropped_early: count,
        dropped_sojourn: count,
        dropped_wire_loss: count,
        in_flight: count,
        marked: count,
        queue_peak_bytes: 1500,
        load: Some(LoadCounters {
            offered: count,
            delivered: count,
            dropped_queue_full: count,
            dropped_early: count,
            dropped_sojourn: count,
            dropped_wire_loss: count,
            in_flight: count,
        }),
    };
    let link = DuplexCounters {
        forward: counters,
        reverse: counters,
    };
    let body = Emulation {
        path: "slac-cern".to_owned(),
        path_description: "SLAC to CERN".to_owned(),
        near_command: vec!["iperf3".to_owned()],
        far_command: Some("iperf3 -s".to_owned()),
        exit_code: 0,
        forward: counters,
        reverse: counters,
        before: vec![link],
        beyond: vec![link],
    };
    Document::new(synthetic::demo(1).origin, body)
}

/// The keys of several tables.
fn all_of(sections: &[&str]) -> Keys {
    sections
        .iter()
        .flat_map(|section| documented(section))
        .collect()
}

/// Every measuring document has these beside its own.
const COMMON: [&str; 2] = ["Every document", "The target"];

fn without(keys: Keys, others: &[&Keys]) -> Keys {
    keys.into_iter()
        .filter(|key| !others.iter().any(|other| other.contains(key)))
        .collect()
}

/// Keys below `prefix`, without it.
fn below(keys: &Keys, prefix: &str) -> Keys {
    keys.iter()
        .filter_map(|key| key.strip_prefix(prefix))
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_key_of_a_measure_is_documented_and_the_other_way_round() {
    let expected = all_of(&["Every document", "The target", "A run"]);
    assert_eq!(keys(&full_measure().to_json()), expected);
}

#[test]
fn every_key_of_a_tune_is_documented_and_the_other_way_round() {
    let gentle = Objective::Gentle {
        added_rtt_max_seconds: 0.03,
        retransmitted_max_ratio: 0.001,
    };
    let mut found = keys(&full_tune(gentle).to_json());
    found.append(&mut keys(
        &full_tune(Objective::Knee { share: 0.9 }).to_json(),
    ));
    let samples = below(&found, "samples[].");
    let own = found
        .into_iter()
        .filter(|key| !key.starts_with("samples[]."))
        .collect();
    let mut own = without(own, &[&all_of(&COMMON)]);
    let extra = without(samples, &[&documented("A run")]);
    own.extend(extra.iter().map(|key| format!("samples[].{key}")));
    assert_eq!(own, documented("tune"));
}

#[test]
fn every_key_of_a_demo_is_documented_and_the_other_way_round() {
    let found = keys(&synthetic::demo(1).to_json());
    let runs = without(below(&found, "runs[]."), &[&documented("A run")]);
    let rest = found
        .iter()
        .filter(|key| !key.starts_with("runs[].") && !key.starts_with("tune."));
    let mut own = without(rest.cloned().collect(), &[&all_of(&COMMON)]);
    own.extend(runs.iter().map(|key| format!("runs[].{key}")));
    own.insert("tune".to_owned());
    assert_eq!(own, documented("demo"));
}

#[test]
fn every_key_of_an_emulation_is_documented_and_the_other_way_round() {
    let found = keys(&full_emulation().to_json());
    let (forward, reverse) = (below(&found, "forward."), below(&found, "reverse."));
    assert_eq!(forward, reverse);
    let links = ["reverse", "before[].forward", "before[].reverse", "beyond"];
    let own = without(found, &[&documented("Every document")]);
    assert_eq!(folded_below(own, &links), documented("emulate"));
}

/// A simulate document in which every optional key is there, whatever belongs to it.
fn full_simulate() -> Document<Simulate> {
    let mut document = synthetic::transfer(false);
    // Of data with an end these two are absent.
    document.body.figures.cross = synthetic::simulate(8).body.figures.cross;
    let body = &mut document.body;
    body.scenario.per_stream_bytes = Some(1);
    body.scenario.tcp.access = Some(AccessLink {
        rate_bits_per_second: 1,
        delay_seconds: 0.001,
    });
    document
}

/// The keys of the path's description, with every kind of queue, loss and cross traffic.
fn path_keys() -> Keys {
    let kinds = [
        (
            r#"{ kind = "drop-tail", limit = "100packets" }"#,
            r#"{ kind = "random", rate = 0.01 }"#,
            r#"streams = 1
               window = "64KiB"
               congestion = "reno""#,
        ),
        (
            r#"{ kind = "red", limit = "100packets", min = "10packets", max = "30packets" }"#,
            r#"{ kind = "gilbert-elliott", enter = 0.01, leave = 0.2 }"#,
            r#"kind = "on-off"
               sources = 10
               rate = "1Mbit/s"
               on = "500ms"
               off = "500ms""#,
        ),
        (
            r#"{ kind = "codel", limit = "128KiB" }"#,
            r#"{ kind = "random", rate = 0.01 }"#,
            r#"kind = "transfers"
               per_second = 10.0
               mean_size = "30kB"
               shape = 1.2
               window = "64KiB""#,
        ),
        (
            r#"{ kind = "weighted", limit = "128KiB", scavenger = 0.01, priority = 0.3 }"#,
            r#"{ kind = "random", rate = 0.01 }"#,
            r#"streams = 1
               window = "64KiB""#,
        ),
    ];
    let mut found = Keys::new();
    for (queue, loss, cross) in kinds {
        let text = format!(
            "[forward]\nrate = \"10Mbit/s\"\ndelay = \"1ms\"\nqueue = {queue}\nloss = {loss}\n\
             corruption = 0.001\ncut = [{{ at = \"5s\", for = \"60s\" }}]\n\
             mtu = 1400\nload = {{ rate = \"1Mbit/s\" }}\n\
             [[before]]\nrate = \"10Mbit/s\"\ndelay = \"1ms\"\nqueue = {queue}\n\
             [[beyond]]\nrate = \"10Mbit/s\"\ndelay = \"1ms\"\nqueue = {queue}\n\
             [hosts.far]\nsend_buffer_max = \"2MiB\"\n[[cross]]\n{cross}\n"
        );
        let spec = ::netpath::PathSpec::from_toml("full", &text);
        let spec = spec.unwrap_or_else(|error| panic!("{error}: {}\n{text}", error.hint()));
        let json = serde_json::to_string(&crate::Path::from(&spec)).unwrap();
        found.extend(keys(&json).into_iter().map(|key| format!("path.{key}")));
    }
    found
}

/// The path's keys with those of each link but the first folded into one, as the page has them.
fn folded(keys: Keys) -> Keys {
    let links = [
        "path.reverse",
        "path.before[].forward",
        "path.before[].reverse",
        "path.beyond",
    ];
    folded_below(keys, &links)
}

/// The keys that begin with one of `tops` as that one.
fn folded_below(keys: Keys, tops: &[&str]) -> Keys {
    let top_of = |key: &str| {
        let top = tops.iter().find(|top| key.starts_with(**top));
        top.map(|top| (*top).to_owned())
    };
    keys.into_iter()
        .map(|key| top_of(&key).unwrap_or(key))
        .collect()
}

#[test]
fn every_key_of_a_simulated_path_is_documented_and_the_other_way_round() {
    assert_eq!(folded(path_keys()), documented("The simulated path"));
}

#[test]
fn every_key_of_a_simulate_is_documented_and_the_other_way_round() {
    let found = keys(&full_simulate().to_json());
    let found = without(found, &[&documented("Every document")]);
    let own = found.into_iter().filter(|key| !key.starts_with("path."));
    let expected = all_of(&["A simulated setting", "simulate"]);
    assert_eq!(own.collect::<Keys>(), expected);
}

#[test]
fn every_key_of_a_campaign_is_documented_and_the_other_way_round() {
    let found = keys(&synthetic::campaign().to_json());
    let cells = below(&found, "cells[].");
    let missing = without(cells, &[&documented("A simulated setting")]);
    assert_eq!(missing, Keys::new());
    let others = [&documented("Every document"), &documented("simulate")];
    let own = found
        .into_iter()
        .filter(|key| !key.starts_with("path.") && !key.starts_with("cells[]."));
    let mut own = without(own.collect(), &others);
    own.insert("cells[]".to_owned());
    assert_eq!(own, documented("campaign"));
}

#[test]
fn what_scripts_rely_on_in_a_simulate_is_where_it_was_promised() {
    let json = full_simulate().to_json();
    assert_eq!(at(&json, "/schema"), "trunkline/simulate");
    assert!(at(&json, "/aggregate/goodput_bits_per_second").is_u64());
    assert!(at(&json, "/cross/goodput_bits_per_second").is_u64());
    assert!(at(&json, "/drops").is_number());
    assert!(at(&json, "/jain").is_f64());
    assert!(at(&json, "/cost/cpu_seconds").is_f64());
    assert!(at(&json, "/completion_seconds").is_f64());
    assert_eq!(at(&json, "/unfinished_runs"), 0);
    assert_eq!(at(&json, "/path/name"), "toy");
    assert_eq!(at(&json, "/runs").as_array().unwrap().len(), 3);
}

#[test]
fn what_scripts_rely_on_in_a_campaign_is_where_it_was_promised() {
    let json = synthetic::campaign().to_json();
    assert_eq!(at(&json, "/schema"), "trunkline/campaign");
    assert_eq!(at(&json, "/cells").as_array().unwrap().len(), 36);
    assert!(at(&json, "/cells/0/aggregate/goodput_bits_per_second").is_u64());
    assert!(at(&json, "/cells/0/cross/goodput_bits_per_second").is_u64());
    assert!(at(&json, "/cells/0/drops").is_number());
    assert!(at(&json, "/cells/0/jain").is_f64());
    assert!(at(&json, "/cells/0/cost/cpu_seconds").is_f64());
    assert_eq!(at(&json, "/cells/1/setting/window"), 65_536);
}

fn at(document: &str, pointer: &str) -> Value {
    let value: Value = serde_json::from_str(document).unwrap();
    let found = value.pointer(pointer).cloned();
    found.unwrap_or_else(|| panic!("{pointer} is missing"))
}

#[test]
fn what_scripts_rely_on_in_a_tune_is_where_it_was_promised() {
    let document = synthetic::tune(1);
    let json = document.to_json();
    assert_eq!(at(&json, "/schema"), "trunkline/tune");
    assert_eq!(at(&json, "/schema_version"), 3);
    assert_eq!(at(&json, "/recommended/streams"), 8);
    assert_eq!(at(&json, "/recommended/window"), "auto");
    assert!(at(&json, "/recommended/goodput_bits_per_second").is_u64());
    assert!(at(&json, "/recommended/rtt_loaded_seconds").is_f64());
    assert_eq!(at(&json, "/limit"), "link");
    assert_eq!(at(&json, "/limit_default/limit"), "loss");
    assert_eq!(at(&json, "/cost/seconds"), 46.8);
    assert!(at(&json, "/cost/bytes").is_u64());
    assert_eq!(at(&json, "/samples").as_array().unwrap().len(), 7);
    assert_eq!(at(&json, "/samples/6/setting/window"), 262_144);
}

#[test]
fn what_scripts_rely_on_in_a_measure_is_where_it_was_promised() {
    let json = synthetic::measure(&Case::streams(2, 1)).to_json();
    assert_eq!(at(&json, "/schema"), "trunkline/measure");
    assert!(at(&json, "/goodput_bits_per_second").is_u64());
    assert!(at(&json, "/interval/low_bits_per_second").is_u64());
    assert_eq!(at(&json, "/streams").as_array().unwrap().len(), 2);
    assert!(at(&json, "/rtt/unloaded/mean_seconds").is_f64());
    assert!(at(&json, "/rtt/loaded/mean_seconds").is_f64());
    assert!(at(&json, "/retransmits").is_u64());
    assert!(at(&json, "/cpu/near/kernel_ratio").is_f64());
}

#[test]
fn a_sample_without_idle_probes_is_compared_with_the_search() {
    let tune = synthetic::tune(1).body;
    let later = &tune.samples[4].run;
    assert_eq!(later.rtt.unloaded, None);
    let idle = tune
        .answer
        .as_ref()
        .unwrap()
        .recommended
        .rtt_unloaded_seconds
        .unwrap();
    let added = later.rtt_loaded_seconds().unwrap() - idle;
    assert!((later.rtt.added_seconds.unwrap() - added).abs() < 1e-9);
}

#[test]
fn the_schema_stands_first() {
    let json = synthetic::demo(1).to_json();
    assert!(
        json.starts_with("{\n  \"schema\": \"trunkline/demo\""),
        "{}",
        &json[..80]
    );
}

/// Everything that an entry of a sweep can hold.
fn full_sweep_entry() -> SweepEntry {
    let measure = synthetic::measure(&Case::streams(1, 1));
    SweepEntry {
        id: 3,
        schema: Schema::Sweep,
        created: measure.origin.created,
        trunkline_version: measure.origin.trunkline_version,
        host: Some("dtn".to_owned()),
        target: Target {
            limits: None,
            ..measure.body.target
        },
        settings: 4,
        cycles: 2,
        measured: 3,
        failed: 1,
        cut_because: Some("cancelled".to_owned()),
    }
}

/// Everything that a sweep can hold: a visit with all figures, and one that failed.
fn full_sweep() -> Document<Sweep> {
    let measure = synthetic::measure(&Case::streams(1, 1));
    let setting = Setting {
        streams: 8,
        window: Window::Bytes(65_536),
        direction: Direction::Forward,
        congestion: Some("bbr".to_owned()),
        pacing_bits_per_second: Some(1_000_000),
        mss_bytes: Some(1400),
    };
    let trip = RoundTripFigures {
        min_seconds: 0.1,
        quartile1_seconds: 0.2,
        median_seconds: 0.3,
        quartile3_seconds: 0.4,
        mean_seconds: 0.3,
        max_seconds: 0.5,
        loss_ratio: 0.0,
    };
    let cell = SweepCell {
        number: 1,
        cycle: 1,
        setting: setting.clone(),
        duration_seconds: 10.0,
        started: measure.origin.created.clone(),
        run: Some(7),
        failed_because: None,
        figures: Some(CellFigures {
            goodput_bits_per_second: 26_800_000,
            interval: Some(Interval {
                low_bits_per_second: 25_000_000,
                high_bits_per_second: 28_000_000,
                confidence: 0.95,
            }),
            duration_seconds: 10.0,
            rtt_unloaded: Some(trip),
            rtt_loaded: Some(trip),
            retransmitted_ratio: Some(0.001),
            cpu_user_ratio: Some(0.01),
            cpu_kernel_ratio: Some(0.1),
            limit: Some(Limit::Link),
            losses_together_ratio: Some(0.5),
            losses_together_by_chance_ratio: Some(0.2),
            streams: vec![StreamFigures {
                number: 1,
                goodput_bits_per_second: Some(26_800_000),
                retransmits: Some(12),
            }],
        }),
    };
    let failed = SweepCell {
        number: 2,
        cycle: 2,
        run: None,
        failed_because: Some("the server is busy with another test".to_owned()),
        figures: None,
        ..cell.clone()
    };
    let body = Sweep {
        target: measure.body.target,
        plan: SweepPlan {
            settings: vec![setting],
            cycles: 2,
            durations_seconds: vec![10.0],
            unloaded_seconds: 1.0,
            seed: 1,
        },
        cut_because: Some("cancelled".to_owned()),
        cells: vec![cell, failed],
        analysis: None,
    };
    Document::new(measure.origin, body)
}

#[test]
fn every_key_of_a_sweep_is_documented_and_the_other_way_round() {
    let found = keys(&full_sweep().to_json());
    let shared = ["Every document", "The target"].map(documented);
    let found = without(found, &shared.each_ref());
    assert_eq!(found, documented("sweep"));
}

/// The list and the comparison, which stand in one section.
#[test]
fn the_history_is_documented() {
    let mut tune = full_tune(Objective::Max);
    let sample = tune.body.answer.as_ref().unwrap().recommended.sample;
    fill(&mut tune.body.samples[sample].run);
    let essence = Essence::of(&tune.into()).unwrap();
    let entries = [1, 2].map(|id| Entry {
        id,
        essence: essence.clone(),
    });
    let [from, to] = entries;
    let mut listed = vec![Listed::Run(Box::new(from.clone()))];
    listed.push(Listed::Sweep(Box::new(full_sweep_entry())));
    let mut found = keys(&Listing::new(&listed).to_json());
    let compared = keys(&Comparison::new(from, to).to_json());
    found.extend(
        compared
            .into_iter()
            .filter(|key| key.starts_with("goodput.")),
    );
    assert_eq!(found, documented("history"));
}

#[test]
fn every_key_of_a_predict_is_documented_and_the_other_way_round() {
    let found = keys(&synthetic::predict().to_json());
    let found = without(found, &[&documented("Every document")]);
    let own: Keys = found
        .into_iter()
        .filter(|key| !key.starts_with("path."))
        .collect();
    assert_eq!(own, documented("predict"));
}

/// The keys of a run below `prefix` are those of a measurement.
fn without_runs(keys: Keys, prefixes: &[&str]) -> Keys {
    let is_of_run = |key: &String| prefixes.iter().any(|prefix| key.starts_with(prefix));
    keys.into_iter().filter(|key| !is_of_run(key)).collect()
}

#[test]
fn every_key_of_a_path_is_documented_and_the_other_way_round() {
    let document = synthetic::characteristics();
    let found = without(keys(&document.to_json()), &[&all_of(&COMMON)]);
    let found = without_runs(found, &["loads[].one.", "loads[].several."]);
    assert_eq!(found, documented("path"));
}

#[test]
fn every_key_of_a_responsiveness_is_documented_and_the_other_way_round() {
    let mut document = synthetic::responsiveness();
    document.body.ways[0].cut_because = Some("the server is gone".to_owned());
    let found = without(keys(&document.to_json()), &[&all_of(&COMMON)]);
    assert_eq!(found, documented("responsiveness"));
}

#[test]
fn every_key_of_a_fit_is_documented_and_the_other_way_round() {
    let mut document = synthetic::fit();
    document.body.models[4].problem = Some("too few samples".to_owned());
    let found = keys(&document.to_json());
    let found = without(found, &[&documented("Every document")]);
    assert_eq!(found, documented("fit"));
}

#[test]
fn what_scripts_rely_on_in_a_prediction_is_where_it_was_promised() {
    let json = synthetic::predict().to_json();
    assert_eq!(at(&json, "/schema"), "trunkline/predict");
    assert!(at(&json, "/knee/streams").is_u64());
    assert!(at(&json, "/points/0/goodput_bits_per_second").is_u64());
    let json = synthetic::fit().to_json();
    assert_eq!(at(&json, "/schema"), "trunkline/fit");
    assert!(at(&json, "/recommended/streams").is_u64());
}

mod copies;
mod sweeps;
