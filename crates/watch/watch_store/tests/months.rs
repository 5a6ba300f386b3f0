//! Fifteen months of drawn visits: a Python script recomputes the table of months from the probes
//! as they were drawn.

mod common;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::ops::ControlFlow;
use std::process::Command;

use changes::{Failure, ProbeCount, ProbeSequence, RoundTrips, Visit, VisitKind};
use common::{Draw, START, name, pair, time};
use units::Span;
use watch_store::{DatabaseName, Format, Selection, Store, StoredVisit, Table};

const DAYS: u64 = 455;
const PAIRS: [(&str, &str); 4] = [("a", "b"), ("b", "a"), ("a", "c"), ("c", "a")];

/// Probes in the order in which they were sent, in nanoseconds.
type Probes = Vec<Option<u64>>;

#[test]
fn months_are_what_another_program_makes_of_the_same_probes() {
    if !testkit::has_program("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let database = DatabaseName::Sqlite(folder.path().join("watch.db"));
    let mut store = Store::open(&database).unwrap();
    let mut drawn = String::new();
    let seed = 1129;
    println!("seed {seed}");
    let mut draw = Draw::new(seed);
    for (place, (from, to)) in PAIRS.iter().enumerate() {
        let visits: Vec<StoredVisit> = (0..DAYS * 4)
            .filter_map(|number| visit(&mut draw, place, (from, to), number, &mut drawn))
            .collect();
        for some in visits.chunks(1000) {
            store.insert(some).unwrap();
        }
    }
    while store.roll_up(1000).unwrap() > 0 {}
    let probes = folder.path().join("probes.ndjson");
    fs::write(&probes, drawn).unwrap();
    let months = folder.path().join("months.csv");
    let mut go_on = |_| ControlFlow::Continue(());
    let what = (Table::Months, Format::Csv);
    let rows = store
        .export(
            what,
            &Selection::ALL,
            File::create(&months).unwrap(),
            &mut go_on,
        )
        .unwrap();
    // Fifteen months of four paths, of which one has no visit in one of them.
    assert_eq!(rows, 4 * 15 - 1);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/months.py");
    let done = Command::new("python3")
        .args([script.as_ref(), probes.as_os_str(), months.as_os_str()])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(
        done.status.success() && said.contains("59 months agree"),
        "{said}{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

/// Every six hours; in their fifth month `a` to `c` has no visit, and `c` to `a` no answer.
fn visit(
    draw: &mut Draw,
    place: usize,
    (from, to): (&str, &str),
    number: u64,
    drawn: &mut String,
) -> Option<StoredVisit> {
    let at = START + number * 21_600 + draw.below(3600);
    let is_fifth = (120..151).contains(&(number / 4));
    if is_fifth && place == 2 {
        return None;
    }
    let mut visit = Visit::new(time(at), VisitKind::Ping);
    let stored = |draw: &mut Draw, visit| StoredVisit {
        id: draw.id(time(at)),
        pair: pair(from, to),
        task: name("trips"),
        visit,
        rates: None,
        document: None,
    };
    if draw.below(40) == 0 {
        let reason = "connection refused".to_owned();
        visit.failure = Some(Failure { reason });
        return Some(stored(draw, visit));
    }
    let is_silent = (is_fifth && place == 3) || draw.below(60) == 0;
    let probes = probes(draw, place as u64, is_silent);
    let sent = probes.len() as u32;
    let answered = || probes.iter().flatten().copied().map(Span::from_nanos);
    visit.probes = Some(ProbeCount {
        sent,
        lost: sent - answered().count() as u32,
        duplicated: u32::from(draw.below(9) == 0),
        reordered: u32::from(draw.below(7) == 0),
    });
    visit.round_trips = RoundTrips::new(answered().collect());
    let spans: Vec<Option<Span>> = probes.iter().map(|p| p.map(Span::from_nanos)).collect();
    // A host that was not there before either has no series of probes, but a failure.
    match is_silent && draw.below(2) == 0 {
        true => {
            let reason = "no probe was answered".to_owned();
            visit.failure = Some(Failure { reason });
        }
        false => visit.sequence = Some(ProbeSequence::of(&spans)),
    }
    let (counts, list) = (visit.probes?, json(&probes));
    let ends = format!(r#""from":"{from}","to":"{to}","at":{at}"#);
    let (twice, overtaken) = (counts.duplicated, counts.reordered);
    let counts = format!(r#""duplicated":{twice},"reordered":{overtaken}"#);
    writeln!(drawn, r#"{{{ends},{counts},"probes":[{list}]}}"#).unwrap();
    Some(stored(draw, visit))
}

/// Without the brackets.
fn json(probes: &[Option<u64>]) -> String {
    let list = probes.iter();
    let list = list.map(|probe| probe.map_or("null".to_owned(), |nanos| nanos.to_string()));
    list.collect::<Vec<String>>().join(",")
}

/// Losses come in bursts on the second path; the third loses nothing.
fn probes(draw: &mut Draw, place: u64, is_silent: bool) -> Probes {
    let mut was_lost = false;
    let probe = |_| {
        let odds = match (place, was_lost) {
            (1, true) => 500,
            (2, _) => 0,
            _ => 20,
        };
        was_lost = is_silent || draw.below(1000) < odds;
        let base = 20_000_000 * (place + 1);
        (!was_lost).then(|| base + draw.below(1 + draw_width(place)))
    };
    (0..20).map(probe).collect()
}

fn draw_width(place: u64) -> u64 {
    4_000_000 * (4 - place)
}
