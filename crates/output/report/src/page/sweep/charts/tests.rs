use record::synthetic::{self, Case, SweepCase, measure};
use record::{AnyDocument, Direction, Document, Sweep, Window};

use super::*;
use crate::page::sweep::groups::groups;
use crate::page::sweep::{page, representative};

fn usual() -> SweepCase {
    SweepCase::windows_against_streams(7)
}

/// A made-up document with its analysis, as a finished sweep has one.
fn sweep(case: &SweepCase) -> Document<Sweep> {
    let document = synthetic::sweep(case);
    Document {
        body: document.body.analysed(),
        ..document
    }
}

fn drawn(case: SweepCase) -> (Vec<Figure>, Vec<String>) {
    told(&sweep(&case).body)
}

/// A figure as it is drawn.
struct Figure {
    name: String,
    caption: String,
    svg: String,
}

/// The figures, and why others cannot be drawn.
fn told(sweep: &Sweep) -> (Vec<Figure>, Vec<String>) {
    let (mut figures, mut reasons) = (Vec::new(), Vec::new());
    for block in groups(sweep, &sweep.analysis()).iter().flat_map(section) {
        match block {
            Block::Figure(figure) => figures.push(Figure {
                name: format!("{}.svg", figure.name),
                svg: figure.chart.svg().unwrap(),
                caption: figure.caption,
            }),
            Block::Note(reason) => reasons.push(reason),
            _ => {}
        }
    }
    (figures, reasons)
}

fn names(figures: &[Figure]) -> Vec<&str> {
    figures.iter().map(|figure| figure.name.as_str()).collect()
}

fn named<'a>(figures: &'a [Figure], name: &str) -> &'a Figure {
    let found = figures.iter().find(|figure| figure.name == name);
    found.unwrap_or_else(|| panic!("no {name} among {:?}", names(figures)))
}

#[test]
fn a_usual_sweep_has_every_figure_but_the_one_of_durations() {
    let (figures, reasons) = drawn(usual());
    let expected = [
        "goodput-streams.svg",
        "heatmap.svg",
        "round-trips.svg",
        "delay-goodput.svg",
        "variability-streams.svg",
        "goodput-histogram.svg",
        "goodput-cdf.svg",
        "variability-histogram.svg",
        "variability-cdf.svg",
        "processor-goodput.svg",
        "processor-streams.svg",
        "sharing-streams.svg",
    ];
    assert_eq!(names(&figures), expected);
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    assert!(reasons[0].contains("duration"));
    for figure in &figures {
        assert!(
            figure.caption.ends_with('.') && !figure.svg.contains("NaN"),
            "{}",
            figure.name
        );
    }
}

#[test]
fn every_setting_is_a_dot_in_every_panel_and_a_field_of_the_map() {
    let (figures, _) = drawn(usual());
    let curves = &named(&figures, "goodput-streams.svg").svg;
    assert_eq!(curves.matches("r=\"8\"").count(), 4 * 80);
    for title in [
        "goodput [Mbit/s]",
        "dRTT [ms]",
        "resent [%]",
        "probes lost [%]",
    ] {
        assert!(curves.contains(title), "{title}");
    }
    // One ring for the recommendation; the legend has its own size.
    assert_eq!(curves.matches("r=\"20\"").count(), 1);
    let map = &named(&figures, "heatmap.svg").svg;
    assert_eq!(map.matches("<rect").count(), 80);
}

#[test]
fn every_visit_is_a_dot_of_the_clouds() {
    let (figures, _) = drawn(usual());
    let rtt = named(&figures, "round-trips.svg");
    assert_eq!(rtt.svg.matches("r=\"7\"").count(), 400);
    let cpu = named(&figures, "processor-goodput.svg");
    // Kernel and program here, kernel there.
    assert_eq!(cpu.svg.matches("r=\"7\"").count(), 3 * 400);
    assert!(cpu.caption.contains("and the far end's"), "{}", cpu.caption);
    let price = named(&figures, "delay-goodput.svg");
    assert_eq!(price.svg.matches("r=\"7\"").count(), 2 * 400);
    // The made-up kernel takes 0.145 % for each Mbit/s and up to 8 % more with many streams.
    let (_, slope) = cpu.caption.split_once("kernel 0.15").unwrap();
    assert!(
        slope.contains("% for each Mbit/s, R\u{b2} = 0.9"),
        "{}",
        cpu.caption
    );
}

#[test]
fn the_goodput_of_the_visits_is_told_with_the_nearest_distribution() {
    let (figures, _) = drawn(usual());
    let histogram = named(&figures, "goodput-histogram.svg");
    assert!(
        histogram.caption.contains("distribution lies nearest"),
        "{}",
        histogram.caption
    );
    let below = named(&figures, "goodput-cdf.svg");
    assert!(
        below.caption.contains("of 400 visits lie within 10 %"),
        "{}",
        below.caption
    );
    assert!(!below.svg.contains("NaN"));
}

#[test]
fn the_histogram_holds_every_visit() {
    let (figures, _) = drawn(usual());
    let histogram = named(&figures, "variability-histogram.svg");
    assert!(histogram.svg.contains("exponential") && histogram.caption.contains("of 400 visits"));
    let cdf = named(&figures, "variability-cdf.svg");
    assert!(cdf.svg.contains("logarithm") && cdf.caption.contains("R\u{b2} = "));
}

#[test]
fn each_direction_has_its_own_figures() {
    let (figures, _) = drawn(SweepCase {
        directions: vec![Direction::Forward, Direction::Reverse],
        ..usual()
    });
    assert_eq!(figures.len(), 24);
    assert!(
        named(&figures, "heatmap-2-receiving.svg")
            .caption
            .contains("receiving")
    );
}

#[test]
fn one_number_of_streams_is_drawn_against_windows() {
    let (figures, reasons) = drawn(SweepCase {
        streams: vec![8],
        ..usual()
    });
    let curves = named(&figures, "goodput-streams.svg");
    assert!(curves.svg.contains("8 streams") && curves.svg.contains("256KiB"));
    assert!(curves.caption.contains("against the window"));
    assert!(reasons.iter().any(|reason| reason.contains("at least two")));
}

#[test]
fn one_setting_has_no_curves_and_the_reasons_are_told() {
    let (figures, reasons) = drawn(SweepCase {
        streams: vec![4],
        windows: vec![Window::Auto],
        cycles: 21,
        ..usual()
    });
    let expected = [
        "round-trips.svg",
        "delay-goodput.svg",
        "goodput-histogram.svg",
        "goodput-cdf.svg",
        "variability-histogram.svg",
        "variability-cdf.svg",
        "processor-goodput.svg",
    ];
    assert_eq!(names(&figures), expected);
    assert_eq!(reasons.len(), 6, "{reasons:?}");
}

#[test]
fn without_visits_there_is_a_sentence() {
    let mut document = sweep(&SweepCase {
        failing: 1,
        ..usual()
    });
    assert!(
        document
            .body
            .cells
            .iter()
            .all(|cell| cell.figures.is_none())
    );
    let (figures, reasons) = told(&document.body);
    assert!(figures.is_empty());
    assert_eq!(
        reasons,
        ["No visit was measured, so there is nothing to draw."]
    );
    document.body.plan.settings.clear();
    document.body.cells.clear();
    assert!(told(&document.body).0.is_empty());
}

#[test]
fn without_round_trips_and_processors_the_other_figures_stay() {
    let mut document = sweep(&usual());
    for cell in &mut document.body.cells {
        let figures = cell.figures.as_mut().unwrap();
        figures.rtt_loaded = None;
        (figures.cpu_user_ratio, figures.cpu_kernel_ratio) = (None, None);
        (figures.cpu_far_user_ratio, figures.cpu_far_kernel_ratio) = (None, None);
    }
    document.body = document.body.analysed();
    let (figures, reasons) = told(&document.body);
    let curves = named(&figures, "goodput-streams.svg");
    assert!(!curves.svg.contains("dRTT") && curves.caption.contains("no visit tells of: dRTT"));
    assert!(
        !names(&figures)
            .iter()
            .any(|name| name.starts_with("processor"))
    );
    assert!(
        reasons
            .iter()
            .any(|reason| reason.contains("round trips both"))
    );
}

#[test]
fn of_many_windows_some_are_drawn_and_many_visits_become_medians() {
    let (figures, _) = drawn(SweepCase {
        windows: (1..=20)
            .map(|i| Window::Fixed(units::Bytes::from_kib(i * i)))
            .collect(),
        streams: (1..=128).step_by(3).collect(),
        cycles: 2,
        ..usual()
    });
    let curves = named(&figures, "goodput-streams.svg");
    assert!(curves.caption.contains("6 of 20 windows"));
    let rtt = named(&figures, "round-trips.svg");
    assert_eq!(rtt.svg.matches("r=\"7\"").count(), 20 * 43);
    assert!(rtt.caption.contains("each setting's medians"));
}

#[test]
fn several_durations_have_a_figure() {
    let (figures, _) = drawn(SweepCase {
        durations: vec![10.0, 40.0, 160.0],
        ..usual()
    });
    let duration = named(&figures, "duration.svg");
    assert!(duration.svg.contains("160 (133 visits)"));
}

#[test]
fn the_representative_visit_is_the_one_nearest_to_the_median() {
    let document = sweep(&usual());
    let analysis = document.body.analysis();
    let chosen = analysis.directions[0].recommended.as_ref().unwrap();
    let run = representative(&AnyDocument::from(document.clone())).unwrap();
    let cell = document
        .body
        .cells
        .iter()
        .find(|cell| cell.run == Some(run))
        .unwrap();
    assert_eq!(cell.setting, chosen.at.setting);
    // Of five visits the median is one of them.
    let goodput = cell.figures.as_ref().unwrap().goodput_bits_per_second;
    assert_eq!(goodput, chosen.at.goodput.median_bits_per_second);
    let visit = measure(&Case::streams(8, 1)).body;
    let page = page(&document.body, Some(&visit));
    assert_eq!(page.figures()[0].name, "one-visit");
}

#[test]
fn absurd_numbers_are_drawn_all_the_same() {
    let absurd = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        -1.0,
        1e308,
        -1e308,
        0.0,
        5e-324,
    ];
    let mut document = sweep(&SweepCase {
        cycles: 2,
        ..usual()
    });
    let mut values = absurd.into_iter().cycle();
    let mut next = || values.next().unwrap();
    for (place, cell) in document.body.cells.iter_mut().enumerate() {
        let figures = cell.figures.as_mut().unwrap();
        figures.goodput_bits_per_second = [0, 1, u64::MAX][place % 3];
        figures.duration_seconds = next();
        for series in [&mut figures.rtt_loaded, &mut figures.rtt_unloaded] {
            let series = series.as_mut().unwrap();
            (series.min, series.mean) = (next(), next());
            series.loss = next();
        }
        figures.retransmitted_ratio = Some(next());
        (figures.cpu_user_ratio, figures.cpu_kernel_ratio) = (Some(next()), Some(next()));
        figures
            .streams
            .iter_mut()
            .for_each(|s| s.goodput_bits_per_second = Some(u64::MAX));
        next();
    }
    // Once with an analysis that belongs to other visits, once with none.
    for analysis in [document.body.analysis.clone(), None] {
        document.body.analysis = analysis;
        let (figures, _) = told(&document.body);
        assert!(!figures.is_empty());
        for figure in figures {
            assert!(
                !figure.svg.contains("NaN") && figure.svg.len() < 1 << 20,
                "{}",
                figure.name
            );
        }
    }
}

#[test]
fn an_absurd_analysis_is_drawn_all_the_same() {
    let mut document = sweep(&usual());
    let analysis = document.body.analysis.as_mut().unwrap();
    for bad in [f64::NAN, f64::INFINITY, -1.0, 1e308, 0.0, 1e-300] {
        let direction = &mut analysis.directions[0];
        for curve in &mut direction.curves {
            if let Some(knee) = &mut curve.knee {
                (knee.streams, knee.share_ratio) = (u16::MAX, bad);
            }
        }
        let loaded = direction.rate_variability_loaded.as_mut().unwrap();
        loaded.bin_width_ratio = Some(bad);
        let exponential = loaded.exponential.as_mut().unwrap();
        (exponential.height_ratio, exponential.scale_ratio) = (bad, bad);
        let logarithm = loaded.logarithm.as_mut().unwrap();
        (logarithm.slope, logarithm.offset) = (bad, bad);
        let recommended = direction.recommended.as_mut().unwrap();
        recommended.at.setting.streams = record::StreamCount::MAX;
        recommended.share_of_highest_ratio = bad;
        let mut altered = sweep(&usual()).body;
        altered.analysis = Some(analysis.clone());
        assert_eq!(told(&altered).0.len(), 12, "{bad}");
        analysis.clone_from(&sweep(&usual()).body.analysis());
    }
}
