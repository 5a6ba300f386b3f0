//! What a user who says little about time gets.

use path::PathSpec;
use sim::{Scenario, ScenarioError, Variant, Work};
use units::Span;

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
    pub fn apply(&self, scenario: &mut Scenario) {
        let endless = scenario.work == Work::Endless;
        let duration = if endless { DURATION } else { self.limit };
        scenario.duration = self.duration.unwrap_or(duration);
        let part = Span::from_nanos(scenario.duration.as_nanos() / WARMUP_PART);
        let warmup = if endless { part } else { Span::ZERO };
        scenario.warmup = self.warmup.unwrap_or(warmup);
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
    // The rest of a scenario does not depend on the hosts' congestion control, which may be unknown.
    let mut known = path.clone();
    known.hosts.congestion = "cubic".to_owned();
    Ok(Scenario {
        path,
        variant,
        ..Scenario::new(known)?
    })
}

/// How often to record the state so that plots over time have enough points.
///
/// Of data with an end nobody knows how long it takes; the time at the full rate of the path is a
/// lower bound, so there may be more points than needed.
pub fn interval_to_draw(scenario: &Scenario) -> Span {
    let data = match scenario.work {
        Work::Endless => return part(scenario.duration, scenario.streams),
        Work::Striped(bytes) => bytes,
        Work::PerStream(bytes) => bytes.times(u64::from(scenario.streams)),
    };
    let least = scenario.path.forward.rate.time_to_send(data) + scenario.path.base_rtt();
    part(least.min(scenario.duration), scenario.streams)
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
        NOTHING_SAID.apply(&mut endless);
        assert_eq!(
            (endless.duration, endless.warmup),
            (Span::from_secs(30), Span::from_secs(6))
        );
        assert_eq!(interval_to_draw(&endless), Span::from_millis(100));
        endless.streams = 100_000;
        assert_eq!(interval_to_draw(&endless), Span::from_secs(1));
    }

    #[test]
    fn data_with_an_end_counts_from_the_first_packet() {
        let mut transfer = scenario();
        transfer.work = Work::Striped(Bytes::new(45_000_000));
        NOTHING_SAID.apply(&mut transfer);
        assert_eq!(
            (transfer.duration, transfer.warmup),
            (Span::from_secs(86_400), Span::ZERO)
        );
        // 8 s at 45 Mbit/s and a round trip of 165 ms, in 300 parts.
        assert_eq!(
            interval_to_draw(&transfer),
            Span::from_nanos(8_165_000_000 / 300)
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
        plan.apply(&mut said);
        assert_eq!(
            (said.duration, said.warmup),
            (Span::from_secs(100), Span::from_secs(20))
        );
    }
}
