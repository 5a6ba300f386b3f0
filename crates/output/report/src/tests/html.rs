use record::synthetic::{self, Case, SweepCase};
use record::{AnyDocument, Document, Measure};
use units::{Bytes, Span, Time};

use draw::ChartError;

use crate::page::page as page_of;

fn page(document: &AnyDocument) -> Result<String, ChartError> {
    crate::html(document, None)
}

fn measured(document: Document<Measure>) -> String {
    page(&AnyDocument::from(document)).unwrap()
}

fn swept(case: &SweepCase) -> String {
    page(&AnyDocument::from(synthetic::sweep(case))).unwrap()
}

#[test]
fn a_sweep_has_its_figures_settings_failures_and_visits() {
    let seen = swept(&SweepCase {
        cycles: 2,
        failing: 10,
        ..SweepCase::windows_against_streams(7)
    });
    assert_eq!(seen.matches("<svg").count(), 10);
    let parts = [
        "Use ",
        "16 failed",
        "Windows of ",
        "Visits that failed (16)",
        "The server was busy with another test for 60 s",
        "Every visit (160)",
        "all visits lasted about as long",
    ];
    for part in parts {
        assert!(seen.contains(part), "{part}");
    }
}

#[test]
fn texts_of_a_sweep_are_escaped() {
    let mut document = synthetic::sweep(&SweepCase {
        failing: 10,
        cycles: 1,
        ..SweepCase::windows_against_streams(7)
    });
    let evil = "<script>alert('x')</script>";
    document.body.target.name = evil.to_owned();
    document.body.cut_because = Some(evil.to_owned());
    // Another congestion control makes a group of its own, with a heading.
    document.body.cells[0].setting.congestion = Some(evil.to_owned());
    for cell in &mut document.body.cells {
        cell.started = evil.to_owned();
        cell.failed_because = cell.failed_because.take().map(|_| evil.to_owned());
    }
    let seen = page(&AnyDocument::from(document.clone())).unwrap();
    assert!(!seen.contains("<script") && seen.contains("It ended early: "));
    for (name, svg) in page_of(&document.into(), None).charts().unwrap() {
        assert!(
            !svg.contains("<script") && !name.contains(['/', '<']),
            "{name}"
        );
    }
}

#[test]
fn a_page_asks_nothing_of_the_network_and_runs_nothing() {
    let pages = [
        measured(synthetic::measure(&Case::streams(8, 1))),
        page(&AnyDocument::from(synthetic::tune(7))).unwrap(),
        page(&AnyDocument::from(synthetic::demo(7))).unwrap(),
        page(&AnyDocument::from(synthetic::simulate(8))).unwrap(),
        page(&AnyDocument::from(synthetic::campaign())).unwrap(),
        page(&AnyDocument::from(synthetic::predict())).unwrap(),
        page(&AnyDocument::from(synthetic::fit())).unwrap(),
        page(&AnyDocument::from(synthetic::characteristics())).unwrap(),
        page(&AnyDocument::from(synthetic::responsiveness())).unwrap(),
        page(&AnyDocument::from(synthetic::copy())).unwrap(),
        swept(&SweepCase::windows_against_streams(7)),
    ];
    for page in pages {
        let outside = page.replace("http://www.w3.org/2000/svg", "");
        for bad in [
            "http://", "https://", "<script", "<link", "<img", "@import", "url(", "src=",
        ] {
            assert!(!outside.contains(bad), "{bad}");
        }
    }
}

#[test]
fn texts_of_the_document_are_escaped() {
    let mut document = synthetic::measure(&Case::streams(2, 1));
    let evil = "<script>alert('x')</script>\"&";
    document.body.target.name = evil.to_owned();
    document.body.run.verdict.as_mut().unwrap().because = evil.to_owned();
    document.body.run.congestion_used = Some(evil.to_owned());
    document.origin.command_line = vec![evil.to_owned()];
    document.origin.host.name = Some(evil.to_owned());
    let page = measured(document);
    assert!(!page.contains("<script"), "{page}");
    assert!(page.contains("&lt;script&gt;"));
}

#[test]
fn labels_in_a_plot_are_escaped() {
    let mut document = synthetic::demo(7);
    document.body.runs[0].label = "<b>&\"".to_owned();
    let page = page(&AnyDocument::from(document)).unwrap();
    assert!(!page.contains("<b>"));
}

#[test]
fn absurd_numbers_make_a_page_all_the_same() {
    let mut document = synthetic::measure(&Case::streams(3, 1));
    let run = &mut document.body.run;
    run.goodput_bits_per_second = u64::MAX;
    run.steady.from_seconds = -1e308;
    run.steady.to_seconds = 1e308;
    run.streams[0].delivery.progress[5].at = Time::ZERO;
    run.streams[0].delivery.progress[9].bytes = Bytes::new(u64::MAX);
    run.streams[1].delivery.progress.last_mut().unwrap().at = Time::MAX;
    run.streams[2].tcp[0].rtt = Some(Span::MAX);
    run.rtt.loaded.as_mut().unwrap().probes[0].sent = Time::MAX;
    run.rtt.unloaded.as_mut().unwrap().probes[0].rtt = Some(Span::ZERO);
    let page = measured(document);
    assert!(page.contains("</html>") && !page.contains("NaN"));
}

#[test]
fn a_document_with_nothing_in_it_makes_a_page() {
    let mut document = synthetic::measure(&Case::streams(1, 1));
    document.body.run.streams.clear();
    document.body.run.directions.clear();
    document.body.run.rtt = record::RoundTrips::default();
    document.body.run.cpu = record::Cpu::default();
    assert!(!measured(document).contains("<svg"));

    let mut tune = synthetic::tune(7);
    tune.body.samples.clear();
    tune.body.answer.as_mut().unwrap().settings.clear();
    assert!(page(&AnyDocument::from(tune)).is_ok());
}

#[test]
fn two_directions_have_a_plot_each() {
    let mut document = synthetic::measure(&Case::streams(4, 1));
    let run = &mut document.body.run;
    let mut back = run.directions[0].clone();
    back.direction = record::StreamDirection::Receiving;
    run.directions.push(back);
    run.streams[2].direction = record::StreamDirection::Receiving;
    run.streams[3].direction = record::StreamDirection::Receiving;
    let page = measured(document);
    assert!(page.contains(" Sending.") && page.contains(" Receiving."));
    assert_eq!(page.matches("<svg").count(), 3);
}

#[test]
fn a_run_that_never_settled_says_so() {
    let mut document = synthetic::measure(&Case::streams(1, 1));
    let run = &mut document.body.run;
    run.steady.settled = false;
    run.directions[0].steady.settled = false;
    let page = measured(document);
    assert!(page.contains("Not settled") && page.contains(", not settled"));
    assert!(!page.contains("steady window"));
}

#[test]
fn a_simulation_has_its_plots_and_a_campaign_has_two_for_each_variant() {
    let one = page(&AnyDocument::from(synthetic::simulate(8))).unwrap();
    assert_eq!(one.matches("<svg").count(), 2);
    let many = page(&AnyDocument::from(synthetic::campaign())).unwrap();
    assert_eq!(many.matches("<svg").count(), 4);
}

#[test]
fn simulations_with_nothing_in_them_make_a_page() {
    let mut one = synthetic::simulate(2);
    one.body.runs.clear();
    assert!(page(&AnyDocument::from(one)).is_ok());
    let mut many = synthetic::campaign();
    many.body.cells.clear();
    assert!(page(&AnyDocument::from(many)).is_ok());
}

#[test]
fn a_simulation_shows_its_round_trips_and_what_it_left_unfinished() {
    let seen = page(&AnyDocument::from(synthetic::simulate(8))).unwrap();
    for part in ["round trip", "95 % below ", "99 % below "] {
        assert!(seen.contains(part), "{part}");
    }
    let left = page(&AnyDocument::from(synthetic::transfer(true))).unwrap();
    assert!(left.contains("unfinished") && left.contains("1 of 3 runs"));
    assert!(!left.contains("the last stream had finished"));
}
