//! What a user who says little about time gets.

use netpath::PathSpec;
use sim::{Scenario, ScenarioError, Variant, Work};
use units::Span;

use super::GridFailure;

/// Long enough for a few losses on most paths, short enough to wait for.
const DURATION: Span = Span::from_secs(30);
/// The part of a run that belongs to slow start, one in so many: of 30 s, 36 round trips of 165 ms.
const WARMUP_PART: u64 = 5;
/// Points over time that a plot is wide enough for.
const POINTS: u64 = 300;
/// With thousands of streams, so few that a page stays below some megabytes.
const POINTS_MIN: u64 = 30;
/// Windows that a page may have: each point has one for each stream.
const WINDOWS: u64 = 300_000;

/// How long to run and from when to count, as far as the user said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// How long.
    pub duration: Option<Span>,
    /// From when.
    pub warmup: Option<Span>,
    /// How long data may take unless the user says.
    pub limit: Span,
}

impl Plan {
    /// Sets the times of `scenario`, whose work is set already.
    ///
    /// Data without end flows for 30 s, of which the first fifth does not count. Data with an end
    /// counts from the first packet, because slow start is part of what it takes.
    ///
    /// # Errors
    /// When a warm-up is asked for with data that has an end.
    pub fn apply(&self, scenario: &mut Scenario) -> Result<(), GridFailure> {
        let endless = scenario.work == Work::Endless;
        let duration = if endless { DURATION } else { self.limit };
        scenario.duration = self.duration.unwrap_or(duration);
        let part = Span::from_nanos(scenario.duration.as_nanos() / WARMUP_PART);
        let warmup = if endless { part } else { Span::ZERO };
        scenario.warmup = self.warmup.unwrap_or(warmup);
        // It would hide a part of the transfer, or all of it without a word where it takes longer.
        match !endless && scenario.warmup > Span::ZERO {
            true => Err(GridFailure::WarmTransfer {
                warmup: scenario.warmup,
            }),
            false => Ok(()),
        }
    }
}

/// One endless stream over `path`, of `variant` or else of the kind that its hosts use.
///
/// # Errors
/// When no variant is given and nothing simulated resembles the hosts' congestion control.
pub fn scenario(path: PathSpec, variant: Option<Variant>) -> Result<Scenario, ScenarioError> {
    let Some(variant) = variant else {
        return Scenario::new(path);
    };
    // The rest of a scenario does not depend on the hosts' congestion control, which may be
    // unknown.
    let mut known = path.clone();
    known.hosts.congestion = "cubic".to_owned();
    Ok(Scenario {
        path,
        variant,
        ..Scenario::new(known)?
    })
}

/// `scenario` with its state recorded often enough for plots over time.
///
/// * `completion`: how long its data takes, where it has an end. That is known only afterwards: an
///   interval that fits the time at full rate fills the memory of a run that takes a day, and one
///   that fits a day is blind to seconds. A run that is known can be had again.
pub fn to_draw(scenario: &Scenario, completion: Option<Span>) -> Scenario {
    let length = completion.unwrap_or(scenario.duration);
    Scenario {
        series_interval: Some(part(length, scenario.streams)),
        ..scenario.clone()
    }
}

fn part(span: Span, streams: u32) -> Span {
    let points = (WINDOWS / u64::from(streams.max(1))).clamp(POINTS_MIN, POINTS);
    Span::from_nanos((span.as_nanos() / points).max(1_000))
}

#[cfg(test)]
mod tests {
    use super::super::tests::scenario;
    use super::*;
    use units::Bytes;

    const NOTHING_SAID: Plan = Plan {
        duration: None,
        warmup: None,
        limit: Span::from_secs(86_400),
    };

    #[test]
    fn endless_data_flows_for_half_a_minute_and_counts_after_a_fifth() {
        let mut endless = scenario();
        NOTHING_SAID.apply(&mut endless).unwrap();
        assert_eq!(
            (endless.duration, endless.warmup),
            (Span::from_secs(30), Span::from_secs(6))
        );
    }

    #[test]
    fn data_with_an_end_counts_from_the_first_packet() {
        let mut transfer = scenario();
        transfer.work = Work::Striped(Bytes::new(45_000_000));
        NOTHING_SAID.apply(&mut transfer).unwrap();
        assert_eq!(
            (transfer.duration, transfer.warmup),
            (Span::from_secs(86_400), Span::ZERO)
        );
        let warm = Plan {
            warmup: Some(Span::from_secs(20)),
            ..NOTHING_SAID
        };
        let error = warm.apply(&mut transfer).unwrap_err();
        assert!(error.to_string().starts_with("a warm-up of 20s"), "{error}");
        let cold = Plan {
            warmup: Some(Span::ZERO),
            ..NOTHING_SAID
        };
        assert!(cold.apply(&mut transfer).is_ok());
    }

    #[test]
    fn what_is_drawn_fits_the_time_that_the_run_took() {
        let mut transfer = scenario();
        transfer.work = Work::Striped(Bytes::new(45_000_000));
        transfer.duration = Span::from_secs(86_400);
        let interval = |scenario: &Scenario, completion: Option<Span>| {
            to_draw(scenario, completion).series_interval.unwrap()
        };
        // 300 points of what it took; of a run that never ended, 300 points of a day.
        let took = Span::from_secs(30);
        assert_eq!(interval(&transfer, Some(took)), Span::from_millis(100));
        assert_eq!(interval(&transfer, None), Span::from_secs(288));
        // 30 points of 100000 windows are 3 million.
        transfer.streams = 100_000;
        assert_eq!(interval(&transfer, Some(took)), Span::from_secs(1));
    }

    #[test]
    fn drawing_a_run_does_not_change_it() {
        let mut short = scenario();
        short.streams = 3;
        short.work = Work::Striped(Bytes::new(3_000_000));
        let seen = sim::run(&short).unwrap();
        let drawn = sim::run(&to_draw(&short, seen.completion)).unwrap();
        assert!(
            (290..=302).contains(&drawn.series.len()),
            "{}",
            drawn.series.len()
        );
        assert_eq!(
            (drawn.streams, drawn.completion),
            (seen.streams, seen.completion)
        );
    }

    #[test]
    fn a_variant_that_was_named_does_not_need_the_hosts_own() {
        let mut path = PathSpec::load("lan").unwrap();
        path.hosts.congestion = "westwood".to_owned();
        assert!(super::scenario(path.clone(), None).is_err());
        let named = super::scenario(path.clone(), Some(Variant::Sack)).unwrap();
        assert_eq!((named.variant, named.path), (Variant::Sack, path));
    }

    #[test]
    fn what_was_said_stands() {
        let mut said = scenario();
        let plan = Plan {
            duration: Some(Span::from_secs(100)),
            warmup: Some(Span::from_secs(20)),
            ..NOTHING_SAID
        };
        plan.apply(&mut said).unwrap();
        assert_eq!(
            (said.duration, said.warmup),
            (Span::from_secs(100), Span::from_secs(20))
        );
    }
}
