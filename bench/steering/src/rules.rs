//! Ways to choose the streams of copies that share a link: trunkline's own, and those of others.

use observe::Limit;
use steer::online::{Interval, Online, OnlinePlan, Streams};
use steer::{LinkCopy, LinkSteer};
use units::{Bytes, Rate, Span};

/// A way to choose the streams of a fixed number of copies.
#[derive(Debug)]
pub enum Rule {
    /// Each copy by what it sees itself.
    Each(Vec<Online>),
    /// All by what they carry together.
    Link(Box<LinkSteer>),
    /// The optimizer of FTS3 3.14: transfers of one stream, once a minute (see [`Fts3`]).
    Fts3(Fts3),
    /// As many for each copy, for good.
    Fixed(u16),
}

/// FTS3 3.14's optimizer in its default mode: two transfers more where the moving average of the
/// rate has not fallen, one less where it fell by an order of magnitude, else none. Before that,
/// one less where transfers fail, and as many as before where too few wait.
#[derive(Debug, Clone)]
pub struct Fts3 {
    active: u16,
    /// 0.1 of the newest minute and 0.9 of before, in bits per second.
    average: f64,
    arrived: Bytes,
    since: Span,
}

/// What else FTS3 knows of the transfers of a link when it decides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transfers {
    /// Files that wait for their turn.
    pub waiting: u64,
    /// Of the transfers that ended in the last minute, the share that did not fail.
    pub success: f64,
    /// They passed a bound on their rate.
    pub is_over_bound: bool,
}

impl Transfers {
    /// More files than are ever under way, and none fails.
    pub const ENDLESS: Transfers = Transfers {
        waiting: u64::MAX,
        success: 1.0,
        is_over_bound: false,
    };
}

impl Fts3 {
    /// How often it decides.
    pub const EVERY: Span = Span::from_secs(60);
    /// Fewest and most transfers of a link, as shipped.
    pub const RANGE: (u16, u16) = (2, 130);
    /// The most transfers of one storage, over all its links, as shipped.
    pub const STORAGE_MAX: u16 = 200;
    /// A link without settings of its own begins in the middle of the range.
    pub const FIRST: u16 = (Self::RANGE.0 + Self::RANGE.1) / 2;
    /// Below this share of transfers that succeed there are fewer, unless the share is near and the
    /// rate grows.
    const SUCCESS: f64 = 0.97;
    const SUCCESS_NEAR: f64 = 0.96;

    /// * `active`: transfers to begin with.
    pub fn new(active: u16) -> Self {
        Fts3 {
            active,
            average: 0.0,
            arrived: Bytes::ZERO,
            since: Span::ZERO,
        }
    }

    /// Transfers as they should be now.
    pub fn active(&self) -> u16 {
        self.active
    }

    /// Tells what arrived in an interval of some length, and what else is known at its end.
    pub fn on_interval(&mut self, length: Span, arrived: Bytes, transfers: Transfers) {
        self.arrived += arrived;
        self.since += length;
        if self.since < Self::EVERY {
            return;
        }
        let rate = Rate::of(self.arrived, self.since).as_f64();
        (self.arrived, self.since) = (Bytes::ZERO, Span::ZERO);
        let before = self.average;
        self.average = match before {
            0.0 => rate,
            _ => 0.1 * rate + 0.9 * before,
        };
        let active = self
            .active
            .saturating_add_signed(self.step(before, transfers));
        self.active = active.clamp(Self::RANGE.0, Self::RANGE.1);
    }

    fn step(&self, before: f64, transfers: Transfers) -> i16 {
        let order = |rate: f64| rate.max(1.0).log10().round();
        let is_near = transfers.success >= Self::SUCCESS_NEAR && self.average > before;
        match () {
            () if transfers.is_over_bound => -1,
            () if transfers.success < Self::SUCCESS => i16::from(is_near) - 1,
            () if transfers.waiting < u64::from(self.active) => 0,
            () if self.average >= before => 2,
            () if order(self.average) < order(before) => -1,
            () => 0,
        }
    }
}

/// Globus's rule of fixed numbers: files at a time, streams of each, and files that are asked for
/// ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Globus {
    /// Files at a time.
    pub files: u16,
    /// Streams of each.
    pub streams: u16,
    /// Files that are asked for ahead.
    pub ahead: u16,
}

impl Globus {
    /// More files than this are many.
    const MANY: u64 = 100;
    /// A smaller mean is small, all above the other bound are large.
    const SMALL: Bytes = Bytes::new(50_000_000);
    const LARGE: Bytes = Bytes::new(250_000_000);

    /// The numbers for so many files of this mean, the smallest of which is `least`.
    ///
    /// ```
    /// use steering_bench::rules::Globus;
    /// use units::Bytes;
    /// let large = Globus::of(10, Bytes::new(1_000_000_000), Bytes::new(300_000_000));
    /// assert_eq!((large.files, large.streams), (2, 8));
    /// let small = Globus::of(5_000, Bytes::new(1_000_000), Bytes::new(1));
    /// assert_eq!((small.streams, small.ahead), (2, 20));
    /// ```
    pub fn of(count: u64, mean: Bytes, least: Bytes) -> Self {
        let (streams, ahead) = match () {
            () if count > Self::MANY && mean < Self::SMALL => (2, 20),
            () if least > Self::LARGE => (8, 5),
            () => (4, 10),
        };
        Globus {
            files: 2,
            streams,
            ahead,
        }
    }
}

impl Rule {
    /// Streams of each copy at the start.
    pub fn first(&self, copies: usize) -> Vec<u16> {
        match self {
            Rule::Each(all) => all.iter().map(|one| one.streams().get()).collect(),
            Rule::Link(link) => even(link.streams().get(), copies),
            Rule::Fts3(rule) => even(rule.active(), copies),
            Rule::Fixed(each) => vec![*each; copies],
        }
    }

    /// Streams of each copy after an interval of some length.
    pub fn on_interval(&mut self, length: Span, seen: &[Streams], now: &[u16]) -> Vec<u16> {
        match self {
            Rule::Each(all) => {
                for (one, streams) in all.iter_mut().zip(seen) {
                    one.on_interval(&Interval {
                        length,
                        streams: *streams,
                        ..Interval::default()
                    });
                }
                all.iter().map(|one| one.streams().get()).collect()
            }
            Rule::Link(link) => {
                let copies = seen.iter().zip(0..).map(|(streams, number)| LinkCopy {
                    number,
                    weight: 1,
                    streams: *streams,
                    limited_by: Some(Limit::Network),
                });
                let copies: Vec<LinkCopy> = copies.collect();
                link.on_interval(length, &copies)
                    .values()
                    .copied()
                    .collect()
            }
            Rule::Fts3(rule) => {
                let arrived = seen.iter().map(|one| one.arrived).sum();
                rule.on_interval(length, arrived, Transfers::ENDLESS);
                even(rule.active(), now.len())
            }
            Rule::Fixed(_) => now.to_vec(),
        }
    }

    /// A copy ended and another one began: what was found for the first is not known to the second.
    pub fn on_next(&mut self, copy: usize, rtt: Span) {
        match self {
            Rule::Each(all) => all[copy] = Online::new(plan(rtt)),
            Rule::Link(_) | Rule::Fts3(_) | Rule::Fixed(_) => {}
        }
    }
}

/// The plan of a copy of which the round trip of the handshake is known.
pub fn plan(rtt: Span) -> OnlinePlan {
    OnlinePlan {
        rtt: Some(rtt),
        ..OnlinePlan::default()
    }
}

fn even(total: u16, copies: usize) -> Vec<u16> {
    let copies = copies as u16;
    (0..copies)
        .map(|number| (total / copies + u16::from(number < total % copies)).max(1))
        .collect()
}
