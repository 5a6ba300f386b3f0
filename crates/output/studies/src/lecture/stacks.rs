//! What a simulator says beside what was measured: T8, F9, F10.

use netpath::PathSpec;
use sim::{Scenario, TcpSettings, Variant};
use stats::fit_line;
use units::Bytes;

use crate::figure::{Figure, Line, Panel, Scale, Values, printed};
use crate::finding::{Finding, beside, digits};
use crate::measure::goodput;
use crate::part::{Part, SetUpError};
use crate::setup::{endless, granted, over_streams};
use crate::sweep::{Seen, Sweep};

const COUNTS: [u32; 9] = [1, 2, 3, 4, 6, 8, 10, 14, 20];
const STACKS: [Variant; 4] = [Variant::Sack, Variant::Reno, Variant::Tahoe, Variant::Vegas];
/// Mbit/s of 2 x 256 kB and 8 x 64 kB.
const PRINTED: [(f64, f64); 2] = [(2.0, 9.45), (8.0, 26.8)];
/// Interquartile ranges of both, printed by the first document.
const RANGES: [f64; 2] = [4.63, 10.6];

pub(crate) fn part() -> Result<Part, SetUpError> {
    let mut base = endless(PathSpec::load("slac-cern")?, 60, 10)?;
    base.tcp = TcpSettings::ns2(&base.path);
    let stack = |variant: &Variant, window: Bytes, label: &str| {
        let base = Scenario {
            variant: *variant,
            ..base.clone()
        };
        over_streams(
            format!("{} {label}", variant.name()),
            &base,
            &COUNTS,
            Some(window),
        )
    };
    let small = STACKS.iter().map(|each| stack(each, granted(64), "64 kB"));
    let large = STACKS
        .iter()
        .map(|each| stack(each, granted(256), "256 kB"));
    Ok(Part {
        title: "A simulator beside what was measured",
        assumed: "the path to CERN of the first document and TCP as ns-2 has it; which windows and \
            queues the lecture shows is not printed.",
        sweeps: vec![Sweep::new(small.chain(large).collect())],
        read,
    })
}

fn read(seen: &[Seen<'_>]) -> Vec<Figure> {
    let lines: Vec<Line> = seen.iter().flat_map(|seen| seen.lines(goodput)).collect();
    let (small, large) = lines.split_at(lines.len().min(STACKS.len()));
    let (optimum, agreement) = findings(small, large);
    let panel = |name, lines: &[Line], mark: (f64, f64)| {
        let lines = lines.iter().cloned().chain([printed([mark])]).collect();
        let caption = "Throughput to CERN by four stacks, with the printed median.";
        let scales = (Scale::even("streams"), Scale::even("throughput [Mbit/s]"));
        Panel::new(name, caption, scales, lines)
    };
    vec![
        Figure::new(
            &["T8"],
            "Windows against streams to CERN",
            Vec::new(),
            vec![optimum],
        ),
        Figure::new(
            &["F9", "F10"],
            "Four stacks of ns-2",
            vec![
                panel("lecture-stacks-64", small, PRINTED[1]),
                panel("lecture-stacks-256", large, PRINTED[0]),
            ],
            vec![agreement],
        ),
    ]
}

/// What T8 says, and what F10 shows.
fn findings(small: &[Line], large: &[Line]) -> (Finding, Finding) {
    let near = |lines: &[Line], index: usize, what: &str| {
        let (streams, rate) = PRINTED[index];
        let ours = lines.first()?.at(streams)?;
        Some(beside(what, "Mbit/s", ours, rate, RANGES[index]))
    };
    let grows = || {
        let fit = fit_line(&small.first()?.up_to(10.0))?;
        let share = fit.r_squared?;
        Some((
            share >= 0.95,
            format!("a line through 1 to 10 streams has R2 {share:.2}"),
        ))
    };
    let flat = || {
        let line = large.first()?;
        let (peak, last) = (line.peak(0.05)?, line.last()? / line.highest()?);
        let words = format!(
            "256 kB come within 5 % of the best with {peak} streams; 20 streams carry {} % of it",
            digits(last * 100.0)
        );
        Some((peak < 20.0 && last >= 0.95, words))
    };
    let optimum = Finding::new(
        "2 x 256 kB carry 9.45 Mbit/s, 8 x 64 kB 26.8; there is an optimum, then it is flat.",
        "With SACK both are within the interquartile range of the printed medians; 256 kB come \
            within 5 % of the best before 20 streams and stay there.",
        [
            near(large, 0, "2 x 256 kB"),
            near(small, 1, "8 x 64 kB"),
            flat(),
        ],
    );
    let agreement = Finding::new(
        "The simulator agrees well with what was measured, among it the linear growth.",
        "With SACK and 64 kB growth is linear up to 10 streams (R2 of at least 0.95), and 8 \
            streams are within the interquartile range of the printed median.",
        [grows(), near(small, 1, "8 x 64 kB")],
    );
    (optimum, agreement)
}
