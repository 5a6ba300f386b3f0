//! What the next hours will bring.

use changes::{Forecast, UnixTime};
use draw::ChartError;
use draw::page::{Block, Fact};
use maud::Markup;
use units::Bytes;

use super::HOURS;
use crate::{calendar, words};

/// The copy whose end is forecast.
const COPY: Bytes = Bytes::new(1_000_000_000_000);

/// The next hours and the end of a copy that starts at `now`.
pub fn tiles(forecast: &Forecast, now: UnixTime) -> Result<Markup, ChartError> {
    let size = COPY.human();
    let copy = match forecast.finish(COPY, now) {
        Ok(finish) => {
            let near = |at| calendar::near(at, now);
            let value = near(finish.median);
            let rest = format!(", between {} and {}", near(finish.early), near(finish.late));
            Fact {
                after: rest,
                ..Fact::new(format!("a copy of {size} started now ends"), value)
            }
        }
        Err(long) => Fact::plain("a copy started now", long.to_string()),
    };
    let hour = |(name, number): (&str, usize)| {
        let hour = *forecast.hours(number + 1).get(number)?;
        let rest = format!(
            ", between {} and {}",
            words::rate(hour.low),
            words::rate(hour.high)
        );
        Some(Fact {
            after: rest,
            ..Fact::new(name, words::rate(hour.median))
        })
    };
    let hours = [
        ("next hour", 0),
        ("in six hours", 6),
        ("in twelve hours", HOURS),
    ];
    let mut facts: Vec<_> = hours.into_iter().filter_map(hour).collect();
    facts.push(copy);
    let note = "Intervals hold in nine of ten cases, while the path stays as it is.";
    let blocks = [
        Block::heading("Forecast of goodput"),
        Block::Facts(facts),
        Block::note(note),
    ];
    draw::render::html::sections(&blocks)
}
