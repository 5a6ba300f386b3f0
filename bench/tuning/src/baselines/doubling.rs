//! Doubling the streams while that pays, then bisection between the last two.
//!
//! Left out: windows. And the range below the last count that gained: the fewest streams that would
//! do may lie there, which costs up to twice as many streams as needed.

use observe::StreamCount;
use tune::{Choice, History, Purpose, Request, Strategy};

use super::sampling::{self, carried, default_window, doubled, gains};

/// 1, 2, 4, ... streams until twice as many bring less than 5 %; then halves of what lies between
/// the last two, to the side where the middle brings 5 % more than the lower end, until they are
/// neighbours. The highest goodput seen is recommended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DoublingBisection;

impl Strategy for DoublingBisection {
    fn next(&self, history: &History) -> Option<Request> {
        let (streams, why) = match doubling(history) {
            Doubling::Sample(streams) => (streams, "the last doubling paid".to_owned()),
            Doubling::Open => return None,
            Doubling::Between(low, high) => {
                let middle = bisected(history, low, high)?;
                (middle, format!("between {low} and {high} streams"))
            }
        };
        let window = default_window(history);
        let request = sampling::request(history, streams, window, Purpose::Streams, why);
        sampling::within_budget(history, request)
    }

    fn choose(&self, history: &History) -> Option<Choice> {
        sampling::highest(history, |_| true, "the highest goodput of all counts tried")
    }
}

enum Doubling {
    /// This many are still to be sampled.
    Sample(StreamCount),
    /// The second brought nothing that the first did not.
    Between(StreamCount, StreamCount),
    /// Every doubling paid, up to the most streams.
    Open,
}

fn doubling(history: &History) -> Doubling {
    let of = |streams| carried(history, streams, default_window(history));
    let mut low = StreamCount::ONE;
    let Some(mut before) = of(low) else {
        return Doubling::Sample(low);
    };
    while let Some(high) = doubled(history, low) {
        let Some(rate) = of(high) else {
            return Doubling::Sample(high);
        };
        if !gains(before, rate) {
            return Doubling::Between(low, high);
        }
        (low, before) = (high, rate);
    }
    Doubling::Open
}

/// The next middle to sample; `None` once both ends are neighbours.
fn bisected(history: &History, low: StreamCount, high: StreamCount) -> Option<StreamCount> {
    let of = |streams| carried(history, streams, default_window(history));
    let (mut low, mut high) = (low, high);
    while let Some(middle) = between(low, high) {
        let Some(rate) = of(middle) else {
            return Some(middle);
        };
        match gains(of(low)?, rate) {
            true => low = middle,
            false => high = middle,
        }
    }
    None
}

fn between(low: StreamCount, high: StreamCount) -> Option<StreamCount> {
    let middle = StreamCount::new(u64::from(low.get() + high.get()) / 2).ok()?;
    (middle > low && middle < high).then_some(middle)
}
