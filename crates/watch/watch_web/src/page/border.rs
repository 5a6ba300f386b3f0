//! Traffic across the border as lines, and beside an event.

use changes::UnixTime;
use draw::chart::axis::Axis;
use draw::chart::palette::RGBColor;
use draw::chart::{Layer, Shape};
use draw::format::RateUnit;
use units::Span;
use watch_store::{Border, Crossing, OWN_TRAFFIC, Store, StoreError};

use crate::range::{Range, earlier};

/// Points of a line, about.
const POINTS: f64 = 300.0;
/// Steps between points, in seconds.
const STEPS: [u64; 8] = [60, 300, 900, 1800, 3600, 10_800, 21_600, 86_400];
/// After a gap of so many usual steps a line is broken.
const GAP: f64 = 2.5;
/// Ticks of the upright axis, and room above the highest value, as a share.
const TICKS: usize = 4;
const ROOM: f64 = 1.05;
/// What is compared before and after an event, of which so many seconds have to be known.
const BESIDE: Span = Span::from_secs(3600);
const KNOWN_MIN: u64 = 600;

/// A line of rates in bits per second.
pub type Curve = (RGBColor, Vec<(UnixTime, f64)>);

/// Reads the traffic of a range, in as many points as a line needs.
pub fn read(store: &mut Store, range: Range) -> Result<Border, StoreError> {
    let least = range.length().as_secs_f64() / POINTS;
    let step = STEPS.into_iter().find(|step| *step as f64 >= least);
    store.border(range.ends(), step.unwrap_or(STEPS[STEPS.len() - 1]))
}

/// Lines with gaps where there are no records, on an axis with its unit.
pub fn lines(border: &Border, curves: &[Curve]) -> (Axis, &'static str, Vec<Layer>) {
    let rates = curves.iter().flat_map(|(_, rates)| rates);
    let high = rates.map(|(_, rate)| *rate).fold(0.0, f64::max);
    let unit = RateUnit::fitting(high);
    let points = border.covered.len().max(1) as f64;
    let usual = (border.seconds() as f64 / points).max(border.step as f64);
    let middle = border.step as f64 / 2.0;
    let mut layers = Vec::new();
    for (colour, rates) in curves {
        let place =
            |(at, rate): &(UnixTime, f64)| (at.seconds() as f64 + middle, rate / unit.factor);
        let places: Vec<(f64, f64)> = rates.iter().map(place).collect();
        let parts = places.chunk_by(|one, next| next.0 - one.0 <= GAP * usual);
        layers.extend(parts.map(|part| {
            let shape = match part {
                // A point alone is no line.
                [one] => Shape::Dots(3, vec![*one]),
                part => Shape::Line(part.to_vec()),
            };
            Layer::new(*colour, shape)
        }));
    }
    let y = Axis::whole(0.0, (high / unit.factor * ROOM).max(1e-9), TICKS);
    (y, unit.name, layers)
}

/// What others sent across the border in the hour before a time, and in the hour from it on, as a
/// sentence; `None` where that is not known.
pub fn beside(
    store: &mut Store,
    at: UnixTime,
    now: UnixTime,
) -> Result<Option<String>, StoreError> {
    let step = STEPS[0];
    let before = store.border((earlier(at, BESIDE), at), step)?;
    let after = store.border((at, (at + BESIDE).min(now)), step)?;
    // Longer intervals would reach over the hour.
    let is_known = |border: &Border| {
        let is_fine = border.covered.values().all(|seconds| *seconds <= KNOWN_MIN);
        border.step == step && border.seconds() >= KNOWN_MIN && is_fine
    };
    if !is_known(&before) || !is_known(&after) {
        return Ok(None);
    }
    let way = |way: Crossing| {
        let rate = |border: &Border| {
            let rate = border.mean_rate(way, |name| name != OWN_TRAFFIC);
            draw::format::rate(rate.unwrap_or(0.0) as u64)
        };
        format!("{} {}, then {}", way.name(), rate(&before), rate(&after))
    };
    Ok(Some(format!(
        "Traffic of others across the border in the hour before the first visit, and in the hour \
         from it on: {}; {}.",
        way(Crossing::In),
        way(Crossing::Out)
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_where_no_records_came() {
        let mut border = Border {
            step: 60,
            ..Border::default()
        };
        let at = |minute: u64| UnixTime::from_seconds(minute * 60);
        let minutes = [0, 1, 2, 9, 20, 21];
        border.covered = minutes.map(|minute| (at(minute), 60)).into();
        let rates = minutes.map(|minute| (at(minute), 2e9)).to_vec();
        let colour = draw::chart::palette::BLUE;
        let (axis, unit, layers) = lines(&border, &[(colour, rates)]);
        assert_eq!(unit, "Gbit/s");
        assert!(axis.high >= 2.0);
        let lengths = layers.iter().map(|layer| match &layer.shape {
            Shape::Line(places) | Shape::Dots(_, places) => places.len(),
            other => panic!("{other:?}"),
        });
        assert_eq!(lengths.collect::<Vec<usize>>(), [3, 1, 2]);
    }
}
