//! One link while its shards run: what its copies have left, and what they come to.

use steering_bench::rules::{Fts3, Transfers};
use units::{Bytes, Span, Time};

use crate::chooser::{Holds, LinkRule, Rule, Seen, Steered};
use crate::noise::Noise;
use crate::pipe::{Met, Pipe};
use crate::random::Random;
use crate::world::{Link, Shard};

const NOISE: u64 = 21;
const RETRY: u64 = 22;

/// Bytes below which a shard is over.
pub const OVER: f64 = 1.0;

/// A shard as far as it is.
#[derive(Debug, Clone, Copy)]
pub struct Left {
    pub bytes: f64,
    pub is_taken: bool,
}

#[derive(Debug, Clone)]
pub struct Copy {
    pub steered: Steered,
    pub shard: usize,
    pub worker: usize,
    /// It has its connections.
    pub sends: bool,
    /// Bytes of the shard that were left when it began.
    pub before: f64,
    /// Bytes a second.
    pub rate: f64,
}

/// Sums over the time of a link.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sums {
    pub carried: f64,
    pub lost: f64,
    pub killed_bytes: f64,
    pub other: f64,
    pub other_alone: f64,
    pub stream_seconds: f64,
    pub seconds: f64,
    pub over_bound: f64,
    pub held_seconds: f64,
    pub held_stream_seconds: f64,
}

/// One link while it runs.
pub struct Lane<'a> {
    pub link: &'a Link,
    pub pipe: Pipe,
    /// What is away of the link and its hosts.
    pub away: usize,
    pub shards: Vec<Left>,
    pub slots: Vec<Option<Copy>>,
    pub rule: LinkRule,
    pub fts3: Fts3,
    pub fts3_seen: Attempts,
    /// Transfers of FTS3 within the bounds of the storages.
    pub transfers: u16,
    pub noise: Noise,
    pub retry: Random,
    pub met: Met,
    pub busy: f64,
    pub holds: Holds,
    /// A host keeps its streams below what they would carry, or the plan's bound does.
    pub is_held: bool,
    pub is_bounded: bool,
    /// Bits per second.
    pub rate: f64,
    pub since: Time,
    pub change: u64,
    pub sums: Sums,
    /// Carried in the first hours.
    pub early: f64,
}

/// Transfers of FTS3 that ended since it decided last.
#[derive(Debug, Clone, Copy, Default)]
pub struct Attempts {
    pub carried_before: f64,
    pub failed: f64,
}

impl<'a> Lane<'a> {
    pub fn new(link: &'a Link, at: usize, rule: Rule, seed: u64) -> Self {
        let left = |shard: &Shard| Left {
            bytes: shard.bytes as f64,
            is_taken: false,
        };
        Lane {
            pipe: link.pipe.clone(),
            away: 0,
            shards: link.shards.iter().map(left).collect(),
            slots: vec![None; rule.copies(link)],
            rule: LinkRule::default(),
            fts3: Fts3::new(Fts3::FIRST),
            fts3_seen: Attempts::default(),
            transfers: Fts3::FIRST,
            noise: Noise::new(Random::new(seed, NOISE, at)),
            retry: Random::new(seed, RETRY, at),
            met: link.pipe.alone(),
            busy: 0.0,
            holds: Holds::Network,
            is_bounded: false,
            is_held: false,
            rate: 0.0,
            since: Time::ZERO,
            change: 0,
            sums: Sums::default(),
            early: 0.0,
            link,
        }
    }

    pub fn sending(&self) -> impl Iterator<Item = &Copy> {
        self.slots.iter().flatten().filter(|copy| copy.sends)
    }

    pub fn streams(&self) -> u16 {
        self.sending().map(|copy| copy.steered.streams).sum()
    }

    pub fn is_over(&self) -> bool {
        self.shards.iter().all(|shard| shard.bytes < OVER)
    }

    /// The next shard in order that nothing runs.
    pub fn next_shard(&self) -> Option<usize> {
        self.shards
            .iter()
            .position(|shard| !shard.is_taken && shard.bytes >= OVER)
    }

    /// Goes on with the rates that there were until now.
    pub fn advance(&mut self, now: Time) {
        let seconds = now.since(self.since).as_secs_f64();
        self.since = now;
        if seconds == 0.0 || self.sending().next().is_none() {
            return;
        }
        for copy in self.slots.iter().flatten().filter(|copy| copy.sends) {
            let left = &mut self.shards[copy.shard].bytes;
            *left = (*left - copy.rate * seconds).max(0.0);
        }
        let carried = self.rate / 8.0 * seconds;
        let over = self
            .link
            .bound
            .map_or(0.0, |bound| (self.rate - bound).max(0.0));
        let streams = f64::from(self.streams());
        let sums = &mut self.sums;
        sums.carried += carried;
        sums.lost += carried * self.met.again / (1.0 - self.met.again);
        sums.other += self.met.other * seconds;
        sums.other_alone += self.pipe.alone().other * seconds;
        sums.stream_seconds += streams * seconds;
        sums.seconds += seconds;
        sums.over_bound += over / 8.0 * seconds;
        if self.is_held {
            sums.held_seconds += seconds;
            sums.held_stream_seconds += streams * seconds;
        }
    }

    /// Bits per second that its streams would carry, and those of them that are busy.
    pub fn demand(&mut self, rule: Rule) -> (f64, f64) {
        let streams = f64::from(self.streams());
        if streams == 0.0 {
            return (0.0, 0.0);
        }
        let kept = match rule.keeps_bounds() {
            true => self.link.bound.unwrap_or(f64::INFINITY),
            false => f64::INFINITY,
        };
        if rule == Rule::Optimum {
            return (self.pipe.capacity().min(kept), 1.0);
        }
        let shards: Vec<_> = self
            .sending()
            .map(|copy| self.link.shards[copy.shard])
            .collect();
        let files: f64 = shards.iter().map(|shard| rule.files_bound(shard)).sum();
        let idle = shards.iter().map(|shard| rule.idle(shard, self.pipe.rtt()));
        let idle = idle.sum::<f64>() / shards.len() as f64;
        let busy = self.pipe.busy(streams, idle);
        let carried = self.pipe.met(busy).own;
        self.is_bounded = kept < carried;
        (carried.min(kept).min(files), busy)
    }

    /// Takes a rate in bits per second, and says when the first of its shards is over.
    pub fn take(&mut self, rule: Rule, rate: f64, busy: f64) -> Option<Span> {
        (self.rate, self.busy) = (rate, busy);
        self.met = match rule {
            Rule::Optimum => Met {
                own: rate,
                ..self.pipe.alone()
            },
            _ => self.pipe.met_at(busy, rate),
        };
        self.change += 1;
        let all = f64::from(self.streams().max(1));
        let mut first: Option<f64> = None;
        for copy in self.slots.iter_mut().flatten().filter(|copy| copy.sends) {
            copy.rate = rate / 8.0 * f64::from(copy.steered.streams) / all;
            let seconds = self.shards[copy.shard].bytes / copy.rate;
            first = Some(first.map_or(seconds, |first| first.min(seconds)));
        }
        let first = first.filter(|seconds| seconds.is_finite())?;
        // Not before the last byte has arrived.
        Some(Span::from_secs_f64(first) + Span::from_micros(1))
    }

    /// Ends a copy before its end; its shard waits again.
    pub fn kill(&mut self, slot: usize, rule: Rule) {
        if let Some(copy) = self.slots[slot].take() {
            let shard = self.link.shards[copy.shard];
            let left = &mut self.shards[copy.shard];
            left.is_taken = false;
            let sent = copy.before - left.bytes;
            let streams = copy.steered.streams;
            let lost = rule.lost(&shard, streams, self.rate).min(sent);
            let lost = if copy.sends { lost } else { 0.0 };
            left.bytes += lost;
            self.sums.killed_bytes += lost;
            self.fts3_seen.failed += f64::from(streams);
        }
    }

    /// One look of the rule; whether streams changed.
    pub fn look(&mut self, rule: Rule, length: Span) -> bool {
        let before = self.streams();
        if rule == Rule::Fts3 {
            self.look_of_fts3(length);
            return false;
        }
        let seen = Seen {
            rate: self.rate / 8.0 * self.noise.factor(length, self.busy, self.met.is_full),
            again: self.met.again,
            rtt: Span::from_secs_f64(self.met.rtt),
            holds: self.holds.seen_by(rule),
            streams: before,
        };
        let slots = self.slots.iter_mut().enumerate();
        let mut copies: Vec<(usize, &mut Steered)> = slots
            .filter_map(|(slot, copy)| Some((slot, copy.as_mut()?)))
            .filter(|(_, copy)| copy.sends)
            .map(|(slot, copy)| (slot, &mut copy.steered))
            .collect();
        let counts: Vec<u16> = copies.iter().map(|(_, copy)| copy.streams).collect();
        self.rule.look(rule, &seen, &mut copies);
        let now = copies.iter().map(|(_, copy)| copy.streams);
        !now.eq(counts)
    }

    /// Files that wait, and files for each byte of the link.
    pub fn files_left(&self) -> (f64, f64) {
        let all = self.link.shards.iter().map(|shard| f64::from(shard.files));
        let shards = self.shards.iter().zip(&self.link.shards);
        let left =
            shards.map(|(left, shard)| left.bytes * f64::from(shard.files) / shard.bytes as f64);
        (left.sum(), all.sum::<f64>() / self.link.bytes())
    }

    fn look_of_fts3(&mut self, length: Span) {
        let (left, for_each_byte) = self.files_left();
        let seen = std::mem::take(&mut self.fts3_seen);
        let arrived = self.sums.carried - seen.carried_before;
        self.fts3_seen.carried_before = self.sums.carried;
        // Transfers to what is away fail.
        let failed = match self.away > 0 {
            true => seen.failed.max(f64::from(self.fts3.active())),
            false => seen.failed,
        };
        let ended = arrived * for_each_byte + failed;
        let noise = self.noise.factor(length, self.busy, self.met.is_full);
        let transfers = Transfers {
            waiting: left as u64,
            success: 1.0 - failed / ended.max(1.0),
            is_over_bound: self.link.bound.is_some_and(|bound| self.rate > bound),
        };
        self.fts3
            .on_interval(length, Bytes::new((arrived * noise) as u64), transfers);
    }
}
