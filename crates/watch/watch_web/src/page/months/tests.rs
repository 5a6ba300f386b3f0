use changes::Pings;
use watch_store::RollUp;

use super::*;

/// 2025-01-01 and 2026-01-01.
const YEARS: [u64; 2] = [1_735_689_600, 1_767_225_600];

fn month(from: &str, start: u64, duplicated: u64) -> Month {
    let pings = Pings {
        visits: 100,
        sent: 2000,
        duplicated,
        ..Pings::default()
    };
    Month {
        pair: Pair {
            from: from.parse().unwrap(),
            to: "z".parse().unwrap(),
        },
        figures: RollUp {
            start: UnixTime::from_seconds(start),
            visits: 100,
            failed: 0,
            unreachable: 0,
            sent: 2000,
            lost: 0,
            goodput: None,
            round_trip: None,
            pings: Some(pings),
        },
    }
}

fn asked() -> Asked {
    Asked {
        task: "trips".parse().unwrap(),
        year: 2026,
        figure: None,
        by: By::Pair,
    }
}

#[test]
fn pairs_of_other_years_take_no_row() {
    let old = (0..ROWS).map(|number| month(&format!("a{number}"), YEARS[0], 0));
    let new = [month("b", YEARS[0], 0), month("b", YEARS[1], 0)];
    let months: Vec<Month> = old.chain(new).collect();
    let (rows, count) = asked().by_pair(Figure::Probes(PingFigure::Loss), &months);
    let names: Vec<&str> = rows.iter().map(|(name, _)| name.text.as_str()).collect();
    assert_eq!((names, count), (vec!["b to z"], 1));
}

#[test]
fn a_page_says_how_many_pairs_it_leaves_out() {
    let page = |pairs: usize| {
        let months: Vec<Month> = (0..pairs)
            .map(|number| month(&format!("a{number}"), YEARS[1], 7))
            .collect();
        let asked = Asked {
            figure: Some(Figure::Probes(PingFigure::Duplicates)),
            ..asked()
        };
        let now = UnixTime::from_seconds(YEARS[1] + 86_400);
        asked.draw(&[], &months, None, now).unwrap().into_string()
    };
    let cut = page(ROWS + 2);
    assert!(cut.contains("The first 1000 of 1002 pairs"));
    assert!(cut.contains(">7</td>"), "a number, not a share");
    assert!(!page(3).contains("The first 1000"));
}
