//! How the goodput of the visits is distributed: how often which, and how many lie below.

use draw::chart::axis::{self, Axis};
use draw::chart::palette::{self, ACCENT, RGBColor};
use draw::chart::{Axes, Chart, Entry, Layer, Mark, Shape};
use draw::format::{RateUnit, percent, three_digits};
use stats::{Family, Fitted};

use super::{Drawing, figure};
use crate::page::sweep::groups::Group;
use crate::page::sweep::metric::GOODPUT;

const ALL: RGBColor = palette::BLUE;
const RELATIVE: RGBColor = palette::SERIES[2];
/// Fewer visits than this have no distribution.
const VISITS_MIN: usize = 8;
/// Bars at the most.
const BARS_MAX: f64 = 40.0;
/// Bars of all visits, about.
const ALL_BARS: f64 = 20.0;
/// Points of a fitted curve.
const POINTS: i32 = 80;

/// Distributions that are fitted, and their colours.
const FAMILIES: [(Family, &str, RGBColor); 2] = [
    (Family::Normal, "normal", ACCENT),
    (Family::Lognormal, "lognormal", palette::INK),
];

/// Goodput of each visit in percent of its setting's median.
pub(in crate::page::sweep) fn relative(group: &Group<'_>) -> Vec<f64> {
    let visits = group.all().filter_map(|(streams, window, figures)| {
        let spread = group.spread(streams, window, &GOODPUT)?;
        let is_known = spread.visits > 2 && spread.middle > 0.0;
        is_known.then(|| figures.goodput_bits_per_second as f64 / spread.middle * 100.0)
    });
    visits.collect()
}

fn fits(values: &[f64]) -> Vec<(Fitted, &'static str, RGBColor)> {
    let fit = |(family, name, colour): (Family, _, _)| Some((family.fit(values)?, name, colour));
    FAMILIES.into_iter().filter_map(fit).collect()
}

/// What the fits are, the nearest one named, for a caption.
fn words(fits: &[(Fitted, &str, RGBColor)]) -> String {
    let nearest = fits
        .iter()
        .min_by(|a, b| a.0.distance.total_cmp(&b.0.distance));
    let Some((_, nearest, _)) = nearest else {
        return String::new();
    };
    let each: Vec<String> = fits
        .iter()
        .map(|(fit, name, _)| format!("{name} {}", percent(fit.distance)))
        .collect();
    format!(
        " The {nearest} distribution lies nearest; the most that shares of visits differ: \
            {}.",
        each.join(", ")
    )
}

fn left_out(what: &str) -> Drawing {
    Drawing::LeftOut(format!(
        "No {what} of the goodput: it takes at least {VISITS_MIN} visits of settings with three \
            visits or more."
    ))
}

/// How often each goodput was seen, and each goodput by its setting's median.
pub(super) fn histogram(group: &Group<'_>) -> Drawing {
    let relative = relative(group);
    if relative.len() < VISITS_MIN {
        return left_out("histogram");
    }
    let all = group.all();
    let all: Vec<f64> = all
        .map(|(_, _, f)| f.goodput_bits_per_second as f64)
        .collect();
    let unit = RateUnit::fitting(all.iter().copied().fold(0.0, f64::max));
    let all: Vec<f64> = all.iter().map(|bits| bits / unit.factor).collect();
    let fits = fits(&relative);
    let own = bin_width(&relative);
    // Of many settings no rule for one hill holds.
    let whole = axis::step(ends(&all).1 / ALL_BARS);
    let panels = [
        bars(ALL, &all, whole, &[], format!("goodput [{}]", unit.name)),
        bars(
            RELATIVE,
            &relative,
            own,
            &fits,
            "goodput of its setting's median [%]".to_owned(),
        ),
    ];
    let mut entries = vec![
        Entry::new(Mark::Area(ALL), "all visits"),
        Entry::new(Mark::Area(RELATIVE), "by their setting's median"),
    ];
    entries.extend(
        fits.iter()
            .map(|(_, name, colour)| Entry::new(Mark::Dashes(*colour), *name)),
    );
    let caption = format!(
        "How often which goodput was seen, in bins of {} {}: settings differ, so one hill for each \
            is no surprise. Below, each visit in percent of its setting's median, in bins of {} \
            %.{}",
        three_digits(whole),
        unit.name,
        three_digits(own),
        words(&fits),
    );
    figure(
        group,
        "goodput-histogram",
        Chart::new(entries, panels),
        caption,
    )
}

/// A round width, neither too many bars nor too few.
fn bin_width(values: &[f64]) -> f64 {
    let (low, high) = ends(values);
    let least = ((high - low) / BARS_MAX).max(high * 1e-4).max(1e-9);
    axis::step(stats::bin_width(values).unwrap_or(least).max(least))
}

fn ends(values: &[f64]) -> (f64, f64) {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    (least, values.iter().copied().fold(0.0, f64::max))
}

fn bars(
    colour: RGBColor,
    values: &[f64],
    width: f64,
    fits: &[(Fitted, &str, RGBColor)],
    x_title: String,
) -> Axes {
    let counted = stats::frequencies(values, width);
    let shares = counted.map(|counted| counted.shares()).unwrap_or_default();
    let half = width * 0.44;
    let bars: Vec<(f64, f64, f64)> = shares
        .iter()
        .filter(|(_, share)| *share > 0.0)
        .map(|(middle, share)| (middle - half, middle + half, share * 100.0))
        .collect();
    let (low, high) = ends(values);
    let [low, high] = [
        (low / width).floor() * width,
        ((high / width).floor() + 1.0) * width,
    ];
    let curve = |fit: &Fitted| -> Vec<(f64, f64)> {
        let at = |step| low + (high - low) * f64::from(step) / f64::from(POINTS);
        let place = |x| (x, fit.density(x) * width * 100.0);
        (0..=POINTS).map(at).map(place).collect()
    };
    let curves: Vec<Layer> = fits
        .iter()
        .map(|(fit, _, colour)| Layer::new(*colour, Shape::Dashes(curve(fit))))
        .collect();
    let highest = |layer: &Layer| match &layer.shape {
        Shape::Dashes(places) => places.iter().map(|(_, y)| *y).fold(0.0, f64::max),
        _ => 0.0,
    };
    let top = bars.iter().map(|(_, _, high)| *high).fold(0.0, f64::max);
    let top = curves.iter().map(highest).fold(top, f64::max);
    let mut layers = vec![Layer::new(colour, Shape::Bars(bars))];
    layers.extend(curves);
    Axes {
        height: 450,
        x: Axis::exact(low, high, 8),
        x_title: Some(x_title),
        y: Axis::whole(0.0, top, 4),
        y_title: "visits [%]".to_owned(),
        layers,
    }
}

/// The share of visits with no more than each goodput, by its setting's median.
pub(super) fn cumulated(group: &Group<'_>) -> Drawing {
    let values = relative(group);
    if values.len() < VISITS_MIN {
        return left_out("distribution");
    }
    let (low, high) = ends(&values);
    let room = ((high - low) * 0.05).max(0.1);
    let x = Axis::exact(low - room, high + room, 8);
    let fits = fits(&values);
    let mut layers = vec![Layer::new(RELATIVE, Shape::Line(steps(&values, &x)))];
    let mut entries = vec![Entry::new(Mark::Line(RELATIVE), "visits")];
    for (fit, name, colour) in &fits {
        let at = |step| x.low + (x.high - x.low) * f64::from(step) / f64::from(POINTS);
        let curve = (0..=POINTS).map(at).map(|x| (x, fit.below(x) * 100.0));
        layers.push(Layer::new(*colour, Shape::Dashes(curve.collect())));
        entries.push(Entry::new(Mark::Dashes(*colour), *name));
    }
    let panel = Axes {
        height: 700,
        x,
        x_title: Some("goodput of its setting's median [%]".to_owned()),
        y: Axis::whole(0.0, 100.0, 5),
        y_title: "visits at or below [%]".to_owned(),
        layers,
    };
    let within = values
        .iter()
        .filter(|value| (**value - 100.0).abs() <= 10.0);
    let caption = format!(
        "The share of visits with at most so much of their setting's median goodput; {} of {} \
            visits lie within 10 % of it.{}",
        within.count(),
        values.len(),
        words(&fits),
    );
    figure(group, "goodput-cdf", Chart::new(entries, [panel]), caption)
}

/// Level up to each value, then up to its share.
fn steps(values: &[f64], x: &Axis) -> Vec<(f64, f64)> {
    let mut before = 0.0;
    let mut line = vec![(x.low, 0.0)];
    for (value, share) in stats::cumulative(values).unwrap_or_default() {
        line.extend([(value, before), (value, share * 100.0)]);
        before = share * 100.0;
    }
    line.push((x.high, before));
    line
}
