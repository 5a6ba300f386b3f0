//! What explains the samples says what any run carries, and what holds it back.

use observe::Limit;

use crate::draw::Draw;
use crate::evidence::{Evidence, Held};
use crate::likelihood::{Error, beyond};
use crate::path::Path;
use crate::posterior::{Particle, Posterior};
use crate::rounds::{Control, Run, Trace, run};

/// Seconds of a long run, and the share of its rate below which another has not yet grown to it.
const LONG: f64 = 60.0;
const GROWN: f64 = 0.7;
/// Parts of a long run.
const PARTS: usize = 8;
/// Paths that are asked where all would take too long.
const ASKED: usize = 54;
/// A run that carries this share of what the link can holds it full.
const FILLS: f64 = 0.9;
/// What a path loses by chance scatters by as much.
const CHANCE_ROOM: f64 = 1.5;
/// A part that holds a run back by less than this does not.
const GAINS: f64 = 1.1;
/// What a run would carry without a part is more than is said in so many of all cases.
const SURELY: f64 = 0.2;
/// Streams that carry this share of the rate that was set keep to it: headers take some of it.
const PACED: f64 = 0.93;
/// Round trips that are so much longer than the shortest wait in a queue.
const WAITS: f64 = 1.15;
/// A full path that lets bursts pass, on which packets wait no longer, in seconds, and are dropped
/// so often, is policed.
const WAITS_MIN: f64 = 2e-3;
const POLICED: f64 = 0.003;
/// Holds nothing back.
const UNBOUNDED: f64 = 1e12;

/// What a run carries, path by path.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// Bits per second on each of the paths asked, in their order.
    pub goodput: Vec<f64>,
    /// The same of every other part of the run, and of the parts between: what chance makes of one
    /// half tells nothing of the other.
    pub halves: [Vec<f64>; 2],
    /// The round trip on each, seconds.
    pub rtt: Vec<f64>,
    /// The share of packets that the streams lose beyond what the path loses by chance, on each.
    pub lost: Vec<f64>,
}

impl Forecast {
    /// The same where everything carries so many times as much.
    pub fn times(mut self, factor: f64) -> Self {
        let halves = self.halves.iter_mut().flatten();
        halves
            .chain(&mut self.goodput)
            .for_each(|goodput| *goodput *= factor);
        self
    }

    /// Below it lies this share of what a run may carry, 0 to 1.
    pub fn quantile(&self, share: f64) -> f64 {
        let mut sorted = self.goodput.clone();
        sorted.sort_by(f64::total_cmp);
        let place = share * (sorted.len().max(1) - 1) as f64;
        let (low, high) = (place.floor() as usize, place.ceil() as usize);
        let at = |index: usize| sorted.get(index).copied().unwrap_or(0.0);
        at(low) + (at(high) - at(low)) * (place - place.floor())
    }
}

/// What holds a run back.
#[derive(Debug, Clone, PartialEq)]
pub struct Binding {
    /// The part.
    pub limit: Limit,
    /// How likely, 0 to 1.
    pub probability: f64,
    /// What the run would surely carry without it, bits per second.
    pub without: f64,
}

impl Posterior {
    /// Some of the paths, evenly.
    fn asked(&self) -> impl Iterator<Item = &Particle> {
        let step = self.particles.len().div_ceil(ASKED).max(1);
        self.particles.iter().step_by(step)
    }

    /// What a long run carries: the mean of several runs on each path.
    pub fn forecast(&self, what: &Run) -> Forecast {
        self.runs(what, false)
    }

    /// What one long run may carry: with what rounds may be wrong by.
    pub fn promise(&self, what: &Run) -> Forecast {
        self.runs(what, true)
    }

    fn runs(&self, what: &Run, may_err: bool) -> Forecast {
        let seen = self.seen(what);
        let mut draw = Draw::new(17);
        let (mut goodput, mut rtt, mut halves) = (Vec::new(), Vec::new(), [Vec::new(), Vec::new()]);
        let mut lost = Vec::new();
        for particle in self.asked() {
            let trace = run(&particle.path, what, PARTS, draw.seed());
            let lasting = Error::of(&particle.path, what, &trace).lasting;
            let of_it = seen.iter().filter_map(|one| particle.residuals.get(*one));
            let (known, left) = beyond(of_it, lasting);
            let left = if may_err { left } else { 0.0 };
            let beyond = (known + left * draw.normal()).exp();
            let most = 1.02 * particle.path.rate;
            goodput.push((trace.goodput(0) * beyond).min(most));
            for (first, half) in halves.iter_mut().enumerate() {
                half.push((every_other(&trace, first) * beyond).min(most));
            }
            rtt.push(trace.rtt(1));
            lost.push(lost_beyond_chance(&particle.path, &trace, what.seconds));
        }
        Forecast {
            goodput,
            halves,
            rtt,
            lost,
        }
    }

    /// The samples of the same run.
    fn seen(&self, what: &Run) -> Vec<usize> {
        let samples = self.evidence.iter().enumerate();
        let of_it = samples.filter(|(_, one)| one.run.is_like(what));
        of_it.map(|(index, _)| index).collect()
    }

    /// How likely the rate of a run still grew when it ended, 0 to 1.
    pub(crate) fn still_grows(&self, what: &Run) -> f64 {
        let long = Run {
            seconds: LONG.max(what.seconds),
            joined: 0,
            ..*what
        };
        let grows = |(index, particle): (usize, &Particle)| {
            let short = run(&particle.path, what, PARTS, index as u64);
            let long = run(&particle.path, &long, PARTS, index as u64);
            short.goodput(PARTS - PARTS / 4) < GROWN * long.goodput(PARTS / 4)
        };
        let grown: Vec<bool> = self.asked().enumerate().map(grows).collect();
        grown.iter().filter(|grows| **grows).count() as f64 / grown.len().max(1) as f64
    }

    /// What holds a long run back, the likeliest first.
    pub fn binding(&self, what: &Run) -> Vec<Binding> {
        let told = Told::of(&self.evidence, what);
        let mut found: Vec<(Limit, Vec<f64>)> = Vec::new();
        let mut count = 0.0;
        for (index, particle) in self.asked().enumerate() {
            let (limit, without) = binds(&particle.path, what, &told, index as u64);
            count += 1.0;
            match found.iter_mut().find(|(other, _)| *other == limit) {
                Some((_, all)) => all.push(without),
                None => found.push((limit, vec![without])),
            }
        }
        found.sort_by_key(|(_, all)| std::cmp::Reverse(all.len()));
        let one = |(limit, mut all): (Limit, Vec<f64>)| {
            all.sort_by(f64::total_cmp);
            Binding {
                limit,
                probability: all.len() as f64 / count,
                without: all[(SURELY * (all.len() - 1) as f64) as usize],
            }
        };
        found.into_iter().map(one).collect()
    }
}

/// The share of packets that a run loses once it has started, beyond what the path takes by chance.
fn lost_beyond_chance(path: &Path, trace: &Trace, seconds: f64) -> f64 {
    let started = seconds * (trace.bins.len() - 1) as f64 / trace.bins.len() as f64;
    let arrived = trace.goodput(1) / 8.0 / path.segment * started;
    let lost = trace.lost(1);
    let chance = path.loss * path.run;
    (lost / (lost + arrived).max(1.0) - CHANCE_ROOM * chance).max(0.0)
}

/// Mean goodput of every other part from `first` on.
fn every_other(trace: &Trace, first: usize) -> f64 {
    let rates = trace.bins.iter().skip(first).step_by(2).map(|bin| bin.rate);
    rates.sum::<f64>() / (trace.bins.len() / 2).max(1) as f64
}

/// What a full path is: what exceeds a policer's rate is dropped, and next to nothing waits. A
/// policer does not mark.
fn full(path: &Path, base: &Trace, what: &Run, told: &Told) -> Limit {
    let waits = 8.0 * path.standing_queue() / path.rate > WAITS_MIN || path.standing == 1.0;
    let arrived = base.goodput(0) / 8.0 / path.segment * what.seconds;
    match waits || told.marks || base.lost(0) < POLICED * arrived {
        true => Limit::Link,
        false => Limit::Policer,
    }
}

/// What a queue is that is too short.
fn short(path: &Path) -> Limit {
    match path.standing > 0.0 {
        true => Limit::ShallowQueue,
        false => Limit::Policer,
    }
}

/// Whether most of what told senders to slow down was marks: then it was queues, and nothing was
/// lost by chance.
pub(crate) fn mostly_marks(evidence: &[Evidence]) -> bool {
    let marks = evidence.iter().filter_map(|one| one.marks);
    let marks: f64 = marks.map(|marks| marks.signals).sum();
    let parts = evidence.iter().flat_map(|one| &one.parts);
    let all: f64 = parts.filter_map(|part| part.lost).sum();
    marks > 0.0 && 2.0 * marks > all
}

/// What kernels counted, which rounds do not know.
struct Told {
    /// What held this very run back at a host.
    here: Option<Held>,
    /// What windows that bind are.
    window: Limit,
    /// What tells senders to slow down is marks.
    marks: bool,
}

impl Told {
    fn of(evidence: &[Evidence], what: &Run) -> Told {
        let mut held = evidence.iter().rev().filter_map(|one| one.held);
        let here = evidence.iter().rfind(|one| one.run.is_like(what));
        Told {
            here: here.and_then(|one| one.held),
            window: match held.next() {
                Some(Held::SendBuffer(_)) => Limit::SendBuffer,
                _ => Limit::ReceiveBuffer,
            },
            marks: mostly_marks(evidence),
        }
    }

    /// What tells senders to slow down, where it is no mark.
    fn signal(&self, limit: Limit) -> Limit {
        match self.marks {
            true => Limit::Marks,
            false => limit,
        }
    }
}

/// What holds a run back on one path: the part without which it would carry most, and what that is.
fn binds(path: &Path, what: &Run, told: &Told, seed: u64) -> (Limit, f64) {
    let free = Run {
        window: None,
        pacing: None,
        ..*what
    };
    let carries = |path: Path, what: &Run| run(&path, what, 1, seed).goodput(0);
    let base = run(path, what, 1, seed);
    let own = base.goodput(0);
    let deep = Path {
        queue: path.queue.max(path.product()),
        standing: 1.0,
        ..*path
    };
    let unheld = Path {
        window: UNBOUNDED,
        hosts: UNBOUNDED,
        per_stream: UNBOUNDED,
        loss: 0.0,
        ..deep
    };
    let paced = what
        .pacing
        .map_or(UNBOUNDED, |pace| pace * f64::from(what.streams));
    if own >= PACED * paced {
        return (Limit::RateLimit, carries(*path, &free));
    }
    let waits = base.rtt(0) > WAITS * path.rtt;
    let fills = own + base.others >= FILLS * path.rate;
    if let Some(held) = told.here.filter(|_| !waits) {
        let without = carries(unheld, &free);
        if !fills || without >= GAINS * own {
            return (held.limit(), without);
        }
    }
    let alone = Path {
        others: 0.0,
        ..*path
    };
    if fills && base.others > own {
        return (Limit::Others, carries(alone, what));
    }
    if fills {
        return (full(path, &base, what, told), own);
    }
    let window = carries(
        Path {
            window: UNBOUNDED,
            ..*path
        },
        &free,
    );
    let of = |limit, path| (limit, carries(path, what));
    let without = [
        of(told.signal(Limit::Loss), Path { loss: 0.0, ..*path }),
        of(told.signal(short(path)), deep),
        (told.window, window),
        of(
            Limit::Application,
            Path {
                hosts: UNBOUNDED,
                ..*path
            },
        ),
        of(
            Limit::Host,
            Path {
                per_stream: UNBOUNDED,
                ..*path
            },
        ),
        of(Limit::Others, alone),
        of(
            Limit::WayBack,
            Path {
                back: f64::INFINITY,
                ..*path
            },
        ),
        of(
            Limit::VaryingRate,
            Path {
                swing: 0.0,
                ..*path
            },
        ),
    ];
    let best = without.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let best = best.filter(|best| best.1 > GAINS * own);
    best.unwrap_or_else(|| {
        let faster = carries(
            Path {
                rate: 3.0 * path.rate,
                ..*path
            },
            what,
        );
        match what.control == Control::Rate || faster > GAINS * own {
            true => (Limit::Link, own),
            false => (Limit::Unknown, own),
        }
    })
}
