//! How much round trips vary: F10, F11, F12 and T2.

use netpath::{Cross, CrossTraffic, PathSpec};
use sim::Scenario;
use stats::{
    Exponential, Logarithm, bin_width, cumulative, fit_exponential, fit_line, fit_logarithm,
    frequencies, mean, median, spread, standard_deviation,
};
use units::{Bytes, Span};

use super::grid::COUNTS;
use crate::figure::{Figure, Line, Origin, Panel, Scale};
use crate::finding::{Finding, beside, digits};
use crate::measure::{added, goodput, variability};
use crate::part::{Part, SetUpError};
use crate::setup::{Link, granted, over_streams, pinged};
use crate::sweep::{Seen, Sweep};

/// Fourteen counts 21 times are 294 visits; the document has 300.
const CYCLES: u64 = 21;

const STANFORD: Link = Link {
    name: "stanford-slac",
    mbit: 40.0,
    rtt_ms: 4.0,
    queue_kib: 64,
    loss: 1e-3,
    mtu: 1500,
};

/// Others' transfers: a tenth of the link, of which the document says it was below 30 %.
fn others(per_second: f64) -> Cross {
    Cross {
        traffic: CrossTraffic::Transfers {
            per_second,
            mean_size: Bytes::new(50_000),
            shape: 1.2,
            window: Bytes::from_kib(64),
        },
        congestion: None,
        class: netpath::Class::BestEffort,
        extra_delay: Span::ZERO,
    }
}

pub(crate) fn part() -> Result<Part, SetUpError> {
    let mut path = PathSpec::load("slac-in2p3")?;
    path.cross = vec![others(5.0)];
    let lyon = pinged(path, 20)?;
    let mut path = STANFORD.path()?;
    path.cross = vec![others(10.0)];
    let stanford = pinged(path, 20)?;
    let loaded = |base: &Scenario, kib: u64| {
        let window = Some(granted(kib));
        let curve = over_streams("loaded", base, &COUNTS, window);
        Sweep::new(vec![curve]).cycles(CYCLES)
    };
    let unloaded = over_streams("unloaded", &lyon, &[0], None);
    Ok(Part {
        title: "How much round trips vary",
        assumed: "others send transfers of 50 kB in the mean, sizes after Pareto with shape 1.2, a \
            tenth of the link to IN2P3; the counts of streams of set-up B in equal parts; of the \
            path from Stanford everything. Windows of 256 kB, from Stanford 16 kB.",
        sweeps: vec![
            loaded(&lyon, 256),
            Sweep::new(vec![unloaded]).cycles(CYCLES * COUNTS.len() as u64),
            loaded(&stanford, 16),
        ],
        read,
    })
}

/// What one visit shows.
#[derive(Clone, Copy)]
struct Visit {
    goodput: f64,
    added: f64,
    variability: f64,
}

fn visits(seen: &Seen<'_>) -> Vec<Visit> {
    let cells = seen.cells().into_iter().flatten();
    let visit = |(scenario, result): (&Scenario, &sim::RunResult)| {
        Some(Visit {
            goodput: goodput(scenario, result)?,
            added: added(scenario, result)?,
            variability: variability(scenario, result)?,
        })
    };
    let runs = cells.flat_map(|cell| {
        cell.runs
            .iter()
            .map(move |ran| (cell.scenario, &ran.result))
    });
    runs.filter_map(visit).collect()
}

fn read(seen: &[Seen<'_>]) -> Vec<Figure> {
    let [loaded, unloaded, stanford] = seen else {
        return Vec::new();
    };
    let (loaded, idle, stanford) = (visits(loaded), visits(unloaded), visits(stanford));
    let rv = |visits: &[Visit]| {
        visits
            .iter()
            .map(|visit| visit.variability)
            .collect::<Vec<f64>>()
    };
    vec![
        distributions(&loaded, &rv(&loaded)),
        summary(&rv(&idle), &rv(&loaded)),
        agreement(
            &["F11"],
            "dRTT against RV, SLAC to IN2P3",
            "windows-rv-delay-lyon",
            loaded
                .iter()
                .map(|visit| (visit.variability, visit.added))
                .collect(),
            ("RV [%]", "dRTT [ms]"),
        ),
        agreement(
            &["F12"],
            "Predictability against dRTT, Stanford to SLAC",
            "windows-rp-delay-stanford",
            stanford
                .iter()
                .map(|visit| (visit.added, 100.0 - visit.variability))
                .collect(),
            ("dRTT [ms]", "RP [%]"),
        ),
    ]
}

/// The share of values in each bin.
fn histogram(values: &[f64]) -> Option<Vec<(f64, f64)>> {
    Some(frequencies(values, bin_width(values)?)?.shares())
}

fn distributions(visits: &[Visit], rv: &[f64]) -> Figure {
    let rates: Vec<f64> = visits.iter().map(|visit| visit.goodput).collect();
    let runs = |places: Option<Vec<(f64, f64)>>| {
        Line::new("visits", Origin::Runs, places.unwrap_or_default())
    };
    let fitted = |label: &str, at: &dyn Fn(f64) -> f64, most: f64| {
        let places = (1..=50).map(|step| f64::from(step) / 50.0 * most);
        let places = places.map(|x| (x, at(x))).collect();
        Line::new(label, Origin::FormulaOf(0), places)
    };
    let most = rv.iter().copied().fold(0.0, f64::max);
    let exponential = histogram(rv).and_then(|places| fit_exponential(&places));
    let logarithm = cumulative(rv).and_then(|places| fit_logarithm(&places));
    let curve = exponential.map(|fit| {
        fitted(
            "exponential",
            &|x| fit.height * (-x / fit.scale).exp(),
            most,
        )
    });
    let log = logarithm.map(|fit| fitted("logarithm", &|x| fit.at(x), most));
    let share = Scale::even("share of the visits");
    let panels = vec![
        Panel::new(
            "windows-frequency-throughput",
            "How often which throughput was seen.",
            (Scale::even("throughput [Mbit/s]"), share),
            vec![runs(histogram(&rates))],
        ),
        Panel::new(
            "windows-frequency-rv",
            "How often which rate variability was seen, and the exponential fitted to it.",
            (Scale::even("RV [%]"), share),
            [runs(histogram(rv))].into_iter().chain(curve).collect(),
        ),
        Panel::new(
            "windows-cdf-rv",
            "Share of the visits with at most this rate variability, and the logarithm fitted to \
                it.",
            (Scale::even("RV [%]"), share),
            [runs(cumulative(rv))].into_iter().chain(log).collect(),
        ),
    ];
    let findings = distribution_findings(rv, exponential, logarithm);
    Figure::new(
        &["F10"],
        "How often which throughput and RV were seen",
        panels,
        findings,
    )
}

fn distribution_findings(
    rv: &[f64],
    exponential: Option<Exponential>,
    logarithm: Option<Logarithm>,
) -> Vec<Finding> {
    let fits = |share: Option<f64>, words: String| Some((share? >= 0.6, words));
    vec![
        Finding::new(
            "Loaded RV is at most 10 % in about 73 % of cases.",
            "Within 10 points: twice the error of a share of 300.",
            [below_ten(rv)],
        ),
        Finding::new(
            "The frequency of RV is exponential, its distribution a logarithm.",
            "The fits have R2 of at least 0.6, and the frequency falls.",
            [
                exponential.and_then(|fit| {
                    let share = fit.r_squared?;
                    let words = match fit.scale > 0.0 {
                        true => format!("falls by e every {} %, R2 {share:.2}", digits(fit.scale)),
                        false => format!("rises with RV, R2 of an exponential {share:.2}"),
                    };
                    Some((
                        share >= 0.6 && fit.scale > 0.0,
                        format!("the frequency {words}"),
                    ))
                }),
                logarithm.and_then(|fit| {
                    let share = fit.r_squared?;
                    fits(
                        Some(share),
                        format!("the distribution is a logarithm with R2 {share:.2}"),
                    )
                }),
            ],
        ),
    ]
}

fn below_ten(rv: &[f64]) -> Option<(bool, String)> {
    let below = rv.iter().filter(|value| **value <= 10.0).count();
    let share = below as f64 / rv.len() as f64 * 100.0;
    (!rv.is_empty()).then(|| {
        beside(
            "RV is at most 10 % in",
            "% of the visits",
            share,
            73.0,
            10.0,
        )
    })
}

/// The printed rows: average, deviation, median, interquartile range, least and most, in percent.
const PRINTED: [(&str, [f64; 6]); 2] = [
    ("unloaded", [0.4, 3.4, 0.0, 0.0, 0.0, 56.5]),
    ("loaded", [7.1, 7.8, 4.4, 9.6, 0.6, 54.4]),
];
const WHAT: [&str; 6] = ["average", "deviation", "median", "IQR", "least", "most"];

fn six(rv: &[f64]) -> Option<[f64; 6]> {
    Some([
        mean(rv)?,
        standard_deviation(rv)?,
        median(rv)?,
        spread(rv)?.interquartile_range(),
        rv.iter().copied().reduce(f64::min)?,
        rv.iter().copied().reduce(f64::max)?,
    ])
}

fn summary(idle: &[f64], loaded: &[f64]) -> Figure {
    let ours = [six(idle), six(loaded)];
    let check = |row: usize, column: usize| {
        let (name, printed) = PRINTED[row];
        let (ours, printed) = (ours[row]?[column], printed[column]);
        let (_, words) = beside(&format!("{name} {}", WHAT[column]), "%", ours, printed, 0.0);
        let near = (ours - printed).abs() <= 0.5;
        Some((near || (0.5..=2.0).contains(&(ours / printed)), words))
    };
    let rule = "Half to twice what is printed, or within half a point of it.";
    let findings = vec![
        Finding::new(
            "Unloaded RV is small.",
            rule,
            [0, 2, 3].map(|column| check(0, column)),
        ),
        Finding::new(
            "Loaded RV is several percent, and scatters as much as it is.",
            rule,
            [0, 1, 2, 3].map(|column| check(1, column)),
        ),
    ];
    let rows = PRINTED
        .iter()
        .zip(ours)
        .flat_map(|((name, printed), ours)| {
            let row = |name: String, values: [f64; 6]| {
                let numbers = values.into_iter().map(digits);
                [name].into_iter().chain(numbers).collect::<Vec<String>>()
            };
            let printed = Some(row(format!("{name}, printed"), *printed));
            [printed, ours.map(|ours| row(format!("{name}, here"), ours))]
        });
    let rows = rows.flatten().collect();
    Figure::new(&["T2"], "RV of 300 visits", Vec::new(), findings).with(
        [
            "RV [%]",
            "average",
            "deviation",
            "median",
            "IQR",
            "least",
            "most",
        ],
        rows,
    )
}

fn agreement(
    ids: &'static [&'static str],
    title: &str,
    name: &'static str,
    mut places: Vec<(f64, f64)>,
    (x, y): (&'static str, &'static str),
) -> Figure {
    places.sort_by(|a, b| a.0.total_cmp(&b.0));
    let line = fit_line(&places);
    let seen = || {
        let fit = line?;
        let share = fit.r_squared?;
        Some((
            share >= 0.6,
            format!("a line through {} visits has R2 {share:.2}", places.len()),
        ))
    };
    let findings = vec![Finding::new(
        "The two agree.",
        "R2 of a line is at least 0.6, which is printed for Stanford to SLAC.",
        [seen()],
    )];
    let ends = places.first().zip(places.last());
    let fitted = ends.zip(line).map(|((first, last), line)| {
        let ends = [first.0, last.0].map(|x| (x, line.at(x)));
        Line::new("line", Origin::FormulaOf(0), ends.to_vec())
    });
    let visits = Line::new("visits", Origin::Scatter, places.clone());
    let panel = Panel::new(
        name,
        "Each visit, and a line through them.",
        (Scale::even(x), Scale::even(y)),
        [visits].into_iter().chain(fitted).collect(),
    );
    Figure::new(ids, title, vec![panel], findings)
}
