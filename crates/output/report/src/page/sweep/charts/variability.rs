//! The rate variability of the visits: how often which, and how many lie below.

use draw::chart::palette::RGBColor;
use record::sweep::Distribution;

use super::{Drawing, figure};
use crate::page::sweep::groups::Group;
use crate::page::sweep::metric::{Metric, VARIABILITY_IDLE, VARIABILITY_LOADED};
use draw::chart::axis::Axis;
use draw::chart::palette::{self, ACCENT};
use draw::chart::{Axes, Chart, Layer, Shape};
use draw::chart::{Entry, Mark};
use draw::format::percent;

const LOADED: RGBColor = palette::BLUE;
const IDLE: RGBColor = palette::SERIES[2];
/// Bars narrower than this share of the axis cannot be told apart.
const BARS_MAX: f64 = 50.0;
/// Fewer visits than this have no distribution.
const VISITS_MIN: usize = 8;
/// The smallest variability that a logarithmic axis shows, in percent.
const SMALLEST: f64 = 0.01;

/// One kind of round trips: what is drawn of it.
struct Kind {
    name: &'static str,
    colour: RGBColor,
    /// In percent.
    values: Vec<f64>,
}

fn kinds(group: &Group<'_>) -> Vec<Kind> {
    let values = |metric: &Metric| -> Vec<f64> {
        let known = group
            .all()
            .filter_map(|(_, _, figures)| (metric.of)(figures));
        known.map(|share| share * 100.0).collect()
    };
    let kinds = [
        ("loaded", LOADED, &VARIABILITY_LOADED),
        ("unloaded", IDLE, &VARIABILITY_IDLE),
    ];
    let kinds = kinds.map(|(name, colour, metric)| Kind {
        name,
        colour,
        values: values(metric),
    });
    kinds
        .into_iter()
        .filter(|kind| kind.values.len() >= VISITS_MIN)
        .collect()
}

fn left_out(what: &str) -> Drawing {
    Drawing::LeftOut(format!(
        "No {what} of the rate variability: it takes round trips of at least {VISITS_MIN} visits."
    ))
}

/// How often each variability was seen, loaded above unloaded.
pub(super) fn histogram(group: &Group<'_>) -> Drawing {
    let kinds = kinds(group);
    if kinds.is_empty() {
        return left_out("histogram");
    }
    let longest = kinds
        .iter()
        .flat_map(|kind| &kind.values)
        .copied()
        .fold(0.0, f64::max);
    let width = bin_width(group, &kinds, longest);
    let end = ((longest / width).floor() + 1.0) * width;
    let x = Axis::exact(0.0, end, 10);
    let fit = exponential(group, width);
    let last = kinds.len() - 1;
    let panels = kinds.iter().enumerate();
    let panels = panels.map(|(place, kind)| bars(kind, &x, width, fit.as_ref(), place == last));
    let mut entries: Vec<Entry> = kinds
        .iter()
        .map(|kind| Entry::new(Mark::Area(kind.colour), kind.name))
        .collect();
    entries.extend(fit.map(|_| Entry::new(Mark::Dashes(ACCENT), "exponential")));
    let chart = Chart::new(entries, panels);
    let caption = format!(
        "How often which rate variability was seen (RV = 1 - smallest / mean round trip of a \
            visit), in bins of {} %{}.{}{}",
        draw::format::three_digits(width),
        if kinds.len() > 1 {
            ", beside the streams above and idle below"
        } else {
            ""
        },
        loaded_words(&kinds),
        fit.map(|fit| fit_words("exponential", fit.r_squared))
            .unwrap_or_default(),
    );
    figure(group, "variability-histogram", chart, caption)
}

fn fit_words(name: &str, r_squared: Option<f64>) -> String {
    let quality = r_squared
        .map(|r| format!(" has R\u{b2} = {r:.2}"))
        .unwrap_or_default();
    format!(" The {name} through the loaded ones{quality}.")
}

/// Mean and median of the loaded visits, for a caption.
fn loaded_words(kinds: &[Kind]) -> String {
    let words = |kind: &Kind| {
        let share = |value: f64| percent(value / 100.0);
        let below = kind.values.iter().filter(|value| **value <= 10.0).count();
        let below = below as f64 / kind.values.len() as f64;
        Some(format!(
            " {}: mean {}, median {}, at most 10 % in {} of {} visits.",
            if kind.name == "loaded" {
                "Loaded"
            } else {
                "Unloaded"
            },
            share(stats::mean(&kind.values)?),
            share(stats::median(&kind.values)?),
            percent(below),
            kind.values.len(),
        ))
    };
    kinds.iter().filter_map(words).collect()
}

/// The bins of the analysis, in percent, where they are neither too many nor too few to see; else
/// round ones.
fn bin_width(group: &Group<'_>, kinds: &[Kind], longest: f64) -> f64 {
    let found = loaded(group).and_then(|seen| seen.bin_width_ratio);
    let found = found.map(|ratio| ratio * 100.0);
    let seen = |width: &f64| (longest / BARS_MAX..=longest.max(1e-3)).contains(width);
    found.filter(seen).unwrap_or_else(|| {
        let widest = kinds.iter().find_map(|kind| stats::bin_width(&kind.values));
        let least = (longest / BARS_MAX).max(1e-3);
        draw::chart::axis::step(widest.unwrap_or(least).max(least))
    })
}

/// What the analysis says of the loaded visits.
fn loaded<'a>(group: &Group<'a>) -> Option<&'a Distribution> {
    group.analysis?.rate_variability_loaded.as_ref()
}

/// The exponential through the shares of the loaded visits, on an axis in percent. It belongs to
/// the bins of the analysis and is left out with others; one that grows is no exponential of this
/// kind.
fn exponential(group: &Group<'_>, width: f64) -> Option<stats::Exponential> {
    let seen = loaded(group)?;
    let fit = seen.exponential?;
    let same_bins = (seen.bin_width_ratio? * 100.0 / width - 1.0).abs() < 1e-9;
    let falls = fit.scale_ratio > 0.0 && fit.scale_ratio.is_finite();
    let usable = same_bins && falls && fit.height_ratio.is_finite();
    usable.then_some(stats::Exponential {
        height: fit.height_ratio,
        scale: fit.scale_ratio * 100.0,
        r_squared: fit.r_squared,
    })
}

fn bars(
    kind: &Kind,
    x: &Axis,
    width: f64,
    fit: Option<&stats::Exponential>,
    is_last: bool,
) -> Axes {
    let counted = stats::frequencies(&kind.values, width);
    let shares = counted.map(|counted| counted.shares()).unwrap_or_default();
    let gap = width * 0.06;
    let bar = |(middle, share): &(f64, f64)| {
        let half = width / 2.0 - gap;
        (middle - half, middle + half, share * 100.0)
    };
    let bars: Vec<(f64, f64, f64)> = shares
        .iter()
        .filter(|(_, share)| *share > 0.0)
        .map(bar)
        .collect();
    let top = bars.iter().map(|(_, _, high)| *high).fold(0.0, f64::max);
    let mut layers = vec![Layer {
        colour: kind.colour,
        shape: Shape::Bars(bars),
    }];
    if let Some(fit) = fit.filter(|_| kind.name == "loaded") {
        let curve = (0..=40).map(|i| x.high * f64::from(i) / 40.0);
        let curve = curve.map(|at| (at, fit.at(at) * 100.0)).collect();
        layers.push(Layer {
            colour: ACCENT,
            shape: Shape::Dashes(curve),
        });
    }
    Axes {
        height: 430 + if is_last { 68 } else { 0 },
        x: x.clone(),
        x_title: is_last.then(|| "rate variability, RV [%]".to_owned()),
        y: Axis::whole(0.0, top, 4),
        y_title: "visits [%]".to_owned(),
        layers,
    }
}

/// The share of visits with no more than each variability.
pub(super) fn cumulated(group: &Group<'_>) -> Drawing {
    let kinds = kinds(group);
    if kinds.is_empty() {
        return left_out("distribution");
    }
    let all = kinds.iter().flat_map(|kind| &kind.values).copied();
    let (low, high) = all.fold(
        (100.0, SMALLEST * 10.0),
        |(low, high): (f64, f64), value| (low.min(value), high.max(value)),
    );
    let x = Axis::powers_of_ten(low.max(SMALLEST), high);
    let fit = logarithm(group);
    let mut layers: Vec<Layer> = kinds
        .iter()
        .map(|kind| Layer {
            colour: kind.colour,
            shape: Shape::Line(steps(&kind.values)),
        })
        .collect();
    layers.extend(fit.map(|fit| Layer {
        colour: ACCENT,
        shape: Shape::Dashes(straight(&fit)),
    }));
    let mut entries: Vec<Entry> = kinds
        .iter()
        .map(|kind| Entry::new(Mark::Line(kind.colour), kind.name))
        .collect();
    entries.extend(fit.map(|_| Entry::new(Mark::Dashes(ACCENT), "logarithm")));
    let panel = Axes {
        height: 760,
        x,
        x_title: Some("rate variability, RV [%], each step tenfold".to_owned()),
        y: Axis::whole(0.0, 100.0, 5),
        y_title: "visits at or below [%]".to_owned(),
        layers,
    };
    let chart = Chart::new(entries, [panel]);
    let caption = format!(
        "The share of visits whose rate variability was at most so much; on this axis a logarithm \
            is a straight line.{}",
        fit.map(|fit| fit_words("logarithm", fit.r_squared))
            .unwrap_or_default(),
    );
    figure(group, "variability-cdf", chart, caption)
}

fn place(value: f64) -> f64 {
    value.max(SMALLEST).log10()
}

/// Level up to each value, then up to its share.
fn steps(values: &[f64]) -> Vec<(f64, f64)> {
    let mut before = 0.0;
    let mut line = Vec::new();
    for (value, share) in stats::cumulative(values).unwrap_or_default() {
        line.extend([(place(value), before), (place(value), share * 100.0)]);
        before = share * 100.0;
    }
    // All visits lie below what comes later.
    line.push((f64::MAX, before));
    line
}

/// The logarithm through the distribution of the loaded visits, on an axis in percent; one that
/// falls is none of a distribution.
fn logarithm(group: &Group<'_>) -> Option<stats::Logarithm> {
    let fit = loaded(group)?.logarithm?;
    let usable = fit.slope > 0.0 && fit.slope.is_finite() && fit.offset.is_finite();
    usable.then(|| stats::Logarithm {
        slope: fit.slope,
        offset: fit.offset - fit.slope * 100_f64.ln(),
        r_squared: fit.r_squared,
    })
}

/// From where the logarithm leaves nothing to where it reaches all visits.
fn straight(fit: &stats::Logarithm) -> Vec<(f64, f64)> {
    let at = |share: f64| {
        (
            place(((share - fit.offset) / fit.slope).exp()),
            share * 100.0,
        )
    };
    vec![at(0.0), at(1.0)]
}
