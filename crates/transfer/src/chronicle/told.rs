//! What limited a copy whose sender is the other end, which tells what binds and no more.

use units::Rate;
use wire::copying::LimitedBy;

use crate::{Limit, Reading};

/// What bound in most of the readings, and in how many of all; `None` where nothing was told.
pub(super) fn limit(readings: &[Reading], rate_max: Option<Rate>) -> Option<Limit> {
    let mut counts: Vec<(LimitedBy, usize)> = Vec::new();
    for by in readings.iter().filter_map(|reading| reading.limited_by) {
        match counts.iter_mut().find(|(known, _)| *known == by) {
            Some((_, count)) => *count += 1,
            None => counts.push((by, 1)),
        }
    }
    let (by, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    Some(Limit {
        by,
        share: count as f64 / readings.len() as f64,
        why: why(by, rate_max),
        advice: None,
    })
}

fn why(by: LimitedBy, rate_max: Option<Rate>) -> String {
    let text = match by {
        LimitedBy::RateLimit => {
            let limit = rate_max.map_or_else(String::new, |rate| format!(" of {}", rate.human()));
            return format!("the rate limit{limit} was reached");
        }
        LimitedBy::Network => "the far end had data ready that the streams did not take",
        LimitedBy::SenderDisk => "the far end could not read its files faster",
        LimitedBy::ReceiverDisk => "the disk here took no more",
        LimitedBy::SenderProcessor => "the far end had no processor time left for more",
        LimitedBy::ReceiverProcessor => "the processors here had no time left",
    };
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Time;

    fn reading(limited_by: Option<LimitedBy>) -> Reading {
        Reading {
            at: Time::ZERO,
            rate: Rate::ZERO,
            streams: 1,
            rtt: None,
            retransmitted_share: None,
            limited_by,
        }
    }

    #[test]
    fn what_bound_most_often_is_told_with_its_share() {
        let (rate, net) = (Some(LimitedBy::RateLimit), Some(LimitedBy::Network));
        let readings = [None, rate, net, rate].map(reading);
        let mbit = Rate::from_bits_per_second(80_000_000);
        let limit = limit(&readings, Some(mbit)).unwrap();
        assert_eq!((limit.by, limit.share), (LimitedBy::RateLimit, 0.5));
        assert_eq!(limit.why, "the rate limit of 80.0 Mbit/s was reached");
        assert_eq!(super::limit(&[reading(None)], None), None);
    }
}
