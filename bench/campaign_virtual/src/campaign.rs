//! One campaign by one rule, from change to change.
//!
//! Rates are constant between two changes: a shard begins or ends, a part goes away or comes back,
//! a look changes a number of streams.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use steering_bench::rules::Fts3;
use units::{Span, Time};

use crate::chooser::{Holds, Rule, Steered};
use crate::failure::{Failures, Part, Schedule};
use crate::lane::{Copy, Lane, OVER};
use crate::max_min::{Flow, max_min};
use crate::outcome::{Campaigned, FAIR_UNTIL};
use crate::world::World;

/// Processes that run copies, on each host with files.
pub const WORKERS: usize = 2;
/// Until an engine gives the shard of a lost worker to another one
/// (`bench/results/campaign-hosts-2026-11-25.md`: about half a minute).
const LOST_WORKER: Span = Span::from_secs(30);
/// A far end that does not answer is asked again after at most so many seconds.
const ASKED_AGAIN: f64 = 60.0;
/// Share of the bytes after which a campaign is nearly over.
const NEARLY: f64 = 0.95;
/// Below this share of what its streams would carry a link is held by a host.
const HELD: f64 = 0.999;
/// A campaign that takes longer is given up.
const LONGEST: Span = Span::from_secs(60 * 86_400);

/// Runs a campaign to its end.
///
/// # Errors
/// When it does not come to one.
pub fn campaign(
    world: &World,
    rule: Rule,
    failures: &Failures,
    seed: u64,
) -> Result<Campaigned, String> {
    let mut running = Running::new(world, rule, failures, seed);
    running.begin();
    running.go()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// All rules look.
    Look,
    /// A part goes away or comes back.
    Toggle(Part),
    /// A copy has its connections.
    Ready { link: usize, copy: u64 },
    /// A shard of the link may be over, unless its rates changed since.
    Over { link: usize, change: u64 },
    /// Free slots are filled.
    Fill(usize),
    /// What counts for fairness has been carried.
    Fair,
}

struct Running<'a> {
    world: &'a World,
    rule: Rule,
    lanes: Vec<Lane<'a>>,
    /// By the number of the link.
    rates: Vec<f64>,
    demands: Vec<(f64, f64)>,
    changed: Vec<usize>,
    schedules: Vec<(Part, Schedule)>,
    workers: Vec<bool>,
    events: BinaryHeap<Reverse<(Time, u64, Event)>>,
    now: Time,
    numbered: u64,
    killed: u64,
    copies: u64,
    open: usize,
    /// Bytes of shards that are over.
    over: f64,
    nearly: Option<Time>,
}

impl<'a> Running<'a> {
    fn new(world: &'a World, rule: Rule, failures: &Failures, seed: u64) -> Self {
        let sources = world.hosts.len() / 2;
        let lanes = world.links.iter().enumerate();
        let lanes: Vec<Lane> = lanes
            .map(|(at, link)| Lane::new(link, at, rule, seed))
            .collect();
        let links = (0..world.links.len()).map(Part::Link);
        let hosts = (0..world.hosts.len()).map(Part::Host);
        let workers = (0..sources * WORKERS).map(Part::Worker);
        let parts = links.chain(hosts).chain(workers);
        let schedules = parts.map(|part| (part, Schedule::new(failures, part, seed)));
        Running {
            rule,
            rates: vec![0.0; lanes.len()],
            demands: vec![(0.0, 0.0); lanes.len()],
            changed: Vec::new(),
            schedules: schedules.collect(),
            workers: vec![true; sources * WORKERS],
            events: BinaryHeap::new(),
            now: Time::ZERO,
            numbered: 0,
            killed: 0,
            copies: 0,
            open: lanes.len(),
            over: 0.0,
            nearly: None,
            lanes,
            world,
        }
    }

    fn at(&mut self, time: Time, event: Event) {
        self.numbered += 1;
        self.events.push(Reverse((time, self.numbered, event)));
    }

    fn after(&mut self, span: Span, event: Event) {
        self.at(self.now + span, event);
    }

    fn begin(&mut self) {
        for at in 0..self.schedules.len() {
            let part = self.schedules[at].0;
            self.toggle_next(part);
        }
        self.share_storages();
        for link in 0..self.lanes.len() {
            self.at(Time::ZERO, Event::Fill(link));
        }
        self.after(FAIR_UNTIL, Event::Fair);
        if let Some(period) = self.rule.period() {
            self.after(period, Event::Look);
        }
    }

    fn toggle_next(&mut self, part: Part) {
        let found = self.schedules.iter_mut().find(|(other, _)| *other == part);
        if let Some(at) = found.and_then(|(_, schedule)| schedule.next()) {
            self.at(at, Event::Toggle(part));
        }
    }

    fn go(mut self) -> Result<Campaigned, String> {
        while self.open > 0 {
            let Some(Reverse((time, _, event))) = self.events.pop() else {
                return Err("no event is left, and shards are".to_owned());
            };
            if time.since(Time::ZERO) > LONGEST {
                return Err(format!("after {} shards are left", LONGEST.human()));
            }
            self.now = time;
            self.on(event);
            // What happens at one moment is settled once.
            let next = self.events.peek().map(|Reverse((time, ..))| *time);
            if next != Some(self.now) {
                self.settle();
            }
        }
        let since = |time: Time| time.since(Time::ZERO);
        let nearly = since(self.nearly.unwrap_or(self.now));
        Ok(Campaigned::of(
            &self.lanes,
            since(self.now),
            nearly,
            self.killed,
        ))
    }

    fn on(&mut self, event: Event) {
        match event {
            Event::Look => self.look(),
            Event::Toggle(part) => self.toggle(part),
            Event::Fill(link) => self.fill(link),
            Event::Fair => self.early(),
            Event::Over { link, change } if self.lanes[link].change == change => self.over(link),
            Event::Over { .. } => {}
            Event::Ready { link, copy } => {
                self.lanes[link].advance(self.now);
                let slots = self.lanes[link].slots.iter_mut().flatten();
                let mut copies = slots.filter(|one| one.steered.number == copy);
                if let Some(copy) = copies.next() {
                    copy.sends = true;
                    self.changed.push(link);
                }
            }
        }
    }

    fn early(&mut self) {
        for lane in &mut self.lanes {
            lane.advance(self.now);
            lane.early = lane.sums.carried;
        }
    }

    fn look(&mut self) {
        let Some(period) = self.rule.period() else {
            return;
        };
        for link in 0..self.lanes.len() {
            let lane = &mut self.lanes[link];
            if lane.sending().next().is_some() || self.rule == Rule::Fts3 {
                if self.rule == Rule::Fts3 {
                    lane.advance(self.now);
                }
                if lane.look(self.rule, period) {
                    self.changed.push(link);
                }
            }
        }
        if self.rule == Rule::Fts3 {
            self.share_storages();
        }
        self.after(period, Event::Look);
    }

    /// Storages bound the transfers of FTS3 over all their links.
    fn share_storages(&mut self) {
        let mut active = vec![0.0; self.world.hosts.len()];
        for lane in self.lanes.iter().filter(|lane| !lane.is_over()) {
            for host in lane.link.through {
                active[host] += f64::from(lane.fts3.active());
            }
        }
        let part = |host: usize| f64::min(1.0, f64::from(Fts3::STORAGE_MAX) / active[host]);
        for (link, lane) in self.lanes.iter_mut().enumerate() {
            let least = lane.link.through.map(part).into_iter().fold(1.0, f64::min);
            let wanted = (f64::from(lane.fts3.active()) * least).round();
            let wanted = wanted.min(lane.files_left().0.ceil()).max(1.0) as u16;
            lane.transfers = wanted;
            for copy in lane.slots.iter_mut().flatten() {
                if copy.steered.streams != wanted {
                    copy.steered.streams = wanted;
                    self.changed.push(link);
                }
            }
        }
    }

    fn toggle(&mut self, part: Part) {
        self.toggle_next(part);
        match part {
            Part::Worker(at) => self.toggle_worker(at),
            Part::Link(link) => self.toggle_link(link, part),
            Part::Host(host) => {
                for link in 0..self.lanes.len() {
                    if self.lanes[link].link.through.contains(&host) {
                        self.toggle_link(link, part);
                    }
                }
            }
        }
    }

    fn toggle_link(&mut self, link: usize, part: Part) {
        let is_away = self.is_away(part);
        let lane = &mut self.lanes[link];
        lane.advance(self.now);
        if is_away {
            lane.away += 1;
            let slots = 0..lane.slots.len();
            slots.for_each(|slot| self.kill(link, slot));
            return;
        }
        lane.away -= 1;
        if lane.away == 0 {
            let wait = Span::from_secs_f64(lane.retry.between(0.0, ASKED_AGAIN));
            let wait = if self.rule == Rule::Optimum {
                Span::ZERO
            } else {
                wait
            };
            self.after(wait, Event::Fill(link));
        }
    }

    /// Whether the toggle that happens now began an absence. The one that ends it is drawn already.
    fn is_away(&self, part: Part) -> bool {
        let found = self.schedules.iter().find(|(other, _)| *other == part);
        found.is_some_and(|(_, schedule)| schedule.next_goes_away())
    }

    fn toggle_worker(&mut self, at: usize) {
        let is_away = self.is_away(Part::Worker(at));
        self.workers[at] = !is_away;
        for link in 0..self.lanes.len() {
            if self.lanes[link].link.through[0] != at / WORKERS {
                continue;
            }
            self.lanes[link].advance(self.now);
            for slot in 0..self.lanes[link].slots.len() {
                let copy = &self.lanes[link].slots[slot];
                if is_away && copy.as_ref().is_some_and(|copy| copy.worker == at) {
                    self.kill(link, slot);
                }
            }
            let wait = if self.rule == Rule::Optimum {
                Span::ZERO
            } else {
                LOST_WORKER
            };
            self.after(wait, Event::Fill(link));
        }
    }

    fn kill(&mut self, link: usize, slot: usize) {
        if self.lanes[link].slots[slot].is_some() {
            self.lanes[link].kill(slot, self.rule);
            self.killed += 1;
            self.changed.push(link);
        }
    }

    /// Starts shards in free slots, each on the worker of the host with the fewest copies of the
    /// link.
    fn fill(&mut self, link: usize) {
        if self.lanes[link].away > 0 {
            return;
        }
        for slot in 0..self.lanes[link].slots.len() {
            let lane = &self.lanes[link];
            if lane.slots[slot].is_some() {
                continue;
            }
            let (Some(worker), Some(shard)) = (self.worker(link), lane.next_shard()) else {
                return;
            };
            self.start(link, slot, shard, worker);
        }
    }

    fn start(&mut self, link: usize, slot: usize, shard: usize, worker: usize) {
        self.copies += 1;
        let lane = &mut self.lanes[link];
        lane.advance(self.now);
        let rtt = lane.pipe.rtt();
        let mut steered = Steered::new(self.copies, &lane.link.shards[shard], self.rule, rtt);
        if self.rule == Rule::Fts3 {
            steered.streams = lane.transfers;
        }
        lane.shards[shard].is_taken = true;
        lane.slots[slot] = Some(Copy {
            steered,
            shard,
            worker,
            sends: false,
            before: lane.shards[shard].bytes,
            rate: 0.0,
        });
        let ready = Event::Ready {
            link,
            copy: self.copies,
        };
        self.after(self.rule.start(rtt), ready);
    }

    fn worker(&self, link: usize) -> Option<usize> {
        let lane = &self.lanes[link];
        let source = lane.link.through[0];
        // A lost worker stops no lower bound.
        let is_there = |at: &usize| self.workers[*at] || self.rule == Rule::Optimum;
        let copies = |at: &usize| {
            let copies = lane.slots.iter().flatten();
            copies.filter(|copy| copy.worker == *at).count()
        };
        let workers = source * WORKERS..(source + 1) * WORKERS;
        workers.filter(is_there).min_by_key(copies)
    }

    fn over(&mut self, link: usize) {
        let lane = &mut self.lanes[link];
        lane.advance(self.now);
        for slot in &mut lane.slots {
            let is_over = |copy: &Copy| lane.shards[copy.shard].bytes < OVER;
            if let Some(copy) = slot.take_if(|copy| is_over(copy)) {
                self.over += lane.link.shards[copy.shard].bytes as f64;
            }
        }
        if self.over >= NEARLY * self.world.bytes() {
            self.nearly.get_or_insert(self.now);
        }
        self.changed.push(link);
        if lane.is_over() {
            self.open -= 1;
        }
        self.fill(link);
    }

    /// New rates of all links, where something changed.
    fn settle(&mut self) {
        if self.changed.is_empty() {
            return;
        }
        self.changed.sort_unstable();
        self.changed.dedup();
        for link in std::mem::take(&mut self.changed) {
            self.lanes[link].advance(self.now);
            self.demands[link] = self.lanes[link].demand(self.rule);
            // Its streams may have changed at the same rate.
            self.rates[link] = f64::NAN;
        }
        let room: Vec<f64> = self.world.hosts.iter().map(|host| host.rate).collect();
        let sending: Vec<usize> = (0..self.lanes.len())
            .filter(|link| self.demands[*link].0 > 0.0)
            .collect();
        let flow = |link: &usize| Flow {
            weight: self.demands[*link].1.max(1e-6),
            most: self.demands[*link].0,
            through: self.lanes[*link].link.through,
        };
        let flows: Vec<Flow> = sending.iter().map(flow).collect();
        let mut rates = vec![0.0; self.lanes.len()];
        for (link, rate) in sending.iter().zip(max_min(&flows, &room)) {
            rates[*link] = rate;
        }
        let used = self.used(&rates);
        for (link, rate) in rates.into_iter().enumerate() {
            let is_same = (rate - self.rates[link]).abs() <= 1e-9 * rate;
            if !is_same {
                self.take(link, rate, &used);
            }
        }
    }

    /// What each host carries, in bits per second.
    fn used(&self, rates: &[f64]) -> Vec<f64> {
        let mut used = vec![0.0; self.world.hosts.len()];
        for (lane, rate) in self.lanes.iter().zip(rates) {
            for host in lane.link.through {
                used[host] += rate;
            }
        }
        used
    }

    fn take(&mut self, link: usize, rate: f64, used: &[f64]) {
        let (demand, busy) = self.demands[link];
        let lane = &mut self.lanes[link];
        lane.advance(self.now);
        let hosts = &self.world.hosts;
        let is_full = |host: &usize| used[*host] >= hosts[*host].rate * (1.0 - 1e-9);
        lane.is_held = rate < HELD * demand;
        let full = lane.link.through.into_iter().find(is_full);
        lane.holds = match full {
            Some(host) if lane.is_held => Holds::host(hosts[host].bound, host, hosts.len() / 2),
            _ if lane.is_bounded => Holds::Bound,
            _ => Holds::Network,
        };
        let first = lane.take(self.rule, rate, busy);
        let change = lane.change;
        self.rates[link] = rate;
        if let Some(first) = first {
            self.after(first, Event::Over { link, change });
        }
    }
}
