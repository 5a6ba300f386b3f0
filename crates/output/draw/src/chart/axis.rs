//! Ranges and ticks.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

/// A range of values and the ticks on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Where it begins.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
    /// Where labels stand, in rising order.
    pub ticks: Vec<f64>,
    labels: Labels,
}

#[derive(Debug, Clone, PartialEq)]
enum Labels {
    Decimals(usize),
    Names(Vec<String>),
    PowersOfTwo,
    PowersOfTen,
    At(Vec<String>),
}

/// Values beyond this are drawn at the edge: no real path comes near, and ticks stay computable.
const ABSURD: f64 = 1e15;

/// Room beside the first and the last power of ten for a dot, in powers of ten.
const EDGE: f64 = 0.05;

impl Axis {
    /// The smallest range of whole ticks, `about` of them, that holds `low` to `high`.
    ///
    /// ```
    /// let axis = draw::chart::axis::Axis::whole(0.0, 42.3, 5);
    /// assert_eq!(axis.ticks, [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]);
    /// ```
    pub fn whole(low: f64, high: f64, about: usize) -> Self {
        let (low, high) = ordered(low, high);
        let step = step((high - low) / about.max(1) as f64);
        let (first, last) = ((low / step).floor(), (high / step).ceil());
        Axis {
            low: first * step,
            high: last * step,
            ticks: multiples(first, last, step),
            labels: Labels::Decimals(decimals(step)),
        }
    }

    /// Exactly `low` to `high`, with about so many ticks within.
    pub fn exact(low: f64, high: f64, about: usize) -> Self {
        let (low, high) = ordered(low, high);
        let step = step((high - low) / about.max(1) as f64);
        Axis {
            low,
            high,
            ticks: multiples((low / step).ceil(), (high / step).floor(), step),
            labels: Labels::Decimals(decimals(step)),
        }
    }

    /// The same axis with room down to `low`, where that lies below its first tick.
    pub fn down_to(self, low: f64) -> Self {
        let room = (self.high - self.low) * 0.04;
        let low = if low < self.low {
            low.max(-ABSURD) - room
        } else {
            self.low
        };
        Axis { low, ..self }
    }

    /// From nothing to `high`, with ticks at whole numbers only and room for a dot at the last.
    ///
    /// ```
    /// let axis = draw::chart::axis::Axis::counts(3.0);
    /// assert_eq!(axis.ticks, [0.0, 1.0, 2.0, 3.0]);
    /// ```
    pub fn counts(high: f64) -> Self {
        let high = high.clamp(1.0, 65_536.0);
        let step = step(high / 10.0).max(1.0);
        Axis {
            low: 0.0,
            high: high * 1.02,
            ticks: multiples(0.0, (high / step).floor(), step),
            labels: Labels::Decimals(0),
        }
    }

    /// A place for each name: 0, 1, 2 and so on. Where more than `most` would stand, only every so
    /// many does.
    pub fn names(names: Vec<String>, most: usize) -> Self {
        let every = names.len().div_ceil(most.max(1)).max(1);
        let last = names.len().max(1) as f64 - 1.0;
        Axis {
            low: -0.5,
            high: last + 0.5,
            ticks: (0..names.len()).step_by(every).map(|i| i as f64).collect(),
            labels: Labels::Names(names),
        }
    }

    /// Exactly `low` to `high`, with these labels at these values in rising order: dates, mostly.
    pub fn labelled(low: f64, high: f64, labels: Vec<(f64, String)>) -> Self {
        let (low, high) = ordered(low, high);
        let within = |(value, _): &(f64, String)| (low..=high).contains(value);
        let labels = labels.into_iter().filter(within).take(TICKS_MAX);
        let (ticks, labels) = labels.unzip();
        Axis {
            low,
            high,
            ticks,
            labels: Labels::At(labels),
        }
    }

    /// Base-2 logarithms of 1 to `streams`, a tick at every power of two.
    pub fn powers_of_two(streams: f64) -> Self {
        let last = streams.clamp(2.0, 65_536.0).log2().ceil();
        Axis {
            low: -0.25,
            high: last + 0.25,
            ticks: multiples(0.0, last, 1.0),
            labels: Labels::PowersOfTwo,
        }
    }

    /// Base-10 logarithms of `low` to `high`, a tick at every power of ten. What is not above zero
    /// has no logarithm and is drawn at the lower end.
    pub fn powers_of_ten(low: f64, high: f64) -> Self {
        let exponent = |value: f64| value.clamp(1e-15, ABSURD).log10();
        let (low, high) = ordered(exponent(low), exponent(high));
        let (low, high) = ((low + 1e-6).floor(), (high - 1e-6).ceil());
        Axis {
            low: low - EDGE,
            high: high + EDGE,
            ticks: multiples(low, high, 1.0),
            labels: Labels::PowersOfTen,
        }
    }

    /// The label of the tick at `value`.
    pub fn label(&self, value: f64) -> String {
        match &self.labels {
            Labels::Decimals(decimals) => format!("{value:.decimals$}"),
            Labels::Names(names) => names
                .get(value.round() as usize)
                .cloned()
                .unwrap_or_default(),
            Labels::At(labels) => {
                let place = self.ticks.iter().position(|tick| *tick == value);
                let label = place.and_then(|place| labels.get(place));
                label.cloned().unwrap_or_default()
            }
            Labels::PowersOfTwo => format!("{:.0}", value.exp2()),
            Labels::PowersOfTen => power_of_ten(value.round() as i32),
        }
    }

    /// `value`, drawn at the nearer end when it lies outside.
    pub fn hold(&self, value: f64) -> f64 {
        if value.is_nan() {
            self.low
        } else {
            value.clamp(self.low, self.high)
        }
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (self.hold(*value) - self.low) / (self.high - self.low);
        let length = f64::from(limit.1) - f64::from(limit.0);
        limit.0 + (share * length).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        match hint.weight().allow_light_points() {
            true => Vec::new(),
            false => self.ticks.clone(),
        }
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Axis {
    fn format(value: &f64) -> String {
        value.to_string()
    }

    fn format_ext(&self, value: &f64) -> String {
        self.label(*value)
    }
}

/// In full where that is short, else with the exponent raised.
fn power_of_ten(exponent: i32) -> String {
    match exponent {
        0..=4 => format!("{:.0}", 10_f64.powi(exponent)),
        -2..0 => 10_f64.powi(exponent).to_string(),
        _ => format!("10{}", raised(exponent)),
    }
}

fn raised(number: i32) -> String {
    let raise = |digit| match digit {
        '-' => '\u{207b}',
        '1' => '\u{b9}',
        '2' => '\u{b2}',
        '3' => '\u{b3}',
        digit => char::from_u32(0x2070 + digit.to_digit(10).unwrap_or(0)).unwrap_or(digit),
    };
    number.to_string().chars().map(raise).collect()
}

/// Finite, in order and not the same.
fn ordered(low: f64, high: f64) -> (f64, f64) {
    let tame = |value: f64| {
        if value.is_finite() {
            value.clamp(-ABSURD, ABSURD)
        } else {
            0.0
        }
    };
    let (low, high) = (tame(low), tame(high));
    let (low, high) = (low.min(high), low.max(high));
    let room = low.abs() * 1e-6 + 1e-9;
    if high - low > room {
        (low, high)
    } else {
        (low, low + low.abs().max(1.0))
    }
}

/// The next of 1, 2 or 5 times a power of ten.
pub fn step(wanted: f64) -> f64 {
    let power = 10_f64.powf(wanted.log10().floor());
    let factor = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|factor| wanted <= factor * power * 1.0001);
    factor.unwrap_or(10.0) * power
}

fn decimals(step: f64) -> usize {
    (-step.log10().floor()).clamp(0.0, 9.0) as usize
}

/// More than an axis can carry: the ticks of a tame range never get there.
const TICKS_MAX: usize = 50;

fn multiples(first: f64, last: f64, step: f64) -> Vec<f64> {
    let count = (last - first + 1.0).max(0.0) as usize;
    (0..count.min(TICKS_MAX))
        .map(|i| (first + i as f64) * step)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_axis_keeps_its_ends() {
        let axis = Axis::exact(-1.0, 10.3, 6);
        assert_eq!((axis.low, axis.high), (-1.0, 10.3));
        assert_eq!(axis.ticks, [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
    }

    #[test]
    fn labels_have_the_decimals_of_the_step() {
        let axis = Axis::whole(0.0, 0.9, 5);
        let labels: Vec<String> = axis.ticks.iter().map(|t| axis.label(*t)).collect();
        assert_eq!(labels, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
    }

    #[test]
    fn streams_have_a_tick_at_each_power_of_two() {
        let axis = Axis::powers_of_two(20.0);
        let labels: Vec<String> = axis.ticks.iter().map(|t| axis.label(*t)).collect();
        assert_eq!(labels, ["1", "2", "4", "8", "16", "32"]);
    }

    #[test]
    fn names_are_left_out_where_too_many_would_stand() {
        let names = (0..20).map(|i| format!("{i}KiB")).collect();
        let axis = Axis::names(names, 8);
        let labels: Vec<String> = axis.ticks.iter().map(|t| axis.label(*t)).collect();
        assert_eq!(
            labels,
            ["0KiB", "3KiB", "6KiB", "9KiB", "12KiB", "15KiB", "18KiB"]
        );
        assert!(Axis::names(Vec::new(), 8).ticks.is_empty());
    }

    #[test]
    fn labels_outside_the_axis_are_left_out() {
        let label = |value: f64, text: &str| (value, text.to_owned());
        let labels = vec![label(-1.0, "before"), label(2.0, "Mon"), label(4.0, "Tue")];
        let axis = Axis::labelled(0.0, 3.0, labels);
        assert_eq!(axis.ticks, [2.0]);
        assert_eq!([axis.label(2.0), axis.label(2.5)], ["Mon", ""]);
    }

    #[test]
    fn streams_are_counted_in_whole_numbers() {
        assert_eq!(Axis::counts(20.0).ticks.len(), 11);
        assert_eq!(
            Axis::counts(128.0).ticks,
            [0.0, 20.0, 40.0, 60.0, 80.0, 100.0, 120.0]
        );
        assert_eq!(Axis::counts(f64::INFINITY).high, 65_536.0 * 1.02);
    }

    #[test]
    fn decades_have_a_tick_each() {
        let labels = |axis: Axis| -> Vec<String> {
            axis.ticks.iter().map(|tick| axis.label(*tick)).collect()
        };
        let losses = labels(Axis::powers_of_ten(1e-4, 1e-1));
        assert_eq!(
            losses,
            ["10\u{207b}\u{2074}", "10\u{207b}\u{b3}", "0.01", "0.1"]
        );
        assert_eq!(
            labels(Axis::powers_of_ten(13.0, 900.0)),
            ["10", "100", "1000"]
        );
        assert_eq!(labels(Axis::powers_of_ten(0.0, 1.0)).len(), 16);
    }

    #[test]
    fn absurd_ranges_still_give_an_axis() {
        let absurd = [
            (0.0, 0.0),
            (1e308, -1e308),
            (f64::NAN, f64::INFINITY),
            (165.0, 165.0),
            (1e15, 1e15),
            (0.0, 1e-300),
        ];
        for (low, high) in absurd {
            for axis in [Axis::whole(low, high, 5), Axis::exact(low, high, 5)] {
                assert!(axis.low < axis.high, "{low} {high}: {axis:?}");
                assert!(axis.ticks.len() <= TICKS_MAX, "{low} {high}: {axis:?}");
            }
        }
    }
}
