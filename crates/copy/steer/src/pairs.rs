//! Streams of one copy over several pairs of addresses: to which pair the next stream goes, which
//! one is left out for now, and which stream goes where there are too many.
//!
//! At first all pairs have the same number of streams. Once it is known what each carries, a new
//! stream goes to the pair where the stream before it brought the most: streams that share a full
//! link bring nothing more there. A pair whose streams break, or to which none can be connected,
//! is left out for a pause that doubles with each failure, and then tried with one stream.

use std::collections::BTreeMap;

use observe::TcpSample;
use units::{Bytes, Rate, Span, Time};

/// Pause after a failure; twice as long after each one more that follows, up to 64 times.
const PAUSE: Span = Span::from_secs(1);
const DOUBLINGS: u32 = 6;
/// A pair whose streams carry nothing for so long hangs, where another one carries something.
const HANGS: Span = Span::from_secs(8);
/// Weight of the newest look in the goodput of a pair.
const SMOOTH: f64 = 0.3;

/// The pairs of a copy, by their positions, and how they fare.
#[derive(Debug, Clone)]
pub struct Pairs(Vec<Pair>);

/// One pair.
#[derive(Debug, Clone, Default)]
struct Pair {
    /// Streams that are connected, and those on their way.
    streams: u32,
    coming: u32,
    carried: Bytes,
    /// What all its streams carry, in bits per second, smoothed; `None` before the first look.
    rate: Option<f64>,
    /// Streams, and what they carried, when one more was dealt to it.
    before: Option<(u32, f64)>,
    /// When it carried something last, or got its first stream.
    moved: Time,
    /// Failures since it carried something, and until when it is left out for them.
    failures: u32,
    until: Option<Time>,
    /// It is not tried again in this session.
    is_given_up: bool,
    /// Since when it has had no stream, where they broke or none could be connected.
    gone: Option<Time>,
}

impl Pair {
    fn is_open(&self, now: Time) -> bool {
        !self.is_given_up && self.until.is_none_or(|until| now >= until)
    }

    fn is_empty(&self) -> bool {
        self.streams + self.coming == 0
    }

    /// What one more stream may bring, in bits per second, and what one carries.
    fn worth(&self) -> (f64, f64) {
        let (streams, rate) = (f64::from(self.streams.max(1)), self.rate.unwrap_or(0.0));
        // Those on their way have their share of it.
        let each = rate / (streams + f64::from(self.coming));
        let gain = self.before.filter(|(count, _)| self.streams > *count);
        let gain = gain.map(|(count, before)| {
            let gain = (rate - before) / f64::from(self.streams - count);
            gain.clamp(0.0, rate / streams) * streams / (streams + f64::from(self.coming))
        });
        (gain.unwrap_or(each), each)
    }

    fn fail(&mut self, now: Time) {
        // Streams that fail together are one failure.
        if self.is_open(now) {
            let pause = PAUSE.times(1 << self.failures.min(DOUBLINGS));
            self.failures = self.failures.saturating_add(1);
            self.until = Some(now + pause);
        }
        if self.streams == 0 {
            self.gone.get_or_insert(now);
        }
    }

    fn forget_rate(&mut self) {
        self.before = None;
        if self.streams == 0 {
            self.rate = None;
        }
    }
}

impl Pairs {
    /// So many pairs, of which nothing is known yet.
    pub fn new(count: usize) -> Self {
        Pairs(vec![Pair::default(); count])
    }

    /// A new session begins, without streams: all pairs are tried.
    pub fn begin(&mut self) {
        for pair in &mut self.0 {
            (pair.streams, pair.coming, pair.until) = (0, 0, None);
            pair.is_given_up = false;
            pair.forget_rate();
        }
    }

    /// The pair of the next stream; `None` while all are left out.
    ///
    /// ```
    /// use steer::Pairs;
    /// use units::{Bytes, Span, Time};
    /// let mut pairs = Pairs::new(2);
    /// let now = Time::ZERO;
    /// assert_eq!([pairs.deal(now), pairs.deal(now)], [Some(0), Some(1)]);
    /// pairs.on_joined(0, now);
    /// pairs.on_joined(1, now);
    /// // The second one carries three times as much: two more streams are better there.
    /// let (now, over) = (now + Span::from_secs(1), Span::from_secs(1));
    /// pairs.on_look(now, over, &[Bytes::new(1000), Bytes::new(3000)]);
    /// assert_eq!([pairs.deal(now), pairs.deal(now)], [Some(1), Some(1)]);
    /// ```
    pub fn deal(&mut self, now: Time) -> Option<usize> {
        let open = || {
            self.0
                .iter()
                .enumerate()
                .filter(move |(_, one)| one.is_open(now))
        };
        let count = |pair: &Pair| pair.streams + pair.coming;
        let fewest = open().min_by_key(|(_, one)| count(one))?;
        let is_known = open().all(|(_, one)| one.rate.is_some());
        // Of equal ones the first.
        let best = open().rev().max_by(|(_, a), (_, b)| {
            let ((a, a_each), (b, b_each)) = (a.worth(), b.worth());
            a.total_cmp(&b).then(a_each.total_cmp(&b_each))
        });
        let at = match best {
            Some((best, _)) if is_known && !fewest.1.is_empty() => best,
            _ => fewest.0,
        };
        self.add(at);
        Some(at)
    }

    /// A pair that is to be tried again with one stream beside those that the copy has, as it has
    /// none and its pause is over.
    pub fn retry(&mut self, now: Time) -> Option<usize> {
        let is_due = |pair: &Pair| pair.failures > 0 && pair.is_empty() && pair.is_open(now);
        let at = self.0.iter().position(is_due)?;
        self.add(at);
        Some(at)
    }

    fn add(&mut self, at: usize) {
        if let Some(pair) = self.0.get_mut(at) {
            if let (0, Some(rate)) = (pair.coming, pair.rate) {
                pair.before = Some((pair.streams, rate));
            }
            pair.coming += 1;
        }
    }

    /// A stream of the pair is connected. Returns whether the pair was gone until then.
    pub fn on_joined(&mut self, at: usize, now: Time) -> bool {
        let Some(pair) = self.0.get_mut(at) else {
            return false;
        };
        if pair.streams == 0 {
            pair.moved = now;
        }
        pair.coming = pair.coming.saturating_sub(1);
        pair.streams += 1;
        pair.gone.take().is_some()
    }

    /// A stream could not be connected. Returns whether the pair is gone with that.
    pub fn on_not_joined(&mut self, at: usize, now: Time) -> bool {
        let Some(pair) = self.0.get_mut(at) else {
            return false;
        };
        let was_gone = pair.gone.is_some();
        pair.coming = pair.coming.saturating_sub(1);
        pair.fail(now);
        pair.gone.is_some() && !was_gone
    }

    /// Another host answers there: the pair is not tried again in this session, unless it is the
    /// last one.
    pub fn give_up(&mut self, at: usize) {
        let mut others = self.0.iter().enumerate().filter(|(other, _)| *other != at);
        let has_others = others.any(|(_, pair)| !pair.is_given_up);
        if let Some(pair) = self.0.get_mut(at).filter(|_| has_others) {
            pair.is_given_up = true;
        }
    }

    /// A stream is over. Returns whether the pair is gone with that.
    ///
    /// * `broke`: it did not end as it should.
    pub fn on_over(&mut self, at: usize, broke: bool, now: Time) -> bool {
        let Some(pair) = self.0.get_mut(at) else {
            return false;
        };
        let was_gone = pair.gone.is_some();
        pair.streams = pair.streams.saturating_sub(1);
        pair.forget_rate();
        match broke {
            true => pair.fail(now),
            false => (pair.failures, pair.until) = (0, None),
        }
        pair.gone.is_some() && !was_gone
    }

    /// What the streams of each pair carried since the last look. Returns the pairs that hang,
    /// so that their streams are of no use to a receiver.
    ///
    /// * `over`: the time since that look.
    pub fn on_look(&mut self, now: Time, over: Span, moved: &[Bytes]) -> Vec<usize> {
        for (pair, moved) in self.0.iter_mut().zip(moved) {
            pair.carried += *moved;
            if *moved > Bytes::ZERO {
                pair.moved = now;
            }
            // The first bytes are those of connecting: it has to last.
            let lasts = pair.until.is_none_or(|until| now.since(until) > HANGS);
            if *moved > Bytes::ZERO && pair.streams > 0 && lasts {
                (pair.failures, pair.until) = (0, None);
            }
            if pair.streams > 0 && over > Span::ZERO {
                let newest = Rate::of(*moved, over).as_f64();
                let before = pair.rate.unwrap_or(newest);
                pair.rate = Some(SMOOTH * newest + (1.0 - SMOOTH) * before);
            }
        }
        let newest = self.0.iter().filter(|pair| pair.streams > 0);
        let newest = newest.map(|pair| pair.moved).max().unwrap_or(now);
        let hangs = |pair: &Pair| pair.streams > 0 && newest.since(pair.moved) > HANGS;
        let all = self.0.iter().enumerate();
        all.filter(|(_, pair)| hangs(pair))
            .map(|(at, _)| at)
            .collect()
    }

    /// What each carried, and since when it has been gone.
    pub fn carried(&self) -> impl Iterator<Item = (Bytes, Option<Time>)> + '_ {
        self.0.iter().map(|pair| (pair.carried, pair.gone))
    }
}

/// The streams to end so that no more than `keep` are left: the newest ones of the pair whose
/// streams carry the least each, and the last stream of a pair only where all pairs have no more
/// than one.
///
/// * `streams`: numbers, pairs, and bits per second.
///
/// ```
/// // Of three over one pair and one over another, which is the slowest of all.
/// let streams = [(1, 'a', 9.0), (2, 'b', 1.0), (3, 'a', 9.0), (4, 'a', 9.0)];
/// assert_eq!(steer::surplus(&streams, 3), [4]);
/// assert_eq!(steer::surplus(&streams, 1), [4, 3, 2]);
/// ```
pub fn surplus<P: Ord>(streams: &[(u32, P, f64)], keep: usize) -> Vec<u32> {
    let mut pairs: BTreeMap<&P, Vec<(u32, f64)>> = BTreeMap::new();
    for (number, pair, rate) in streams {
        pairs.entry(pair).or_default().push((*number, *rate));
    }
    let mut all: Vec<Vec<(u32, f64)>> = pairs.into_values().collect();
    let each = |pair: &Vec<(u32, f64)>| {
        let sum: f64 = pair.iter().map(|(_, rate)| rate).sum();
        sum / pair.len() as f64
    };
    let mut ended = Vec::new();
    while streams.len().saturating_sub(ended.len()) > keep {
        let has_several = all.iter().any(|pair| pair.len() > 1);
        let least = if has_several { 2 } else { 1 };
        let some = all.iter_mut().filter(|pair| pair.len() >= least);
        let Some(slowest) = some.min_by(|a, b| each(a).total_cmp(&each(b))) else {
            break;
        };
        let newest =
            (0..slowest.len()).max_by_key(|at| slowest.get(*at).map(|(number, _)| *number));
        let Some(at) = newest else { break };
        ended.push(slowest.swap_remove(at).0);
    }
    ended
}

/// The round trip of streams on different paths as that of one path: the smallest of all, and what
/// the queues add to those of the streams on average; `None` where the kernel tells none.
///
/// ```
/// use observe::TcpSample;
/// use units::Span;
/// let sample = |least, now| TcpSample {
///     rtt_min: Some(Span::from_millis(least)),
///     rtt: Some(Span::from_millis(now)),
///     ..TcpSample::default()
/// };
/// // 2 ms of queue on the short path, 8 ms on the long one.
/// let rtt = steer::common_rtt(&[sample(10, 12), sample(100, 108)]);
/// assert_eq!(rtt, Some(Span::from_millis(15)));
/// ```
pub fn common_rtt<'a>(samples: impl IntoIterator<Item = &'a TcpSample>) -> Option<Span> {
    let both = |one: &TcpSample| one.rtt.zip(one.rtt_min);
    let both: Vec<(Span, Span)> = samples.into_iter().filter_map(both).collect();
    let least = both.iter().map(|(_, least)| *least).min()?;
    let added: Vec<f64> = both
        .iter()
        .map(|(rtt, least)| (*rtt - *least).as_secs_f64())
        .collect();
    Some(least + Span::from_secs_f64(stats::mean(&added)?))
}

#[cfg(test)]
mod tests;
