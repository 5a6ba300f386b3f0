//! Between two rungs of the climb: the fewest streams that reach the knee.

use observe::StreamCount;

use crate::choose::choose;
use crate::climb;
use crate::controls;
use crate::history::History;
use crate::lasting;
use crate::plan::{Axis, Objective};
use crate::strategy::Request;
use crate::tuning::{Purpose, Sample};

/// A number of streams between the last rung that stays below the knee and the first that reaches
/// it; `None` when no power of two is left between them, and of bbr, where a longer look at the few
/// streams that it takes is worth more.
pub(crate) fn between(history: &History) -> Option<Request> {
    let Objective::Knee { share } = history.plan.objective else {
        return None;
    };
    if !history.plan.searches(Axis::Streams) || controls::climbing(history).is_some() {
        return None;
    }
    let (below, reaches) = around(history, share)?;
    let middle = middle(below.streams(), reaches.streams())?;
    // A paced stream, or another window, may reach the knee with fewer.
    let chosen = history.samples.get(choose(history)?.sample)?;
    (chosen.streams() > middle).then_some(Request {
        setting: history.climbing(middle),
        plan: history.longer_plan()?,
        purpose: Purpose::Knee,
        why: format!(
            "between {}, which stay below the knee, and {}, which reach it",
            below.streams(),
            reaches.streams()
        ),
    })
}

/// A number of streams between the best rung and the next, where throughput still grew in
/// proportion up to the best and the next one brought nothing: the most may lie between them.
pub(crate) fn above(history: &History) -> Option<Request> {
    let rungs = climb::rungs(history);
    let best = (0..rungs.len()).max_by_key(|index| rungs.get(*index).map(|rung| rung.rate()))?;
    let (upto, beyond) = rungs.split_at_checked(best + 1)?;
    let (best, next) = (upto.last()?, beyond.first()?);
    let middle = middle(best.streams(), next.streams())?;
    climb::is_nearly_linear(upto).then_some(Request {
        setting: history.climbing(middle),
        plan: history.longer_plan()?,
        purpose: Purpose::Knee,
        why: format!(
            "{} streams still gained and {} did not",
            best.streams(),
            next.streams()
        ),
    })
}

/// The rungs between which the knee lies.
fn around(history: &History, share: f64) -> Option<(&Sample, &Sample)> {
    let rungs = climb::rungs(history);
    let rate = |sample: &Sample| lasting::expected(history, sample);
    let best = rungs.iter().map(|sample| rate(sample)).fold(0.0, f64::max);
    let first = rungs
        .iter()
        .position(|sample| rate(sample) >= share * best)?;
    Some((rungs.get(first.checked_sub(1)?)?, rungs.get(first)?))
}

/// The power of two in the middle of two numbers of streams, on a scale of doublings.
fn middle(below: StreamCount, above: StreamCount) -> Option<StreamCount> {
    let doublings = |count: StreamCount| count.get().ilog2();
    let middle = (doublings(below) + doublings(above)) / 2;
    let middle = StreamCount::new(1 << middle).ok()?;
    (middle > below && middle < above).then_some(middle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_two_rungs_is_a_power_of_two_between_them() {
        let middle = |below, above| {
            let count = |n| StreamCount::new(n).unwrap();
            middle(count(below), count(above)).map(StreamCount::get)
        };
        assert_eq!(middle(1, 4), Some(2));
        assert_eq!(middle(4, 32), Some(8));
        assert_eq!(middle(16, 128), Some(32));
        assert_eq!(middle(4, 8), None);
        assert_eq!(middle(1, 2), None);
    }
}
