//! Steers the streams of all copies that share a link, as one.
//!
//! Copies that each look at their own rate take streams from each other: a trial of one gains what
//! the others lose, so that each adds more. Here a number of streams is judged by what all copies
//! carry together, and the copies have parts of it by their weights.
//!
//! The files of one copy share its streams already, small ones too, so the number of streams is all
//! that is chosen: how many copies run only decides how often one lists its files while others
//! send.

use std::collections::BTreeMap;

use observe::{Limit, StreamCount};
use units::{Bytes, Span};

use crate::online::{Interval, Online, OnlinePlan, Streams};

/// How often copies tell how they fare.
pub const REPORT_PERIOD: Span = Span::from_secs(1);
/// Until a copy has read its streams, has connected them, and has told what was confirmed since.
pub const REPORT_LAG: Span = Span::from_secs(3);
/// Reports come every third of the lag or so.
const LOOK_LAGS: u64 = 2;

/// How one copy fares, as it tells the others of its link every [`REPORT_PERIOD`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkReport {
    /// Of this copy alone: its number among those of the link may be another one's next.
    pub copy: u64,
    /// How many parts of the streams it gets; at least one.
    pub weight: u16,
    /// Bytes that the receiver has confirmed since some beginning.
    pub done: Bytes,
    /// Streams that carry data.
    pub streams: u16,
    /// Their mean smoothed round trip.
    pub rtt: Option<Span>,
    /// Bytes sent again as a share of those sent.
    pub retransmitted_share: Option<f64>,
    /// What binds it; `None` where no single part does.
    pub limited_by: Option<Limit>,
}

/// What one copy of the link showed in an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkCopy {
    /// Which one; a number that another copy of the link does not have at the same time.
    pub number: u32,
    /// How many parts of the streams it gets; at least one.
    pub weight: u16,
    /// What its kernel said of its streams.
    pub streams: Streams,
    /// What bound it; `None` where no single part did.
    pub limited_by: Option<Limit>,
}

/// Steers the copies of one link.
#[derive(Debug, Clone)]
pub struct LinkSteer {
    online: Online,
    /// Streams that each copy should have.
    shares: BTreeMap<u32, u16>,
    weights: BTreeMap<u32, u16>,
    /// Which copy had each number in the last reports, and how many bytes.
    before: BTreeMap<u32, (u64, Bytes)>,
    lag: Span,
    /// For so long what is told is of before the last change.
    stale_for: Span,
}

impl LinkSteer {
    /// Nothing was seen yet.
    ///
    /// * `plan`: that of a single copy, for all of them together.
    /// * `lag`: how long it takes until copies have heard of a change and tell of it.
    pub fn new(plan: OnlinePlan, lag: Span) -> Self {
        LinkSteer {
            // Of four reports and more a look has an error by which to judge a gain.
            online: Online::new(plan).with_looks_of(lag.times(LOOK_LAGS)),
            shares: BTreeMap::new(),
            weights: BTreeMap::new(),
            before: BTreeMap::new(),
            lag,
            stale_for: Span::ZERO,
        }
    }

    /// Begins with what copies tell.
    ///
    /// * `known`: streams of all copies together so far; the most that one has, where that is not
    ///   known.
    /// * `fixed`: so many for all of them, without a search.
    pub fn of_reports(
        told: &BTreeMap<u32, LinkReport>,
        known: Option<StreamCount>,
        fixed: Option<StreamCount>,
    ) -> Self {
        let there = || told.values().map(|one| one.streams).max();
        let there =
            || there().map(|most| StreamCount::new(most.min(StreamCount::MAX.get()).into()));
        let plan = OnlinePlan {
            streams: fixed,
            remembered: known.or_else(|| there()?.ok()),
            rtt: told.values().filter_map(|one| one.rtt).min(),
            ..OnlinePlan::default()
        };
        LinkSteer::new(plan, REPORT_LAG)
    }

    /// Streams of all copies together, as they should be now. Copies have at least one each.
    pub fn streams(&self) -> StreamCount {
        self.online.streams()
    }

    /// The smallest round trip seen.
    pub fn rtt_min(&self) -> Option<Span> {
        self.online.rtt_min()
    }

    /// Tells what an interval showed of all copies, and answers with the streams that each should
    /// have.
    ///
    /// Time while copies come and go says nothing of a number of streams, so a look begins anew
    /// with each of them.
    ///
    /// ```
    /// use steer::online::{OnlinePlan, Streams};
    /// use steer::{LinkCopy, LinkSteer};
    /// use units::Span;
    ///
    /// let rtt = Some(Span::from_millis(80));
    /// let mut link = LinkSteer::new(OnlinePlan { rtt, ..OnlinePlan::default() }, Span::ZERO);
    /// let copy = |number, weight| LinkCopy {
    ///     number,
    ///     weight,
    ///     streams: Streams::default(),
    ///     limited_by: None,
    /// };
    /// // A path of 80 ms begins with 27 streams; the second copy has twice the weight.
    /// let shares = link.on_interval(Span::from_millis(500), &[copy(0, 1), copy(1, 2)]);
    /// assert_eq!(shares.values().copied().collect::<Vec<u16>>(), [9, 18]);
    /// ```
    pub fn on_interval(&mut self, length: Span, copies: &[LinkCopy]) -> &BTreeMap<u32, u16> {
        let weights: BTreeMap<u32, u16> = copies
            .iter()
            .map(|copy| (copy.number, copy.weight.max(1)))
            .collect();
        if weights != self.weights {
            self.online.begin_look();
            self.weights = weights;
            self.stale_for = self.lag;
        } else if self.stale_for > Span::ZERO {
            self.stale_for = self.stale_for - length.min(self.stale_for);
        } else if !copies.is_empty() {
            let interval = Interval {
                length,
                streams: sum(copies),
                ..Interval::default()
            };
            // Windows are each copy's own: a buffer that binds shows in its own verdict.
            let changed = self.online.on_interval_bound(&interval, binds(copies));
            self.stale_for = changed.map_or(Span::ZERO, |_| self.lag);
        }
        self.shares = shares(self.online.streams().get(), &self.weights);
        &self.shares
    }

    /// The same as [`LinkSteer::on_interval`], of reports that count from each copy's beginning.
    pub fn on_reports(
        &mut self,
        length: Span,
        told: &BTreeMap<u32, LinkReport>,
    ) -> &BTreeMap<u32, u16> {
        let copy = |(number, report): (&u32, &LinkReport)| LinkCopy {
            number: *number,
            weight: report.weight,
            streams: self.streams_of(*number, report),
            limited_by: report.limited_by,
        };
        let copies: Vec<LinkCopy> = told.iter().map(copy).collect();
        let before = |(number, report): (&u32, &LinkReport)| (*number, (report.copy, report.done));
        self.before = told.iter().map(before).collect();
        self.on_interval(length, &copies)
    }

    /// What a report shows since the one before. The kernel's counts of bytes stay with the sender,
    /// so they follow from the share that was sent again.
    fn streams_of(&self, number: u32, report: &LinkReport) -> Streams {
        let before = self.before.get(&number);
        let before = before.filter(|(copy, _)| *copy == report.copy);
        let arrived = before.map_or(Bytes::ZERO, |(_, done)| report.done - *done);
        let again = report
            .retransmitted_share
            .map(|share| share.clamp(0.0, 0.99));
        let sent = again.map(|share| arrived.as_f64() / (1.0 - share));
        let bytes = |count: f64| Bytes::new(count as u64);
        Streams {
            count: report.streams,
            arrived,
            sent: sent.map(bytes),
            retransmitted: sent.zip(again).map(|(sent, share)| bytes(sent * share)),
            rtt: report.rtt,
            rtt_min: report.rtt,
            ..Streams::default()
        }
    }
}

/// What binds the link: what binds the copies that carry most of its bytes.
fn binds(copies: &[LinkCopy]) -> Option<Limit> {
    let mut carried: Vec<(Option<Limit>, Bytes)> = Vec::new();
    for copy in copies {
        match carried.iter_mut().find(|(by, _)| *by == copy.limited_by) {
            Some((_, bytes)) => *bytes += copy.streams.arrived,
            None => carried.push((copy.limited_by, copy.streams.arrived)),
        }
    }
    let most = carried.into_iter().max_by_key(|(_, bytes)| *bytes);
    most.and_then(|(by, _)| by)
}

fn sum(copies: &[LinkCopy]) -> Streams {
    let all = || copies.iter().map(|copy| copy.streams);
    let bytes = |of: fn(Streams) -> Option<Bytes>| all().filter_map(of).reduce(|a, b| a + b);
    let spans = |of: fn(Streams) -> Option<Span>| all().filter_map(of).reduce(|a, b| a + b);
    let first = |of: fn(Streams) -> Option<Bytes>| all().find_map(of);
    let rtts: Vec<Span> = all().filter_map(|one| one.rtt).collect();
    let counted = u64::try_from(rtts.len()).unwrap_or(u64::MAX);
    Streams {
        count: all().fold(0, |sum: u16, one| sum.saturating_add(one.count)),
        arrived: all().map(|one| one.arrived).sum(),
        sent: bytes(|one| one.sent),
        retransmitted: bytes(|one| one.retransmitted),
        rtt: rtts
            .into_iter()
            .reduce(|a, b| a + b)
            .map(|sum| Span::from_nanos(sum.as_nanos() / counted.max(1))),
        rtt_min: all().filter_map(|one| one.rtt_min).min(),
        segment: first(|one| one.segment),
        congestion_window: bytes(|one| one.congestion_window),
        outstanding: bytes(|one| one.outstanding),
        peer_window: first(|one| one.peer_window),
        busy: spans(|one| one.busy),
        receive_window_limited: spans(|one| one.receive_window_limited),
        send_buffer_limited: spans(|one| one.send_buffer_limited),
        without_data: all()
            .filter_map(|one| one.without_data)
            .reduce(|a, b| a + b),
        mark_echoed: all().filter_map(|one| one.mark_echoed).reduce(|a, b| a + b),
        ecn: all().filter_map(|one| one.ecn).reduce(|a, b| a && b),
    }
}

/// Parts of `total` by weight, each at least one: the next stream goes to the copy that has fewest
/// for its weight (weighted max-min fairness; Bertsekas and Gallager, Data Networks, 6.5.2).
fn shares(total: u16, weights: &BTreeMap<u32, u16>) -> BTreeMap<u32, u16> {
    let mut shares: BTreeMap<u32, u16> = weights.keys().map(|number| (*number, 1)).collect();
    let given = u16::try_from(shares.len()).unwrap_or(u16::MAX);
    for _ in given..total {
        let lack = |(number, share): &(&u32, &mut u16)| {
            let weight = weights.get(*number).copied().unwrap_or(1).max(1);
            (u32::from(**share) * 1_000_000 / u32::from(weight), **number)
        };
        if let Some((_, share)) = shares.iter_mut().min_by_key(lack) {
            *share += 1;
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::from_millis(80);
    const HALF: Span = Span::from_millis(500);

    fn begun() -> LinkSteer {
        let plan = OnlinePlan {
            rtt: Some(RTT),
            ..OnlinePlan::default()
        };
        LinkSteer::new(plan, Span::ZERO)
    }

    /// Copies of a path that carries `most` streams' worth and no more, for so many seconds.
    fn run(link: &mut LinkSteer, weights: &[u16], most: u16, seconds: u64) -> BTreeMap<u32, u16> {
        for _ in 0..2 * seconds {
            let all: u16 = link.shares.values().sum();
            let each = 500_000.0 * f64::from(most.min(all)) / f64::from(all.max(1));
            let copies: Vec<LinkCopy> = (0..)
                .zip(weights)
                .map(|(number, weight)| {
                    let count = link.shares.get(&number).copied().unwrap_or(0);
                    LinkCopy {
                        number,
                        weight: *weight,
                        streams: Streams {
                            count,
                            arrived: Bytes::new((each * f64::from(count)) as u64),
                            rtt: Some(RTT),
                            rtt_min: Some(RTT),
                            ..Streams::default()
                        },
                        limited_by: Some(Limit::Network),
                    }
                })
                .collect();
            link.on_interval(HALF, &copies);
        }
        link.shares.clone()
    }

    fn values(shares: &BTreeMap<u32, u16>) -> Vec<u16> {
        shares.values().copied().collect()
    }

    #[test]
    fn streams_are_added_while_all_copies_together_carry_more() {
        let mut link = begun();
        let shares = run(&mut link, &[1, 1, 1, 1], 1_000, 60);
        assert!(shares.values().sum::<u16>() > 60, "{shares:?}");
        let spread = shares.values().max().unwrap() - shares.values().min().unwrap();
        assert!(spread <= 1, "{shares:?}");
    }

    #[test]
    fn a_full_link_gets_no_more_streams_with_more_copies() {
        for copies in [1, 2, 8] {
            let mut link = begun();
            let shares = run(&mut link, &vec![1; copies], 20, 400);
            let all: u16 = shares.values().sum();
            assert!((19..=27).contains(&all), "{copies} copies: {shares:?}");
        }
    }

    #[test]
    fn shares_follow_the_weights() {
        assert_eq!(values(&shares(10, &[(0, 1), (1, 4)].into())), [2, 8]);
        assert_eq!(
            values(&shares(7, &[(0, 1), (1, 1), (2, 1)].into())),
            [3, 2, 2]
        );
        assert_eq!(
            values(&shares(2, &[(0, 9), (1, 1), (2, 1)].into())),
            [1, 1, 1]
        );
        assert!(shares(5, &BTreeMap::new()).is_empty());
    }

    #[test]
    fn a_copy_that_ends_leaves_its_streams_to_the_others() {
        let mut link = begun();
        let before = run(&mut link, &[1, 1], 20, 20);
        let after = run(&mut link, &[1], 20, 1);
        assert_eq!(before.values().sum::<u16>(), after.values().sum::<u16>());
    }

    /// Each pair of copies is faster than the one before, whatever the number of streams.
    #[test]
    fn the_gain_of_a_copy_that_began_is_not_that_of_more_streams() {
        let mut link = begun();
        for second in 0..60 {
            let number = 1 + second / 4;
            let shares = link.shares.clone();
            let copies = (number..number + 2).map(|number| LinkCopy {
                number,
                weight: 1,
                streams: Streams {
                    count: shares.get(&number).copied().unwrap_or(0),
                    arrived: Bytes::new(100_000 * u64::from(number)),
                    ..Streams::default()
                },
                limited_by: Some(Limit::Network),
            });
            let copies: Vec<LinkCopy> = copies.collect();
            link.on_interval(HALF, &copies);
            link.on_interval(HALF, &copies);
        }
        assert!(link.streams().get() <= 27, "{}", link.streams());
    }

    #[test]
    fn no_streams_are_added_where_a_disk_binds_most() {
        let mut link = begun();
        let copy = |number, arrived, limited_by| LinkCopy {
            number,
            weight: 1,
            streams: Streams {
                count: 13,
                arrived: Bytes::new(arrived),
                ..Streams::default()
            },
            limited_by: Some(limited_by),
        };
        for _ in 0..200 {
            let copies = [
                copy(0, 900_000, Limit::ReceiverDisk),
                copy(1, 100_000, Limit::Network),
            ];
            link.on_interval(HALF, &copies);
        }
        assert_eq!(link.streams().get(), 27);
    }
}
