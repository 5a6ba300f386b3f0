//! Curves through samples: F1, F2, F3.

use models::{BestCombination, Curve as Model, Form, best_combination, exp_selection};
use netpath::PathSpec;
use units::Rate;

use crate::figure::{Figure, Line, Origin, Panel, Point, Scale, Values};
use crate::finding::{Finding, digits, list};
use crate::measure::goodput;
use crate::part::{Part, SetUpError};
use crate::setup::{endless, granted, over_streams};
use crate::sweep::{Seen, Sweep};

const STREAMS_MAX: u32 = 32;
/// What a further stream has to add for ExpSelection to go on.
const ACCURACY: Rate = Rate::from_bits_per_second(1_000_000);
/// The three that are badly chosen: all from where the curve still rises.
const BAD: [u32; 3] = [1, 2, 3];

pub(crate) fn part() -> Result<Part, SetUpError> {
    let base = endless(PathSpec::load("slac-cern")?, 120, 20)?;
    let counts: Vec<u32> = (1..=STREAMS_MAX).collect();
    let curve = over_streams("simulated", &base, &counts, Some(granted(256)));
    Ok(Part {
        title: "Curves through samples",
        assumed: "the path to CERN of the first document in place of the one that was measured; \
            windows of 256 kB, granted as Linux does; ExpSelection goes on while a further stream \
            adds more than 1 Mbit/s.",
        sweeps: vec![Sweep::new(vec![curve])],
        read,
    })
}

type Samples = Vec<(u32, Rate)>;

fn read(seen: &[Seen<'_>]) -> Vec<Figure> {
    let measured = seen
        .first()
        .and_then(|seen| seen.lines(goodput).into_iter().next());
    let all: Samples = measured
        .iter()
        .flat_map(|line| &line.points)
        .map(sample)
        .collect();
    let picked = exponential(&all);
    vec![
        models(measured.as_ref(), &picked),
        misprediction(measured.as_ref(), &all, &picked),
        selection(measured.as_ref(), &all, &picked),
    ]
}

fn sample(point: &Point) -> (u32, Rate) {
    (point.x as u32, Rate::from_f64(point.y * 1e6))
}

/// The samples that ExpSelection takes.
fn exponential(all: &[(u32, Rate)]) -> Samples {
    let mut taken = Samples::new();
    while let Some(next) = exp_selection(&taken, ACCURACY, STREAMS_MAX) {
        match all.iter().find(|(streams, _)| *streams == next) {
            Some(sample) => taken.push(*sample),
            None => break,
        }
    }
    taken
}

fn curve(label: &str, model: &Model) -> Line {
    let places = (1..=STREAMS_MAX).map(|n| (f64::from(n), model.throughput(n).as_f64() / 1e6));
    Line::new(label, Origin::Formula, places.collect())
}

/// The mean distance of a curve from what was measured, in Mbit/s.
fn error(line: &Line, measured: &Line) -> Option<f64> {
    let far = |point: &Point| Some((line.at(point.x)? - point.y).abs());
    let far: Option<Vec<f64>> = measured.points.iter().map(far).collect();
    stats::mean(&far?)
}

/// The forms by name through the samples that were picked, and what the oldest model says.
fn curves(picked: &[(u32, Rate)]) -> Vec<Line> {
    let one = picked.first().map(|(_, rate)| rate.as_f64() / 1e6);
    let hacker = one.map(|one| {
        let places = (1..=STREAMS_MAX).map(|n| (f64::from(n), f64::from(n) * one));
        Line::new(
            "Hacker et al.: n times one",
            Origin::Formula,
            places.take(8).collect(),
        )
    });
    let ends = picked
        .first()
        .zip(picked.last())
        .map(|(first, last)| [*first, *last]);
    let dinda = ends.and_then(|ends| Model::through(Form::PartialSecondOrder, &ends).ok());
    let best = |form| best_combination(form, picked).ok();
    let lines = [
        dinda.map(|model| curve("Dinda et al.: partial second order", &model)),
        best(Form::Newton).map(|best| curve("Newton, best combination", &best.curve)),
        best(Form::FullSecondOrder)
            .map(|best| curve("full second order, best combination", &best.curve)),
    ];
    hacker
        .into_iter()
        .chain(lines.into_iter().flatten())
        .collect()
}

fn models(measured: Option<&Line>, picked: &[(u32, Rate)]) -> Figure {
    let lines = curves(picked);
    let errors = || {
        let measured = measured?;
        let of = |start: &str| {
            let line = lines.iter().find(|line| line.label.starts_with(start));
            line.and_then(|line| error(line, measured))
        };
        let dinda = of("Dinda")?;
        let words = |error: Option<f64>| error.map_or("no curve within its bounds".into(), digits);
        let (newton, full) = (of("Newton"), of("full"));
        let best = newton.into_iter().chain(full).reduce(f64::min);
        let words = format!(
            "mean distance in Mbit/s: partial second order {}, Newton {}, full second order {}",
            digits(dinda),
            words(newton),
            words(full)
        );
        Some((best.is_some_and(|best| best <= dinda), words))
    };
    let finding = Finding::new(
        "The newer models lie closer to what was measured.",
        "The better of Newton and full second order through the samples that ExpSelection takes is \
            no further from all 32 points than partial second order through the first and the \
            last.",
        [errors()],
    );
    let panel = Panel::new(
        "buffers-models",
        "Simulated throughput against streams, and the models through a few of its points.",
        (Scale::even("streams"), Scale::even("throughput [Mbit/s]")),
        measured.cloned().into_iter().chain(lines).collect(),
    );
    Figure::new(
        &["F1"],
        "Models against what was measured",
        vec![panel],
        vec![finding],
    )
}

fn misprediction(measured: Option<&Line>, all: &[(u32, Rate)], picked: &[(u32, Rate)]) -> Figure {
    let bad: Samples = all
        .iter()
        .filter(|(n, _)| BAD.contains(n))
        .copied()
        .collect();
    let two = bad
        .first()
        .zip(bad.last())
        .map(|(first, last)| [*first, *last]);
    let bad_curve = Model::through(Form::FullSecondOrder, &bad)
        .ok()
        .or_else(|| Model::through(Form::PartialSecondOrder, &two?).ok());
    let good = best(picked).map(|best| curve("well chosen samples", &best.curve));
    let bad = bad_curve.map(|model| curve("samples at 1, 2 and 3 streams", &model));
    let seen = || {
        let measured = measured?;
        let good = error(good.as_ref()?, measured)?;
        let (holds, words) = match &bad {
            None => (
                true,
                "1, 2 and 3 streams give no curve within its bounds".to_owned(),
            ),
            Some(bad) => {
                let bad = error(bad, measured)?;
                (
                    bad >= 2.0 * good,
                    format!("1, 2 and 3 streams are {} Mbit/s off", digits(bad)),
                )
            }
        };
        Some((
            holds,
            format!("{words}, well chosen samples {}", digits(good)),
        ))
    };
    let finding = Finding::new(
        "Badly chosen samples mislead the prediction.",
        "Through 1, 2 and 3 streams the curve is at least twice as far from all points as through \
            the samples that ExpSelection and BestCmb choose, or there is none.",
        [seen()],
    );
    let panel = Panel::new(
        "buffers-misprediction",
        "The same points, and curves through well and badly chosen ones.",
        (Scale::even("streams"), Scale::even("throughput [Mbit/s]")),
        measured
            .cloned()
            .into_iter()
            .chain(good)
            .chain(bad)
            .collect(),
    );
    Figure::new(
        &["F2"],
        "What badly chosen samples do",
        vec![panel],
        vec![finding],
    )
}

/// The better of both forms through the best combination.
fn best(picked: &[(u32, Rate)]) -> Option<BestCombination> {
    let forms = [Form::Newton, Form::FullSecondOrder].into_iter();
    let found = forms.filter_map(|form| best_combination(form, picked).ok());
    found.min_by_key(|best| best.mean_absolute_error)
}

fn selection(measured: Option<&Line>, all: &[(u32, Rate)], picked: &[(u32, Rate)]) -> Figure {
    let chosen = best(picked);
    let few = || {
        let words = format!(
            "ExpSelection samples {} streams of {}",
            list(picked.iter().map(|(n, _)| n.to_string())),
            all.len()
        );
        (!all.is_empty()).then_some((picked.len() * 4 <= all.len(), words))
    };
    let good = || {
        let (best, measured) = (chosen.as_ref()?, measured?);
        let peak = best
            .curve
            .peak()?
            .round()
            .clamp(1.0, f64::from(STREAMS_MAX));
        let share = measured.at(peak)? / measured.highest()? * 100.0;
        let words = format!(
            "BestCmb takes {}, whose peak at {peak} streams carries {} % of the best",
            list(best.through.iter().map(|(n, _)| n.to_string())),
            digits(share)
        );
        Some((share >= 90.0, words))
    };
    let finding = Finding::new(
        "Few samples are enough to find a good number of streams.",
        "ExpSelection takes at most a quarter of all points, and the peak of the curve through \
            those that BestCmb picks carries at least 90 % of the best.",
        [few(), good()],
    );
    let dots = |label: &str, samples: &[(u32, Rate)]| {
        let places = samples
            .iter()
            .map(|(n, rate)| (f64::from(*n), rate.as_f64() / 1e6));
        Line::new(label, Origin::Scatter, places.collect())
    };
    let through = chosen
        .as_ref()
        .map(|best| best.through.clone())
        .unwrap_or_default();
    let panel = Panel::new(
        "buffers-selection",
        "The points that ExpSelection takes and those of them that BestCmb picks.",
        (Scale::even("streams"), Scale::even("throughput [Mbit/s]")),
        [dots("ExpSelection", picked), dots("BestCmb", &through)]
            .into_iter()
            .chain(chosen.map(|best| curve("its curve", &best.curve)))
            .chain(measured.cloned())
            .collect(),
    );
    Figure::new(
        &["F3"],
        "Points that were chosen",
        vec![panel],
        vec![finding],
    )
}
