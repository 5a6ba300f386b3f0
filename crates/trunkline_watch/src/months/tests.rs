use draw::render::terminal::{self, Paint};
use units::Span;
use watch_store::RollUp;

use super::*;

/// 2025-01-01.
const START: u64 = 1_735_689_600;
const MONTH: u64 = 31 * 86_400;

fn answered(lost: u64) -> Pings {
    Pings {
        visits: 100,
        lossless: 100 - lost.min(100),
        sent: 2000,
        lost,
        mean: Some(Span::from_millis(100)),
        ..Pings::default()
    }
}

fn silent() -> Pings {
    Pings {
        visits: 100,
        unreachable: 100,
        ..Pings::default()
    }
}

/// Of a path to `z`.
fn month(from: &str, number: u64, pings: Pings) -> Month {
    Month {
        pair: Pair {
            from: from.parse().unwrap(),
            to: "z".parse().unwrap(),
        },
        figures: RollUp {
            start: UnixTime::from_seconds(START + number * MONTH),
            visits: 100,
            failed: 0,
            unreachable: pings.unreachable,
            sent: pings.sent,
            lost: pings.lost,
            goodput: None,
            round_trip: None,
            pings: Some(pings),
        },
    }
}

/// One that lost probes, one that lost none, one whose host is not there.
fn three() -> [Month; 3] {
    [
        month("a", 0, answered(20)),
        month("b", 0, answered(0)),
        month("c", 0, silent()),
    ]
}

fn page(found: &[Month]) -> String {
    let months = Months {
        task: "trips".parse().unwrap(),
        pairs: by_pair(found),
        groups: vec![group(ALL, None, found)],
    };
    terminal::text(&months.page(), Paint::Plain)
}

#[test]
fn a_silent_host_is_counted_and_in_no_mean() {
    let found = three();
    let all = group(ALL, None, &found);
    let one = &all.months[0];
    assert_eq!((one.pairs, one.silent_pairs, one.visits), (2, 1, 200));
    let loss = one.figures["loss_ratio"];
    assert_eq!((loss.mean, loss.pairs), (0.005, 2));
    assert_eq!(one.figures["unreachable_visits_ratio"].pairs, 2);
    // That of `b` is a bound.
    assert_eq!(one.figures["derived_bits_per_second"].pairs, 1);

    let text = page(&found);
    let mut rows = text.lines().map(str::trim_start);
    let row = rows.find(|line| line.starts_with("2025-01"));
    let words: Vec<&str> = row.unwrap().split_whitespace().collect();
    assert_eq!(words[..4], ["2025-01", "2", "1", "200"], "{text}");
    // 1460 x 8 / (0.1 x sqrt(0.01)), of one of the two.
    assert!(text.contains("1.17 (1)"), "{text}");
}

#[test]
fn a_group_has_its_own_paths_alone() {
    let found = three();
    let pairs: BTreeSet<Pair> = [found[2].pair.clone()].into();
    let down = group("down", Some(&pairs), &found);
    let one = &down.months[0];
    assert_eq!((one.pairs, one.silent_pairs, one.visits), (0, 1, 0));
    assert!(one.figures.is_empty(), "{one:?}");
    let paths = by_pair(&found);
    let path = &paths[2].months[0];
    assert_eq!(path.figures["unreachable_visits_ratio"], 1.0);
    assert_eq!(path.figures.get("loss_ratio"), None);
}

#[test]
fn a_bound_is_shown_as_one() {
    let found = three();
    // 1460 x 8 / (0.1 x sqrt(1 / 2000)).
    let text = page(&found[1..2]);
    assert!(text.contains(">5.22"), "{text}");
    let text = page(&found[..1]);
    assert!(text.contains("1.17") && !text.contains(">1.17"), "{text}");
}

#[test]
fn the_change_of_a_year_needs_twelve_months() {
    let grown = |number: u64| {
        let years = number as f64 * MONTH as f64 / (365.25 * 86_400.0);
        let mean = Span::from_secs_f64(0.1 * 1.2_f64.powf(years));
        let pings = Pings {
            mean: Some(mean),
            ..answered(20)
        };
        month("a", number, pings)
    };
    let found: Vec<Month> = (0..14).map(grown).collect();
    let pairs = by_pair(&found);
    let trend = pairs[0].trends["rtt_mean_seconds"];
    assert!((trend.year - 0.2).abs() < 1e-3, "{trend:?}");
    assert_eq!(trend.months, 14);
    // The loss stays, and a group of one path is that path.
    assert_eq!(pairs[0].trends["loss_ratio"].year, 0.0);
    assert_eq!(group(ALL, None, &found).trends, pairs[0].trends);
    let text = page(&found);
    assert!(text.contains("In a year: mean round trip +20 %"), "{text}");
    assert!(by_pair(&found[..11])[0].trends.is_empty());
}
