//! The rules that are compared: how many copies of a link run, and with how many streams.

use std::collections::BTreeMap;

use observe::{Limit, StreamCount};
use steer::online::{Activity, Interval, Online, OnlinePlan, RateMax, Streams};
use steer::{LinkCopy, LinkSteer};
use steering_bench::rules::{Fts3, Globus, plan};
use units::{Bytes, Rate, Span};

use crate::world::{HostBound, Link, Shard};

/// How often copies tell how they fare, and until a change shows: as campaigns have it.
pub const PERIOD: Span = Span::from_secs(1);
const LAG: Span = Span::from_secs(3);

/// Round trips that a GridFTP session needs for each file when nothing is asked for ahead: 2.4 to 3
/// were measured with 16 sessions (`bench/results/copy-trees-2026-11-23.md`).
const ROUND_TRIPS_EACH: f64 = 3.0;
/// The same with a connection, its encryption and its login for each file. An assumption.
const ROUND_TRIPS_NEW: f64 = 12.0;
/// Files a second that one copy of trunkline takes: 2,000 in 0.38 s on a LAN (same page).
const FILES_A_SECOND: f64 = 5_000.0;

/// Most bytes of a piece, of which a killed copy loses half for each stream.
const PIECE: f64 = 4_194_304.0;
/// Seconds between two restart markers of GridFTP. An assumption.
const MARKER: f64 = 5.0;

/// A way to move a campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// trunkline's: the copies of a link are steered as one.
    Together,
    /// The same, if copies knew when the network card of their host is full. They do not.
    TogetherInformed,
    /// trunkline's copies, each steered by itself.
    Each,
    /// trunkline's copies with so many streams each.
    Fixed(u16),
    /// The optimizer of FTS3.
    Fts3,
    /// The fixed numbers of Globus.
    Globus,
    /// Max-min fair rates of all that links and hosts carry, without files, streams and starts.
    Optimum,
}

impl Rule {
    pub const ALL: [Rule; 8] = [
        Rule::Optimum,
        Rule::Fixed(4),
        Rule::Fixed(16),
        Rule::Fts3,
        Rule::Globus,
        Rule::Together,
        Rule::TogetherInformed,
        Rule::Each,
    ];

    pub fn name(self) -> String {
        match self {
            Rule::Together => "trunkline".to_owned(),
            Rule::TogetherInformed => "trunkline, if it knew full cards".to_owned(),
            Rule::Each => "each copy for itself".to_owned(),
            Rule::Fixed(streams) => format!("{streams} streams each"),
            Rule::Fts3 => "FTS3".to_owned(),
            Rule::Globus => "Globus".to_owned(),
            Rule::Optimum => "max-min optimum".to_owned(),
        }
    }

    /// How often it looks; `None` where it never changes its mind.
    pub fn period(self) -> Option<Span> {
        match self {
            Rule::Together | Rule::TogetherInformed | Rule::Each => Some(PERIOD),
            Rule::Fts3 => Some(Fts3::EVERY),
            Rule::Fixed(_) | Rule::Globus | Rule::Optimum => None,
        }
    }

    /// Shards of a link that run at a time. Of FTS3 and Globus one task does, with several files.
    pub fn copies(self, link: &Link) -> usize {
        match self {
            Rule::Fts3 | Rule::Globus | Rule::Optimum => 1,
            _ => link.copies.into(),
        }
    }

    /// Until a copy sends: ten round trips to connect, and a second to start and to list.
    pub fn start(self, rtt: Span) -> Span {
        match self {
            Rule::Optimum | Rule::Fts3 => Span::ZERO,
            _ => rtt.times(10) + Span::from_secs(1),
        }
    }

    /// Whether it keeps to the bound of a link. FTS3 sees that it passed one; Globus has none.
    pub fn keeps_bounds(self) -> bool {
        !matches!(self, Rule::Fts3 | Rule::Globus)
    }

    /// Seconds without data that each byte of a shard costs one stream.
    pub fn idle(self, shard: &Shard, rtt: Span) -> f64 {
        let (files, bytes) = (f64::from(shard.files), shard.bytes.max(1) as f64);
        let round_trips = match self {
            Rule::Fts3 => ROUND_TRIPS_NEW * files + shard.growth,
            // Each file is sent on several streams that wait together.
            Rule::Globus => {
                let globus = globus(shard);
                let ahead = f64::from(globus.ahead);
                ROUND_TRIPS_EACH * files / ahead * f64::from(globus.streams)
            }
            _ => 0.0,
        };
        round_trips * rtt.as_secs_f64() / bytes
    }

    /// The highest rate of a shard in bits per second, whatever the network carries.
    pub fn files_bound(self, shard: &Shard) -> f64 {
        match self {
            Rule::Optimum => f64::INFINITY,
            _ => FILES_A_SECOND * 8.0 * shard.bytes as f64 / f64::from(shard.files.max(1)),
        }
    }

    /// Bytes that are sent again when so many streams are killed.
    pub fn lost(self, shard: &Shard, streams: u16, rate: f64) -> f64 {
        let file = shard.bytes as f64 / f64::from(shard.files.max(1));
        let each = match self {
            Rule::Optimum => return 0.0,
            Rule::Globus => return MARKER / 2.0 * rate / 8.0,
            Rule::Fts3 => file,
            _ => file.min(PIECE),
        };
        f64::from(streams) * each / 2.0
    }
}

/// Globus's numbers for the files of a shard.
pub fn globus(shard: &Shard) -> Globus {
    let files = u64::from(shard.files);
    let mean = Bytes::new(shard.bytes / files.max(1));
    Globus::of(files, mean, Bytes::new(shard.least))
}

/// What holds a link's copies besides its streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// The link or its losses.
    Network,
    /// The network card of a host: to a copy it looks like the network.
    Card,
    SourceDisk,
    DestinationDisk,
    /// The bound of the plan.
    Bound,
}

impl Holds {
    /// A full host by its number among both sides.
    pub fn host(bound: HostBound, at: usize, sources: usize) -> Self {
        match bound {
            HostBound::Network => Holds::Card,
            HostBound::Disk if at < sources => Holds::SourceDisk,
            HostBound::Disk => Holds::DestinationDisk,
        }
    }

    /// What the copies of `rule` see of it.
    pub fn seen_by(self, rule: Rule) -> Self {
        match self {
            // Where a bound holds them, none adds streams.
            Holds::Card if rule == Rule::TogetherInformed => Holds::Bound,
            Holds::Card => Holds::Network,
            holds => holds,
        }
    }

    fn limit(self) -> Limit {
        match self {
            Holds::Network | Holds::Card => Limit::Network,
            Holds::SourceDisk => Limit::SenderDisk,
            Holds::DestinationDisk => Limit::ReceiverDisk,
            Holds::Bound => Limit::RateLimit,
        }
    }
}

/// A copy as the rule sees it.
#[derive(Debug, Clone)]
pub struct Steered {
    /// Of this copy alone.
    pub number: u64,
    pub weight: u16,
    pub streams: u16,
    online: Online,
    /// Others said last how many streams it is to have.
    is_told: bool,
}

impl Steered {
    pub fn new(number: u64, shard: &Shard, rule: Rule, rtt: Span) -> Self {
        let online = Online::new(plan(rtt));
        let streams = match rule {
            Rule::Together | Rule::TogetherInformed | Rule::Each => online.streams().get(),
            Rule::Fixed(streams) => streams,
            Rule::Globus => {
                let globus = globus(shard);
                globus.files * globus.streams
            }
            Rule::Fts3 => Fts3::FIRST,
            Rule::Optimum => 1,
        };
        Steered {
            number,
            weight: shard.weight,
            streams,
            online,
            is_told: false,
        }
    }

    fn alone(&mut self, length: Span, seen: &Seen) {
        if std::mem::take(&mut self.is_told) {
            self.online.fix(StreamCount::new(self.streams.into()).ok());
            self.online.fix(None);
        }
        self.online
            .on_interval(&seen.interval(length, self.streams));
        self.streams = self.online.streams().get();
    }

    fn told(&mut self, streams: u16) {
        // A copy takes no more streams than one may have.
        self.streams = streams.min(StreamCount::MAX.get());
        self.is_told = true;
    }
}

/// What a link showed in an interval, all copies together.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    /// Bytes a second.
    pub rate: f64,
    pub again: f64,
    pub rtt: Span,
    pub holds: Holds,
    /// Streams of all copies.
    pub streams: u16,
}

impl Seen {
    /// What a report of one copy comes to, as campaigns read it.
    fn of_copy(&self, length: Span, streams: u16) -> Streams {
        let part = f64::from(streams) / f64::from(self.streams.max(1));
        let arrived = self.rate * part * length.as_secs_f64();
        let sent = arrived / (1.0 - self.again);
        let bytes = |count: f64| Some(Bytes::new(count as u64));
        Streams {
            count: streams,
            arrived: Bytes::new(arrived as u64),
            sent: bytes(sent),
            retransmitted: bytes(sent * self.again),
            rtt: Some(self.rtt),
            rtt_min: Some(self.rtt),
            ..Streams::default()
        }
    }

    /// The same with what a copy sees of its own threads.
    fn interval(&self, length: Span, streams: u16) -> Interval {
        let of_copy = self.of_copy(length, streams);
        let all = length.times(streams.into());
        let activity = |disk, network| {
            Some(Activity {
                length,
                streams,
                disk,
                network,
                ..Activity::default()
            })
        };
        let (sender, receiver) = match self.holds {
            Holds::Network | Holds::Card | Holds::Bound => (None, None),
            Holds::SourceDisk => (activity(all, Span::ZERO), activity(Span::ZERO, all)),
            Holds::DestinationDisk => (activity(Span::ZERO, all), activity(all, Span::ZERO)),
        };
        let is_bound = self.holds == Holds::Bound;
        Interval {
            length,
            streams: of_copy,
            rate_max: RateMax::lower(is_bound.then(|| Rate::of(of_copy.arrived, length)), None),
            sender,
            receiver,
            ..Interval::default()
        }
    }
}

/// What steers one link over all its copies.
#[derive(Debug, Default)]
pub struct LinkRule {
    /// The copy that decides for all, and what it knows.
    deciding: Option<(u64, LinkSteer)>,
}

impl LinkRule {
    /// The copies of a link, with their slots, after an interval.
    pub fn look(&mut self, rule: Rule, seen: &Seen, copies: &mut [(usize, &mut Steered)]) {
        match copies {
            [] => self.deciding = None,
            [(_, one)] => {
                self.deciding = None;
                one.alone(PERIOD, seen);
            }
            _ if rule == Rule::Each => {
                for (_, copy) in copies {
                    copy.alone(PERIOD, seen);
                }
            }
            _ => self.decide(seen, copies),
        }
    }

    /// The copy in the lowest slot decides; the next one goes on with the streams that there are.
    fn decide(&mut self, seen: &Seen, copies: &mut [(usize, &mut Steered)]) {
        let first = copies.first().map_or(0, |(_, copy)| copy.number);
        if self
            .deciding
            .as_ref()
            .is_none_or(|(number, _)| *number != first)
        {
            let there = u64::from(seen.streams).min(StreamCount::MAX.get().into());
            let plan = OnlinePlan {
                remembered: StreamCount::new(there).ok(),
                ..plan(seen.rtt)
            };
            self.deciding = Some((first, LinkSteer::new(plan, LAG)));
        }
        let Some((_, steer)) = &mut self.deciding else {
            return;
        };
        let told: Vec<LinkCopy> = copies
            .iter()
            .map(|(slot, copy)| LinkCopy {
                number: *slot as u32,
                weight: copy.weight,
                streams: seen.of_copy(PERIOD, copy.streams),
                limited_by: Some(seen.holds.limit()),
            })
            .collect();
        let shares: &BTreeMap<u32, u16> = steer.on_interval(PERIOD, &told);
        for (slot, copy) in copies {
            if let Some(streams) = shares.get(&(*slot as u32)) {
                copy.told(*streams);
            }
        }
    }
}
