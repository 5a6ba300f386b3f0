//! Visits of small packets each way.

use changes::{Delay, OneWay, Unknown, WayDelay};
use observe::{Clocks, Passages, Probes, TargetError, Train, Way};
use probing::characterise::Variation;
use units::{Bytes, Span};

use super::{Deadline, Order, Part, count, lost, ping};
use trunkline::Target;

/// As OWAMP's sessions of perfSONAR: small packets, ten a second.
const PACKET: Bytes = Bytes::new(100);
const APART: Span = Span::from_millis(100);
/// Of each way, at least.
const LEAST: u64 = 10;
/// What 95 % of the delays do not exceed stands for their variation.
const HIGH: f64 = 0.95;

/// Round trips and losses as a ping has them, and delays each way in the time that is left.
pub(super) fn one_way(
    target: &mut Target,
    order: &Order<'_>,
    part: &mut Part,
    deadline: &mut Deadline<'_>,
) -> Result<(), TargetError> {
    let train = train(order.duration);
    ping::small(target, order, part, deadline, |probes, part, deadline| {
        part.shown.visit.one_way = Some(both(probes, &train, part, deadline));
    })
}

/// A third of the time each way: the rest is for connecting, round trips and the route.
fn train(duration: Span) -> Train {
    let third = duration.as_nanos() / 3;
    let packets = (third / APART.as_nanos()).max(LEAST);
    Train::spaced(packets as usize, PACKET, APART)
}

fn both(
    probes: &mut dyn Probes,
    train: &Train,
    part: &mut Part,
    deadline: &mut Deadline<'_>,
) -> OneWay {
    let mut one = |way| match probes.train(way, train, deadline) {
        Ok(seen) => {
            part.counted(&seen);
            (delays(way, &seen), seen.clocks.and_then(error))
        }
        Err(_) => (UNSTAMPED, None),
    };
    // The error of the later of the two: its bound grows until a clock is set again.
    let ((forward, _), (reverse, clock_error)) = (one(Way::Forward), one(Way::Reverse));
    OneWay {
        forward,
        reverse,
        clock_error,
    }
}

/// Where the far end stamps no packets.
const UNSTAMPED: WayDelay = WayDelay {
    sent: 0,
    lost: 0,
    variation: None,
    delay: Delay::Unknown(Unknown::NotStamped),
};

fn delays(way: Way, seen: &Passages) -> WayDelay {
    let variation = Variation {
        way,
        passages: seen.clone(),
    };
    let variation = variation.above_smallest_quantile(HIGH);
    let variation = variation.map(Span::from_secs_f64);
    WayDelay {
        sent: count(seen.packets.len()),
        lost: lost(seen),
        variation,
        delay: match delay(seen, variation) {
            Ok(delay) => Delay::Seconds(delay),
            Err(why) => Delay::Unknown(why),
        },
    }
}

/// The median delay, where the clocks are known better than the delays vary.
fn delay(seen: &Passages, variation: Option<Span>) -> Result<Span, Unknown> {
    let variation = variation.ok_or(Unknown::NothingArrived)?;
    let clocks = seen.clocks.ok_or(Unknown::FarTellsNoTime)?;
    clocks.error_near.ok_or(Unknown::NearClock)?;
    clocks.error_far.ok_or(Unknown::FarClock)?;
    let error = error(clocks).filter(|error| *error <= variation);
    let error = error.ok_or(Unknown::ClockError)?.as_secs_f64();
    let delays = seen.delays().unwrap_or_default();
    let median = stats::median(&delays).ok_or(Unknown::NothingArrived)?;
    match delays.iter().all(|delay| *delay >= -error) {
        true => Ok(Span::from_secs_f64(median.max(0.0))),
        false => Err(Unknown::BelowZero),
    }
}

/// The most by which both clocks together are off.
fn error(clocks: Clocks) -> Option<Span> {
    Some(clocks.error_near? + clocks.error_far?)
}

#[cfg(test)]
mod tests {
    use observe::{Passage, Stamped};

    use super::*;

    /// Delays of 10 to 14 ms, the receiver's clock ahead by so much more.
    fn seen(clocks: Option<Clocks>) -> Passages {
        let packet = |number: u64| Passage {
            left: APART.times(number),
            arrived: (number != 3).then(|| APART.times(number) + Span::from_millis(number % 5)),
        };
        Passages {
            packets: (0..20).map(packet).collect(),
            stamped: Stamped::ByKernel,
            clocks,
        }
    }

    fn clocks(ahead_millis: i64, near: Option<u64>, far: Option<u64>) -> Option<Clocks> {
        Some(Clocks {
            ahead_nanos: ahead_millis * 1_000_000,
            error_near: near.map(Span::from_micros),
            error_far: far.map(Span::from_micros),
        })
    }

    #[test]
    fn a_delay_is_told_where_both_clocks_are_known_better_than_it_varies() {
        let found = delays(Way::Forward, &seen(clocks(10, Some(500), Some(1_000))));
        assert_eq!(found.delay, Delay::Seconds(Span::from_millis(12)));
        assert_eq!((found.sent, found.lost), (20, 1));
        let variation = found.variation.unwrap();
        assert!(variation > Span::from_millis(3), "{variation}");
    }

    #[test]
    fn a_delay_is_unknown_with_its_reason_otherwise() {
        let why = |clocks| match delays(Way::Forward, &seen(clocks)).delay {
            Delay::Unknown(why) => why,
            Delay::Seconds(delay) => panic!("{delay}"),
        };
        assert_eq!(why(None), Unknown::FarTellsNoTime);
        assert_eq!(why(clocks(10, None, Some(1))), Unknown::NearClock);
        assert_eq!(why(clocks(10, Some(1), None)), Unknown::FarClock);
        assert_eq!(
            why(clocks(10, Some(2_500), Some(2_500))),
            Unknown::ClockError
        );
        assert_eq!(why(clocks(-5, Some(10), Some(10))), Unknown::BelowZero);
        let mut nothing = seen(clocks(10, Some(10), Some(10)));
        for packet in &mut nothing.packets {
            packet.arrived = None;
        }
        let found = delays(Way::Forward, &nothing);
        assert_eq!(found.delay, Delay::Unknown(Unknown::NothingArrived));
        assert_eq!((found.lost, found.variation), (20, None));
    }
}
