//! The text as promtool and a real Prometheus read it, and every query of the dashboard.

mod common;

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::SystemTime;
use std::{env, fs};

use changes::{Event, EventKind, UnixTime};
use common::{Prometheus, serve};
use serde_json::Value;
use units::{Rate, Span};
use watch_metrics::{AgentFigures, GridFigures, Input, METRICS, grafana_dashboard, text};
use watch_store::{GridCell, Pair, StoredEvent};

const ODD: &str = "odd \"name\"\\";

/// Three hosts, one with an odd name, and two tasks.
fn example() -> String {
    let hosts = ["slac", "cern", ODD];
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap();
    let now = UnixTime::from_seconds(since.as_secs());
    let pairs = hosts
        .iter()
        .flat_map(|from| hosts.iter().map(move |to| (from, to)));
    let pairs = pairs
        .filter(|(from, to)| from != to)
        .map(|(from, to)| Pair {
            from: from.parse().unwrap(),
            to: to.parse().unwrap(),
        });
    let cells: Vec<GridCell> = pairs.map(|pair| cell(pair, now)).collect();
    let agent = |host: &&str| AgentFigures {
        host: host.parse().unwrap(),
        last_seen: Some(now),
        waiting_results: Some(0),
        clock_ahead_seconds: Some(-2),
    };
    let grid = |task: &str| GridFigures {
        task: task.parse().unwrap(),
        cells: cells.clone(),
    };
    text(&Input {
        grids: &[grid("goodput"), grid("pings")],
        incidents: &watch_store::incidents(vec![event(cells[0].pair.clone(), now)]),
        agents: &hosts.iter().map(agent).collect::<Vec<_>>(),
    })
}

fn cell(pair: Pair, at: UnixTime) -> GridCell {
    GridCell {
        pair,
        at,
        goodput: Some(Rate::from_bits_per_second(60_000_000)),
        shown: Some(Rate::from_bits_per_second(80_000_000)),
        rtt_min: Some(Span::from_millis(165)),
        rtt_median: Some(Span::from_millis(166)),
        loss: Some(0.01),
        failure: None,
    }
}

fn event(pair: Pair, at: UnixTime) -> StoredEvent {
    StoredEvent {
        pair,
        task: "goodput".parse().unwrap(),
        event: Event {
            id: 0,
            revision: 0,
            kind: EventKind::Route,
            first_visit: at,
            previous_visit: None,
            confirmed: at,
            recovered: None,
            end: None,
            shifts: Vec::new(),
            causes: Vec::new(),
            failures: Default::default(),
        },
    }
}

/// The queries of all panels, of the pair from slac to cern.
fn queries() -> Vec<String> {
    let dashboard: Value = serde_json::from_str(&grafana_dashboard()).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels
        .iter()
        .flat_map(|panel| panel["targets"].as_array().unwrap());
    let queries = targets.map(|target| target["expr"].as_str().unwrap());
    let filled = queries.map(|query| {
        let query = query.replace("$task", "goodput").replace("$from", "slac");
        query.replace("$to", "cern")
    });
    filled.collect()
}

/// The names of our metrics in a query.
fn names(query: &str) -> Vec<&str> {
    let words = query.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words
        .filter(|word| word.starts_with("trunkline_"))
        .collect()
}

#[test]
fn the_dashboard_file_is_the_generated_one() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../packaging/grafana/watch.json"
    );
    let made = grafana_dashboard();
    if env::var_os("BLESS").is_some() {
        fs::write(file, &made).unwrap();
    }
    let kept = fs::read_to_string(file).unwrap_or_default();
    assert!(
        kept == made,
        "{file} is another one; BLESS=1 writes it anew"
    );
}

#[test]
fn every_metric_of_a_panel_is_in_the_text_and_every_metric_has_a_panel() {
    let text = example();
    let queries = queries();
    for query in &queries {
        assert!(!names(query).is_empty() && !query.contains('$'), "{query}");
        for name in names(query) {
            assert!(
                text.contains(&format!("\n{name}{{")),
                "{name} of `{query}` is not in the text"
            );
        }
    }
    let shown: Vec<&str> = queries.iter().flat_map(|query| names(query)).collect();
    let labelled = METRICS.iter().filter(|metric| !metric.labels.is_empty());
    for metric in labelled {
        assert!(
            shown.contains(&metric.name),
            "no panel shows {}",
            metric.name
        );
    }
}

#[test]
fn the_reference_page_has_every_metric() {
    let page = include_str!("../../../../docs/reference/watch-metrics.md");
    for metric in METRICS {
        let labels: Vec<String> = metric.labels.iter().map(|one| format!("`{one}`")).collect();
        let row = format!("| `{}` | {} | ", metric.name, labels.join(", "));
        assert!(
            page.contains(&row),
            "docs/reference/watch-metrics.md lacks a row `{row}`"
        );
    }
}

#[test]
fn promtool_has_no_complaint() {
    if !testkit::has_program("promtool") {
        return;
    }
    let mut child = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(example().as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success() && said.is_empty(), "{said}");
}

#[test]
fn a_real_prometheus_scrapes_the_text_and_answers_every_query_of_the_dashboard() {
    let Some(prometheus) = Prometheus::start(serve(example())) else {
        return;
    };
    for query in queries() {
        assert!(
            !prometheus.query(&query).is_empty(),
            "`{query}` has no result"
        );
    }
    let matrix = prometheus.query("trunkline_watch_share_of_shown_ratio{task=\"goodput\"}");
    assert_eq!(matrix.len(), 6, "a value for each pair");
    assert_eq!(matrix[0]["value"][1], "0.75");
    let agents = prometheus.query("trunkline_watch_agent_waiting_results");
    assert!(
        agents.iter().any(|agent| agent["metric"]["host"] == ODD),
        "{agents:?}"
    );
}
