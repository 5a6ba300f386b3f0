use changes::{Event, Failure};
use units::{Rate, Span};
use watch_store::{Pair, StoredEvent};

use super::*;
use crate::METRICS;

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

fn cell(from: &str, to: &str) -> GridCell {
    GridCell {
        pair: Pair {
            from: name(from),
            to: name(to),
        },
        at: UnixTime::from_seconds(1_795_543_200),
        goodput: Some(Rate::from_bits_per_second(60_000_000)),
        shown: Some(Rate::from_bits_per_second(80_000_000)),
        rtt_min: Some(Span::from_millis(165)),
        rtt_median: Some(Span::from_micros(166_500)),
        loss: Some(0.0),
        failure: None,
    }
}

fn grid(cells: Vec<GridCell>) -> Vec<GridFigures> {
    vec![GridFigures {
        task: name("goodput"),
        cells,
    }]
}

fn event(kind: EventKind, recovered: Option<UnixTime>) -> StoredEvent {
    StoredEvent {
        pair: cell("a", "b").pair,
        task: name("goodput"),
        event: Event {
            id: 0,
            revision: 0,
            kind,
            first_visit: UnixTime::from_seconds(7),
            previous_visit: None,
            confirmed: UnixTime::from_seconds(8),
            recovered,
            end: None,
            shifts: Vec::new(),
            causes: Vec::new(),
            failures: Default::default(),
        },
    }
}

fn agent(host: &str) -> AgentFigures {
    AgentFigures {
        host: name(host),
        last_seen: Some(UnixTime::from_seconds(1_795_543_210)),
        waiting_results: Some(3),
        clock_ahead_seconds: Some(-2),
    }
}

#[test]
fn each_metric_has_its_unit_and_a_sample() {
    let (grids, agents) = (grid(vec![cell("slac", "cern")]), [agent("slac")]);
    let events = [
        event(EventKind::Step, None),
        event(EventKind::Step, Some(UnixTime::from_seconds(9))),
        event(EventKind::NoData, None),
    ];
    let incidents = watch_store::incidents(events.into());
    let text = text(&Input {
        grids: &grids,
        incidents: &incidents,
        agents: &agents,
    });
    let pair = "{from=\"slac\",to=\"cern\",task=\"goodput\"}";
    for line in [
        format!("trunkline_watch_goodput_bytes_per_second{pair} 7500000.0"),
        format!("trunkline_watch_shown_bytes_per_second{pair} 10000000.0"),
        format!("trunkline_watch_share_of_shown_ratio{pair} 0.75"),
        format!("trunkline_watch_round_trip_min_seconds{pair} 0.165"),
        format!("trunkline_watch_round_trip_median_seconds{pair} 0.1665"),
        format!("trunkline_watch_loss_ratio{pair} 0.0"),
        format!("trunkline_watch_last_visit_timestamp_seconds{pair} 1795543200.0"),
        format!("trunkline_watch_last_visit_failed{pair} 0.0"),
        "trunkline_watch_open_incidents{severity=\"critical\"} 1.0".to_owned(),
        "trunkline_watch_open_events{kind=\"step\"} 1.0".to_owned(),
        "trunkline_watch_open_events{kind=\"no-data\"} 1.0".to_owned(),
        "trunkline_watch_open_events{kind=\"drift\"} 0.0".to_owned(),
        "trunkline_watch_agent_last_seen_timestamp_seconds{host=\"slac\"} 1795543210.0".to_owned(),
        "trunkline_watch_agent_waiting_results{host=\"slac\"} 3.0".to_owned(),
        "trunkline_watch_agent_clock_ahead_seconds{host=\"slac\"} -2.0".to_owned(),
        "trunkline_watch_left_out_series 0.0".to_owned(),
    ] {
        assert!(
            text.lines().any(|other| other == line),
            "`{line}` is not in\n{text}"
        );
    }
    for metric in METRICS {
        let kind = format!("# TYPE {} gauge\n", metric.name);
        assert_eq!(text.matches(&kind).count(), 1, "{kind}{text}");
        if let Some(unit) = metric.unit {
            assert!(
                text.contains(&format!("# UNIT {} {unit}\n", metric.name)),
                "{text}"
            );
        }
        let samples = text.lines().filter(|line| {
            line.strip_prefix(metric.name)
                .is_some_and(|rest| rest.starts_with(['{', ' ']))
        });
        assert!(samples.count() > 0, "{} has no sample", metric.name);
    }
    assert!(text.ends_with("# EOF\n"));
}

#[test]
fn what_a_visit_does_not_have_has_no_sample() {
    let mut failed = cell("a", "b");
    failed.goodput = None;
    failed.rtt_min = None;
    failed.rtt_median = None;
    failed.loss = None;
    failed.failure = Some(Failure {
        reason: "connection refused".to_owned(),
    });
    let text = text(&Input {
        grids: &grid(vec![failed]),
        incidents: &[],
        agents: &[],
    });
    assert!(
        text.contains("_failed{from=\"a\",to=\"b\",task=\"goodput\"} 1.0"),
        "{text}"
    );
    for absent in [
        "goodput_bytes_per_second{",
        "share_of_shown_ratio{",
        "loss_ratio{",
        "host=",
    ] {
        assert!(!text.contains(absent), "{text}");
    }
}

#[test]
fn names_are_escaped() {
    let text = text(&Input {
        grids: &grid(vec![cell("a\"b\\c", "d} 7")]),
        incidents: &[],
        agents: &[],
    });
    assert!(
        text.contains("{from=\"a\\\"b\\\\c\",to=\"d} 7\",task=\"goodput\"} 7500000.0"),
        "{text}"
    );
}

#[test]
fn the_text_is_bounded_and_says_what_it_leaves_out() {
    let cells = (0..SERIES_MAX + 3).map(|number| cell(&number.to_string(), "b"));
    let text = text(&Input {
        grids: &grid(cells.collect()),
        incidents: &[],
        agents: &[],
    });
    assert!(text.contains("trunkline_watch_left_out_series 3.0\n"));
    let goodputs = text
        .matches("trunkline_watch_goodput_bytes_per_second{")
        .count();
    assert_eq!(goodputs, SERIES_MAX);
    assert!(text.len() < 12_000_000, "{}", text.len());
}
