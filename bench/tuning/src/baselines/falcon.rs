//! Falcon: online gradient descent on a utility that charges for streams and for loss.
//!
//! What it does and how it differs from the published program is said at [`Falcon`]. Left out are
//! Falcon's other two methods (hill climbing and Bayesian optimisation), its tuning of files beside
//! streams, and what it is made for: many such transfers that share a bottleneck.

use observe::{Amount, SamplePlan, StreamCount, Then};
use tune::{Choice, History, Purpose, Request, Sample, Strategy};
use units::{Rate, Span};

use super::sampling::{self, default_window, within_streams_max};

/// What each stream divides the throughput by.
const K: f64 = 1.02;
/// What a share of loss takes from the utility.
const B: f64 = 10.0;
/// The program's `probing_sec`.
const SAMPLE: Span = Span::from_secs(3);
/// How far beyond the best count the program goes.
const BEYOND_BEST: f64 = 10.0;
/// So many samples in a row without a better utility end the search.
const SETTLED: usize = 4;

/// Falcon's utility of a throughput with so many streams, in the unit of the throughput in bit/s:
/// `T / K^n - T B L`, with `K` = 1.02 and `B` = 10.
///
/// * `loss`: retransmitted share of what was sent, 0 to 1.
///
/// A stream more pays while throughput grows by 2 %. So even where throughput grows in proportion
/// to the streams, none pays beyond `1 / ln K` = 50.5 of them.
///
/// Source: Arifuzzaman and Arslan, SC 2021.
pub(super) fn falcon_utility(throughput: Rate, streams: u16, loss: f64) -> f64 {
    let throughput = throughput.as_f64();
    throughput / K.powi(i32::from(streams)) - throughput * B * loss
}

/// Online gradient descent on [`falcon_utility`], on default windows.
///
/// Utility and constants are the papers' (Arifuzzaman and Arslan, SC 2021); the steps are those of
/// `gradient_opt_fast` in the authors' own program, Falcon-File-Transfer-Optimizer, as it was public:
/// 1. Sample 1 stream, then 2, for 3 s each.
/// 2. The gradient of the utility `U` is its difference between the last two samples for each stream between
///    them; where the streams did not change, the last counts as one fewer.
/// 3. A momentum counts the steps in one direction: 1, 2, 3, ... upwards or -1, -2, ... downwards, and starts
///    again where the gradient's sign changes. The next count is `n + momentum ceil(n |gradient / U|)`, `U`
///    being that of the sample before the last.
/// 4. It stays between 1 and ten streams above the best utility so far, which is how a search can look
///    beyond 50 streams though none there are worth it.
///
/// What differs, and what that costs:
/// - The program goes on for as long as its transfer does; its streams oscillate around the best. Here it
///   ends once four samples in a row, 12 s, have not raised the best utility, and recommends the best.
///   That may be one lucky sample, but is no worse than an oscillation.
/// - Its streams live on from sample to sample, so it pays slow start once. Here each sample starts anew:
///   on paths of 100 ms and more, 3 s can be too short for a few streams to get up to speed, and what all
///   of them lose in slow start is charged where only that of the streams that join would be.
/// - It takes the mean of the last two seconds of a sample for throughput and loss; here they are those over
///   the steady part of the sample, or its later half.
/// - Rates are not rounded to Mbit/s. Where the utility before was zero, the relative gradient counts as 1,
///   as in later versions of the program.
/// - Loss is the retransmitted share of the bytes sent, theirs of the segments. Where nobody tells it, nothing
///   is charged for it, as in the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Falcon;

impl Strategy for Falcon {
    fn next(&self, history: &History) -> Option<Request> {
        let descent = Descent::replayed(history);
        if descent.since_best >= SETTLED {
            return None;
        }
        let request = Request {
            setting: history.setting(descent.next, default_window(history)),
            plan: SamplePlan {
                amount: Amount::Time(SAMPLE),
                precision: None,
                unloaded: Span::ZERO,
                then: Then::Stop,
            },
            purpose: Purpose::Streams,
            why: format!("a step of momentum {} along the utility", descent.momentum),
        };
        sampling::within_budget(history, request)
    }

    fn choose(&self, history: &History) -> Option<Choice> {
        let delivered = |sample: &Sample| sample.goodput().mean > Rate::ZERO;
        let all = history.samples.iter().enumerate();
        let all = all.filter(|(_, sample)| delivered(sample));
        // Of equals the first.
        let all = all.rev();
        let best = all.max_by(|(_, one), (_, other)| utility(one).total_cmp(&utility(other)));
        best.map(|(sample, _)| Choice {
            sample,
            because: "the highest utility: throughput less a charge for streams and loss"
                .to_owned(),
        })
    }
}

fn utility(sample: &Sample) -> f64 {
    let loss = sample.retransmitted_share().unwrap_or(0.0);
    falcon_utility(sample.goodput().mean, sample.streams().get(), loss)
}

/// Where the descent stands after some samples.
#[derive(Debug, Clone, Copy)]
struct Descent {
    /// Streams and utility of the last sample.
    last: Option<(f64, f64)>,
    momentum: i32,
    best: f64,
    since_best: usize,
    /// The most streams that the next sample may have.
    limit: f64,
    next: StreamCount,
}

impl Descent {
    fn replayed(history: &History) -> Self {
        let start = Descent {
            last: None,
            momentum: 0,
            best: 0.0,
            since_best: 0,
            limit: f64::from(history.plan.streams_max.get()),
            next: StreamCount::ONE,
        };
        let samples = history.samples.iter();
        samples.fold(start, |descent, sample| descent.after(history, sample))
    }

    fn after(self, history: &History, sample: &Sample) -> Self {
        let n = f64::from(sample.streams().get());
        let utility = utility(sample);
        let improved = utility > self.best;
        let mut now = Descent {
            last: Some((n, utility)),
            best: self.best.max(utility),
            since_best: if improved { 0 } else { self.since_best + 1 },
            limit: if improved {
                n + BEYOND_BEST
            } else {
                self.limit
            },
            ..self
        };
        let wanted = match self.last {
            None => 2.0,
            Some(before) => now.step(before, (n, utility)),
        };
        now.next = within_streams_max(history, wanted.min(now.limit));
        now
    }

    /// The next count, before any bound; turns the momentum.
    fn step(&mut self, before: (f64, f64), last: (f64, f64)) -> f64 {
        let rises = gradient(before, last);
        self.momentum = match (rises >= 0.0, self.momentum) {
            (true, momentum) => momentum.max(0) + 1,
            (false, momentum) => momentum.min(0) - 1,
        };
        let relative = match before.1 {
            0.0 if rises != 0.0 => 1.0,
            0.0 => 0.0,
            utility => (rises / utility).abs(),
        };
        last.0 + f64::from(self.momentum) * (last.0 * relative).ceil()
    }
}

/// The utility that one more stream brings, between two samples of streams and utility.
fn gradient(before: (f64, f64), last: (f64, f64)) -> f64 {
    let apart = (last.0 - before.0).abs().max(1.0);
    match last.0 > before.0 {
        true => (last.1 - before.1) / apart,
        false => (before.1 - last.1) / apart,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_utility_peaks_at_fifty_streams_where_each_adds_as_much() {
        let mbit = |n: u64| Rate::from_bits_per_second(n * 1_000_000);
        // 1000 / 1.02^10 - 1000 x 10 x 0.001 = 820.35 - 10
        assert!((falcon_utility(mbit(1000), 10, 0.001) / 1e6 - 810.348).abs() < 1e-3);
        let in_proportion = |n: u16| falcon_utility(mbit(u64::from(n)), n, 0.0);
        assert!(in_proportion(50) > in_proportion(49) && in_proportion(52) < in_proportion(51));
    }
}
