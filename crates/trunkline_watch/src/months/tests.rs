use draw::Paint;
use draw::render::terminal;
use units::{Rate, Span};
use watch_store::RollUp;

use super::*;

const MONTH: u64 = 2_629_800;

fn month(from: &str, number: u64, pings: Pings) -> Month {
    Month {
        pair: Pair {
            from: from.parse().unwrap(),
            to: "kek".parse().unwrap(),
        },
        figures: RollUp {
            start: UnixTime::from_seconds(1_767_225_600 + number * MONTH),
            visits: pings.visits,
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

/// Of two paths 14 months, one of which gets faster by a fifth in a year; a third is silent.
fn found() -> Vec<Month> {
    let mut found = Vec::new();
    for number in 0..14 {
        let pings = |trip: f64, lost| Pings {
            visits: 8_928,
            lossless: 8_900,
            sent: 178_560,
            lost,
            lost_followed: lost,
            lost_again: lost / 3,
            min: Some(Span::from_secs_f64(trip * 0.9)),
            median: Some(Span::from_secs_f64(trip)),
            mean: Some(Span::from_secs_f64(trip)),
            variation: Some(Span::from_millis(2)),
            slowest_link: Some(Rate::from_bits_per_second(20_100_000)),
            ..Pings::default()
        };
        let faster = 0.18 * 0.8_f64.powf(number as f64 / 12.0);
        found.push(month("slac", number, pings(faster, 20 + number)));
        found.push(month("cern", number, pings(0.25, 0)));
        let silent = Pings {
            visits: 8_928,
            unreachable: 8_928,
            ..Pings::default()
        };
        found.push(month("ral", number, silent));
    }
    found
}

fn months() -> Months {
    let found = found();
    let pairs = by_pair(&found);
    Months {
        task: "trips".parse().unwrap(),
        groups: vec![group(ALL, None, &found, &pairs)],
        pairs,
    }
}

#[test]
fn a_group_leaves_silent_paths_and_bounds_out_and_says_so() {
    let months = months();
    let first = &months.groups[0].months[0];
    assert_eq!(
        (first.pairs, first.silent_pairs, first.visits),
        (2, 1, 17_856)
    );
    let derived = first.figures["derived_bits_per_second"];
    assert_eq!(derived.pairs, 1);
    let slac = months
        .pairs
        .iter()
        .find(|one| one.pair.from.as_str() == "slac");
    let slac = slac.unwrap();
    assert!((slac.trends["rtt_mean_seconds"].year + 0.2).abs() < 0.001);
    // The median of two paths: one of them stays.
    let both = months.groups[0].trends["rtt_mean_seconds"];
    assert!((both.year + 0.1).abs() < 0.001, "{both:?}");
    let json: serde_json::Value = serde_json::from_str(&months.json()).unwrap();
    assert_eq!(json["pairs"][0]["months"][0]["derived_is_bound"], true);
}

#[test]
fn pages_fit_a_terminal() {
    let months = months();
    for page in [months.page(), months.page_of_pairs()] {
        let text = terminal::text(&page, Paint::Plain);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{widest:?} columns in\n{text}");
        assert!(text.contains(" >20.1"), "{text}");
        assert!(text.contains("2026-01") && text.contains("In a year: mean round trip -"));
    }
    let text = terminal::text(&months.page(), Paint::Plain);
    assert!(text.contains(" 2+1 "), "{text}");
}
