use std::sync::atomic::AtomicBool;

use netpath::PathSpec;
use sim::Scenario;
use simulation_grid::{Cache, Ran};
use units::{Bytes, Span};

use crate::figure::{Figure, Line, Panel, Scale, Values};
use crate::finding::Check;
use crate::sweep::Curve;
use crate::{Finding, Part, Programme, Seen, Study, Sweep, Verdict};

/// Two windows with one and two streams over a short path for two seconds.
fn tiny() -> Study {
    let mut base = Scenario::new(PathSpec::load("lan").unwrap()).unwrap();
    base.path.forward.rate = "40Mbit/s".parse().unwrap();
    base.path.forward.delay = Span::from_millis(20);
    base.duration = Span::from_secs(2);
    let cell = |streams, kib| Scenario {
        streams,
        window: Some(Bytes::from_kib(kib)),
        ..base.clone()
    };
    let curve = |kib| Curve {
        label: format!("{kib} KiB"),
        cells: vec![(1.0, cell(1, kib)), (2.0, cell(2, kib))],
    };
    Study {
        name: "tiny",
        title: "Two windows",
        source: "A test",
        parts: vec![Part {
            title: "Windows",
            assumed: "A short path.",
            sweeps: vec![Sweep::new(vec![curve(8), curve(16)])],
            read,
        }],
        left: &[],
    }
}

fn read(seen: &[Seen<'_>]) -> Vec<Figure> {
    let lines = seen[0].lines(|_, result| {
        let rates = result.streams.iter().map(|stream| stream.goodput.as_f64());
        Some(rates.sum::<f64>() / 1e6)
    });
    let doubles = |line: &Line| line.last().unwrap() / line.at(1.0).unwrap();
    let gains: Vec<f64> = lines.iter().map(doubles).collect();
    let words = format!("two streams carry {gains:.2?} times as much as one");
    let holds = gains.iter().all(|gain| (1.9..2.1).contains(gain));
    vec![Figure {
        ids: &["F1"],
        title: "Throughput".to_owned(),
        tables: Vec::new(),
        findings: vec![Finding {
            claim: "Twice the streams carry twice as much.",
            rule: "Between 1.9 and 2.1 times.",
            checks: vec![Check::new(holds, words)],
        }],
        panels: vec![Panel {
            name: "tiny",
            caption: "Throughput of two windows.".to_owned(),
            x: Scale::even("streams"),
            y: Scale::even("throughput [Mbit/s]"),
            lines,
        }],
    }]
}

fn campaign(programme: &Programme, cache: &Cache) -> Vec<Ran> {
    let runs = programme.runs().unwrap();
    let never = AtomicBool::new(false);
    simulation_grid::run(&runs, Some(cache), &never, &mut |_| {})
        .unwrap()
        .runs
}

#[test]
fn a_tiny_study_becomes_a_page_and_is_never_computed_twice() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path()).unwrap();
    let programme = Programme {
        studies: vec![tiny()],
        seeds: 2,
    };
    let first = campaign(&programme, &cache);
    assert_eq!(first.len(), 8);
    assert!(first.iter().all(|ran| !ran.cached));
    let again = campaign(&programme, &cache);
    assert!(again.iter().all(|ran| ran.cached));

    let studies = programme.read(&first);
    assert_eq!(programme.read(&again), studies);
    let lines = &studies[0].parts[0].figures[0].panels[0].lines;
    // 8 KiB are 5 whole segments of 1448 bytes: 2.9 Mbit/s every 20 ms.
    let least = lines[0].at(1.0).unwrap();
    assert!((2.0..2.9).contains(&least), "{least}");
    assert!(lines.iter().all(|line| line.points[0].spread.is_some()));

    let origin = record::Origin::here(Vec::new(), Some(1));
    let files = crate::files(&studies, &origin).unwrap();
    let named = |name: &str| &files.iter().find(|(file, _)| file == name).unwrap().1;
    let page = named("tiny.html");
    let finding = &studies[0].parts[0].figures[0].findings[0];
    assert_eq!(finding.verdict(), Verdict::Holds, "{}", finding.seen());
    assert!(page.contains(&finding.seen()) && page.contains("<svg"));
    assert_eq!(named("tiny.csv").lines().count(), 5);
    assert!(named("tiny.svg").contains("<svg") && named("tiny.md").contains("(tiny.svg)"));
}
