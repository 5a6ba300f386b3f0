//! What a run shows on a path, round trip by round trip.
//!
//! In each step all streams send their windows. What the link does not carry in a round trip waits
//! in the queue and makes the round trip longer; what the queue does not take is lost. A window
//! that doubles arrives twice as fast as the link sends, so half of it waits as well: that is what
//! ends slow start on a short queue. A policer lets nothing wait, and saves what it does not carry
//! for later. Random losses strike each stream by itself.

use crate::draw::Draw;
use crate::path::Path;
use crate::stream::{Stream, Struck};

/// How a stream decides what to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// RFC 5681.
    Reno,
    /// RFC 9438.
    Cubic,
    /// By the rate that arrives, as bbr and trunkline's streams over UDP do.
    Rate,
}

/// What is sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    /// Streams in all.
    pub streams: u32,
    /// Of them, those that sent before the run began.
    pub joined: u32,
    /// The most that each has on the way, bytes; `None` leaves it to the kernels.
    pub window: Option<f64>,
    /// How they decide what to send.
    pub control: Control,
    /// The most that each sends, bits per second of payload.
    pub pacing: Option<f64>,
    /// How long.
    pub seconds: f64,
}

impl Run {
    /// Whether both are runs of one setting, however long.
    pub(crate) fn is_like(&self, other: &Run) -> bool {
        (self.streams, self.control) == (other.streams, other.control)
            && is_close(self.window, other.window)
            && is_close(self.pacing, other.pacing)
    }
}

fn is_close(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => (a / b).ln().abs() < 0.05,
        _ => false,
    }
}

/// What a run shows in a part of its time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bin {
    /// Payload that arrived, bits per second.
    pub rate: f64,
    /// Segments lost.
    pub lost: f64,
    /// Mean round trip, seconds.
    pub rtt: f64,
}

/// What a run shows, in parts of equal length.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// The parts.
    pub bins: Vec<Bin>,
    /// What the others carried meanwhile, bits per second.
    pub others: f64,
}

impl Trace {
    /// Mean goodput from the part `from` on.
    pub fn goodput(&self, from: usize) -> f64 {
        mean(self.bins.iter().skip(from).map(|bin| bin.rate))
    }

    /// Mean round trip from the part `from` on.
    pub fn rtt(&self, from: usize) -> f64 {
        mean(self.bins.iter().skip(from).map(|bin| bin.rtt))
    }

    /// Segments lost from the part `from` on.
    pub fn lost(&self, from: usize) -> f64 {
        self.bins.iter().skip(from).map(|bin| bin.lost).sum()
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), one| (count + 1.0, sum + one));
    if count > 0.0 { sum / count } else { 0.0 }
}

/// Once all streams have started, more steps than this cost more than they tell: a step then is
/// several round trips long.
const STEPS_MAX: f64 = 150.0;
/// Losses by chance that a stream may expect in such a step, which is shorter for them, and where
/// windows outgrow the queue in it, but no more than by this factor.
const TWICE: f64 = 0.4;
const FINER: f64 = 8.0;
/// Where that would take more steps than this, what is reckoned stands for several times its
/// length: of thousands of round trips some hundred tell what all show.
const REPEATED: f64 = 200.0;
/// Only that long after streams began, seconds: timeouts of their start take their time.
const SETTLES: f64 = 0.5;
/// Steps after which it is reckoned anew how many are left, and the least that are.
const RECKONED: u32 = 16;
/// The rate stays the same for so many steps at least.
const SWING_STEPS: f64 = 3.0;
/// A step lasts one round trip for so many round trips, as long as streams start.
const START: f64 = 30.0;
/// More streams than this are reckoned several at a time: one's own, and those of others.
const OWN_MAX: f64 = 16.0;
const OTHERS_MAX: f64 = 8.0;
/// How long streams send that were there before the run, and others' streams, in seconds and in
/// round trips.
const BEFORE: (f64, f64) = (4.0, 40.0);
/// Linux's HyStart: windows from which on it looks, and how closely acknowledgements follow each
/// other (Ha, Rhee 2011).
const HYSTART_WINDOW: f64 = 16.0;
const HYSTART_GAP: f64 = 2e-3;
/// Round trips that show that a window of a rate-based control fills the path.
const FILLED: f64 = 2.0;
/// What rate-based streams keep on the way, in bandwidth-delay products: one by itself, several.
const RATE_ALONE: f64 = 1.1;
const RATE_TOGETHER: f64 = 1.6;
/// Round trips in which such a stream repairs what its start lost, and the queue in bandwidth-delay
/// products from which on that loses nothing: it sends 2.89 times what arrives.
const REPAIRS: f64 = 3.0;
const OVERSHOOTS: f64 = 1.89;
/// How far rate-based streams yield to others, by the queue in bandwidth-delay products.
const YIELDS: f64 = 0.45;
/// How often bbr drains the path to measure its round trip, and for how long beyond one, seconds
/// (draft-cardwell-iccrg-bbr-congestion-control, section 4.3.5).
const DRAINS: (f64, f64) = (10.0, 0.2);
/// A stream with fewer segments on the way hears of a loss only by a timeout.
const DUPLICATES: f64 = 4.0;
/// And one that loses this share of its window.
const SILENCED: f64 = 0.8;

/// What a run shows on `path`, in `bins` parts; `seed` decides what is left to chance.
///
/// ```
/// use inference::{Control, Path, Run, run};
/// let path = Path {
///     rate: 43.4e6, rtt: 0.165, queue: 126e3, standing: 1.0, loss: 4e-4, run: 1.0, others: 0.0,
///     swing: 0.0, swing_every: 1.0, back: f64::INFINITY, back_wait: 0.0, window: 3e6,
///     per_stream: f64::INFINITY, hosts: f64::INFINITY, segment: 1448.0,
/// };
/// let one = Run {
///     streams: 1, joined: 0, window: None, control: Control::Reno, pacing: None, seconds: 120.0,
/// };
/// // Mathis gives 61 segments a round trip: 4.3 Mbit/s.
/// let goodput = run(&path, &one, 12, 1).goodput(2) / 1e6;
/// assert!((3.0..5.6).contains(&goodput), "{goodput}");
/// ```
pub fn run(path: &Path, run: &Run, bins: usize, seed: u64) -> Trace {
    let mut link = Link::new(path, run, seed);
    link.before();
    link.start();
    let mut books = Books::new(run.seconds, bins.max(1));
    while link.wall < run.seconds - 1e-9 {
        let from = link.wall;
        let step = link.advance();
        books.enter(from, &step);
    }
    books.trace()
}

/// What the steps of a run bring, by the parts in which they fall.
struct Books {
    bins: Vec<Bin>,
    others: f64,
    length: f64,
}

impl Books {
    fn new(seconds: f64, bins: usize) -> Self {
        Books {
            bins: vec![Bin::default(); bins],
            others: 0.0,
            length: seconds / bins as f64,
        }
    }

    fn enter(&mut self, from: f64, step: &Step) {
        let to = from + step.length;
        let first = (from / self.length) as usize;
        let last = ((to / self.length) as usize).min(self.bins.len() - 1);
        for index in first..=last {
            let (begin, end) = (index as f64 * self.length, (index + 1) as f64 * self.length);
            let inside = (to.min(end) - from.max(begin)).max(0.0);
            let share = inside / step.length;
            let bin = &mut self.bins[index];
            bin.rate += step.own * inside;
            bin.rtt += step.rtt * inside;
            bin.lost += step.lost * share;
            self.others += step.others * inside;
        }
    }

    fn trace(self) -> Trace {
        let Books {
            mut bins,
            others,
            length,
        } = self;
        let seconds = length * bins.len() as f64;
        for bin in &mut bins {
            bin.rate /= length;
            bin.rtt /= length;
        }
        Trace {
            bins,
            others: others / seconds,
        }
    }
}

/// The link with all streams on it.
struct Link<'a> {
    path: &'a Path,
    run: &'a Run,
    draw: Draw,
    /// What streams take for the time, seconds.
    now: f64,
    /// The time of the run, which goes faster where steps stand for more than their length, and
    /// when it ends.
    wall: f64,
    until: f64,
    /// Seconds of the run for each second of the streams.
    stretch: f64,
    /// Steps since streams settled, and how long they lasted, in seconds of the streams.
    steps: u32,
    stepped: f64,
    /// Own streams, then others'.
    streams: Vec<Stream>,
    own: usize,
    /// Streams that own and others' stand for.
    weights: [f64; 2],
    /// When the first of the losses is heard of that streams have not heard of.
    heard: f64,
    /// The least length of a step.
    step: f64,
    /// When the streams that joined last began.
    began: f64,
    /// Segments that all windows grow by in a round trip, and whether path and queue held them.
    growth: f64,
    fitted: bool,
    /// Segments that wait.
    waiting: f64,
    /// Segments by which a policer's bucket is short of full.
    spent: f64,
    /// What the rate is now, in terms of its mean, and until when.
    swing: (f64, f64),
    /// Round trips that rate-based streams have filled the path.
    filled: f64,
    /// How long acknowledgements wait on the way back, seconds.
    back_waits: f64,
    /// The least that packets waited since own streams started, seconds: what they take for the
    /// empty path.
    waited: f64,
}

/// What strikes streams in a step.
struct Pressure {
    /// The share of what is on the way that path and queue do not hold.
    of_queue: f64,
    /// The same of what streams send that start: the queue has no room for their bursts.
    of_burst: f64,
    rtt: f64,
    /// Round trips that the step lasts.
    share: f64,
}

/// What all streams have on the way, in segments.
#[derive(Clone, Copy, Default)]
struct OnWay {
    all: f64,
    own: f64,
    /// Of one stream at the most.
    most: f64,
    /// Of own streams whose windows double.
    starting: f64,
    /// Whether windows of own streams double, and others'.
    starts: [bool; 2],
}

/// What one step brought.
#[derive(Clone, Copy)]
struct Step {
    length: f64,
    own: f64,
    others: f64,
    lost: f64,
    rtt: f64,
}

impl<'a> Link<'a> {
    fn new(path: &'a Path, run: &'a Run, seed: u64) -> Self {
        let mut draw = Draw::new(seed);
        let others = path.others.floor();
        let others = others + f64::from(u8::from(draw.happens(path.others - others)));
        let bundles = others.min(OTHERS_MAX);
        let other = Stream::new(Control::Cubic, others / bundles.max(1.0), f64::NEG_INFINITY);
        Link {
            path,
            run,
            draw,
            now: 0.0,
            wall: 0.0,
            until: run.seconds,
            stretch: 1.0,
            steps: 0,
            stepped: 0.0,
            streams: vec![other; bundles as usize],
            own: 0,
            weights: [0.0, others],
            heard: f64::INFINITY,
            step: run.seconds / STEPS_MAX,
            began: 0.0,
            growth: 0.0,
            fitted: true,
            waiting: 0.0,
            spent: 0.0,
            swing: (1.0, f64::NEG_INFINITY),
            filled: 0.0,
            back_waits: 0.0,
            waited: f64::INFINITY,
        }
    }

    /// Lets those send that were there before.
    fn before(&mut self) {
        self.join(self.run.joined.min(self.run.streams));
        if self.streams.is_empty() {
            return;
        }
        let length = BEFORE.0.max(BEFORE.1 * self.path.rtt);
        (self.wall, self.until) = (-length, 0.0);
        let step = std::mem::replace(&mut self.step, length / STEPS_MAX);
        while self.wall < 0.0 {
            self.advance();
        }
        (self.step, self.until) = (step, self.run.seconds);
    }

    /// Lets the streams of the run start. What they send arrives half a round trip later.
    fn start(&mut self) {
        self.wall = if self.own == 0 {
            self.path.rtt / 2.0
        } else {
            0.0
        };
        self.join(self.run.streams - self.run.joined.min(self.run.streams));
        self.began = self.now;
        (self.stretch, self.steps, self.stepped) = (1.0, 0, 0.0);
        self.swing.1 = f64::NEG_INFINITY;
        self.filled = 0.0;
        self.waited = f64::INFINITY;
    }

    /// So many streams more. Where there are many, one stands for several.
    fn join(&mut self, count: u32) {
        let bundles = f64::from(self.run.streams.max(1)).min(OWN_MAX);
        let weight = f64::from(self.run.streams.max(1)) / bundles;
        let joining = (f64::from(count) / weight).round() as usize;
        let new = std::iter::repeat_n(Stream::new(self.run.control, weight, self.now), joining);
        self.streams.splice(self.own..self.own, new);
        self.own += joining;
        self.weights[0] += weight * joining as f64;
    }

    /// Segments that the link carries in a second, now.
    fn capacity(&mut self) -> f64 {
        if self.path.swing > 0.0 && self.wall >= self.swing.1 {
            let wide = 3.0_f64.sqrt() * self.path.swing;
            let factor = self.draw.between(1.0 - wide, 1.0 + wide).max(0.02);
            let lasts = self.path.swing_every.max(SWING_STEPS * self.step);
            self.swing = (factor, self.wall + lasts);
        }
        self.path.segments() * self.swing.0
    }

    /// The most that one own stream has on the way, in segments.
    fn bound(&self, rtt: f64) -> f64 {
        let path = self.path;
        let per_second = |bits: f64| bits / 8.0 / path.segment;
        let paced = self.run.pacing.unwrap_or(f64::INFINITY);
        let hosts = path.hosts / f64::from(self.run.streams.max(1));
        let rate = per_second(paced.min(path.per_stream).min(hosts));
        let window = self.run.window.unwrap_or(path.window) / path.segment;
        window.min(rate * rtt).max(1.0)
    }

    /// One step, of a round trip where that is long enough.
    fn advance(&mut self) -> Step {
        let capacity = self.capacity();
        let segment = self.path.segment;
        let (standing, burst) = (
            self.path.standing_queue() / segment,
            self.path.queue / segment,
        );
        let empty = self.path.rtt + self.back_waits;
        let last = empty + self.waiting / capacity;
        let bound = self.bound(last);
        self.give_way(last);
        let on_way = self.send(bound);
        let product = capacity * empty;
        let is_policer = self.path.standing == 0.0;
        let credit = burst - self.spent;
        let room = product + if is_policer { credit } else { standing };
        let on_way = self.take_back(on_way, room);
        let all = on_way.all;
        self.waiting = (all - product).clamp(0.0, standing);
        let rtt = empty + self.waiting / capacity;
        let is_early = self.now - self.began < START * last;
        let length = match is_early && on_way.starts[0] {
            true => rtt,
            false => {
                let uneventful = match is_policer {
                    false => self.until_full(room - all, rtt),
                    true => credit * rtt / (all - product).max(1.0),
                };
                self.length(rtt, uneventful.min(self.between_losses(on_way.most, rtt)))
            }
        };
        let share = length / rtt;
        let (overflow, carried) = match is_policer {
            false => ((all - room).max(0.0), (all / rtt).min(capacity)),
            true => self.police(all, product, burst, (rtt, share)),
        };
        let taken = self.waiting.min(burst).max(self.spent);
        let pressure = Pressure {
            of_queue: overflow / all.max(1.0),
            of_burst: match on_way.starting > 0.0 {
                true => (on_way.starting / 2.0 + taken - burst).max(0.0) / on_way.starting,
                false => 0.0,
            },
            rtt,
            share,
        };
        let lost = self.lose(&pressure);
        if on_way.starts.contains(&true) {
            self.leave_start(on_way.own, capacity);
        }
        self.grow(bound, (rtt, share), on_way.own, product);
        let bits = 8.0 * segment;
        self.wait_for_acknowledgements(carried * bits, length);
        self.now += length;
        self.wall += length * self.stretch;
        let of_all = if all > 0.0 { on_way.own / all } else { 0.0 };
        let sends = 1.0 - self.drains();
        Step {
            length: length * self.stretch,
            own: carried * of_all * bits * sends,
            others: carried * (1.0 - of_all) * bits,
            lost: lost * self.stretch,
            rtt,
        }
    }

    /// How long a step lasts in which streams have started.
    ///
    /// * `uneventful`: so long nothing tells streams to slow down, mostly.
    fn length(&mut self, rtt: f64, uneventful: f64) -> f64 {
        let longest = self.step / self.stretch;
        let length = rtt.max(longest.min(uneventful.max(self.step / FINER)));
        if self.now - self.began < SETTLES {
            return length;
        }
        self.steps += 1;
        self.stepped += length;
        if self.steps.is_multiple_of(RECKONED) {
            let left = (REPEATED - f64::from(self.steps)).max(f64::from(RECKONED));
            let each = self.stepped / f64::from(self.steps);
            self.stretch = ((self.until - self.wall) / (left * each)).max(1.0);
        }
        length
    }

    /// A policer lets pass what its bucket has credit for, which grows while less than its rate
    /// arrives: segments that it drops, and those that it carries in a second.
    fn police(
        &mut self,
        all: f64,
        product: f64,
        burst: f64,
        (rtt, share): (f64, f64),
    ) -> (f64, f64) {
        let spent = self.spent + (all - product) * share;
        let overflow = (spent - burst).max(0.0);
        self.spent = spent.clamp(0.0, burst);
        (overflow, (all - overflow / share).max(0.0) / rtt)
    }

    /// The share of its time in which a rate-based control drains the path: none before it first
    /// does.
    fn drains(&self) -> f64 {
        let has_drained = self.wall > DRAINS.0;
        match self.run.control == Control::Rate && has_drained {
            true => ((DRAINS.1 + self.path.rtt) / DRAINS.0).min(1.0),
            false => 0.0,
        }
    }

    /// What arrives faster than the way back carries its acknowledgements makes these wait.
    fn wait_for_acknowledgements(&mut self, carried: f64, length: f64) {
        if self.path.back.is_finite() {
            let grown = self.back_waits + (carried / self.path.back - 1.0) * length;
            self.back_waits = grown.clamp(0.0, self.path.back_wait);
        }
    }

    /// A time in which no stream is struck twice by chance, mostly, where each has no more than
    /// `most` on the way.
    fn between_losses(&self, most: f64, rtt: f64) -> f64 {
        TWICE * rtt / (self.path.loss * most.max(1.0))
    }

    /// A time in which windows do not outgrow this room, in segments.
    fn until_full(&self, room: f64, rtt: f64) -> f64 {
        room.max(0.0) * rtt / self.growth.max(1.0)
    }

    /// Windows that outgrew what path and queue hold in a step of several round trips did so by
    /// what they grow in one: losses would have told.
    fn take_back(&mut self, on_way: OnWay, room: f64) -> OnWay {
        let most = room + self.growth;
        let outgrew = on_way.all > most && self.fitted;
        self.fitted = on_way.all <= room;
        if !outgrew {
            return on_way;
        }
        let kept = most / on_way.all;
        for stream in &mut self.streams {
            if stream.avoids_congestion() {
                stream.leave_start(kept * stream.window);
                stream.on_way *= kept;
            }
        }
        let taken_back = self.sum();
        self.fitted = taken_back.all <= room;
        taken_back
    }

    /// Lets each stream have on the way what it may.
    fn send(&mut self, bound: f64) -> OnWay {
        let now = self.now;
        let (own, others) = self.streams.split_at_mut(self.own);
        for stream in own {
            stream.send(now, bound);
        }
        for stream in others {
            stream.send(now, f64::INFINITY);
        }
        self.sum()
    }

    /// What all have on the way.
    fn sum(&self) -> OnWay {
        let mut sum = OnWay::default();
        let (own, others) = self.streams.split_at(self.own);
        for stream in own {
            let sent = stream.sent();
            sum.own += sent;
            sum.most = sum.most.max(stream.on_way);
            if stream.is_starting() {
                sum.starts[0] = true;
                sum.starting += sent;
            }
        }
        sum.all = sum.own;
        for stream in others {
            sum.all += stream.sent();
            sum.most = sum.most.max(stream.on_way);
            sum.starts[1] |= stream.is_starting();
        }
        sum
    }

    /// Streams whose losses are a round trip old hear of them.
    fn give_way(&mut self, rtt: f64) {
        let now = self.now;
        if self.heard > now {
            return;
        }
        self.heard = f64::INFINITY;
        for stream in &mut self.streams {
            let Some(struck) = stream.struck else {
                continue;
            };
            if struck.heard > now {
                self.heard = self.heard.min(struck.heard);
                continue;
            }
            stream.struck = None;
            match struck.silences {
                true => stream.time_out(now, rtt),
                false => stream.cut(struck.strikes),
            }
        }
    }

    /// Losses of a step: those of a full queue, of bursts, and by chance. Gives the segments that
    /// own streams lost.
    fn lose(&mut self, pressure: &Pressure) -> f64 {
        let by_chance = self.path.loss * pressure.share;
        if by_chance + pressure.of_queue + pressure.of_burst == 0.0 {
            return 0.0;
        }
        let mut own = 0.0;
        for (index, stream) in self.streams.iter_mut().enumerate() {
            let window = stream.sent();
            let is_starting = index < self.own && stream.is_starting();
            let of_burst = if is_starting { pressure.of_burst } else { 0.0 };
            let of_queue = window * pressure.of_queue.max(of_burst);
            let events = window * by_chance;
            let strikes = stream.strikes(of_queue + events, &mut self.draw);
            if strikes == 0.0 {
                continue;
            }
            let by_chance = match events > 0.0 {
                true => events / (of_queue + events) * self.path.run * (1.0 + events),
                false => 0.0,
            };
            let lost = (of_queue + by_chance).max(1.0);
            own += if index < self.own { lost } else { 0.0 };
            let weight = stream.weight;
            // A stream that starts sends another round before it hears of the first that was lost.
            let rounds = if is_starting { 1.5 } else { 1.0 };
            let struck = stream.struck.get_or_insert(Struck {
                since: self.now,
                heard: self.now + rounds * pressure.rtt,
                kept: (1.0 - lost / window).max(0.0),
                strikes,
                silences: window < DUPLICATES * weight || lost > SILENCED * window,
            });
            self.heard = self.heard.min(struck.heard);
        }
        own
    }

    /// HyStart: acknowledgements that follow each other closely for half a round trip, or wait. The
    /// window has grown by half of what fills the path until the former are noticed.
    fn leave_start(&mut self, all: f64, capacity: f64) {
        let half = capacity * self.path.rtt / 2.0;
        let own = self.own;
        let gap = (self.weights[0] + self.weights[1]) / capacity;
        let waits = self.waiting / capacity + self.back_waits;
        self.waited = self.waited.min(waits);
        let allowed = (self.path.rtt / 8.0).clamp(4e-3, 16e-3);
        let is_long = all > half && gap < HYSTART_GAP;
        if !is_long && waits - self.waited < allowed {
            return;
        }
        for (index, stream) in self.streams.iter_mut().enumerate() {
            let window = stream.on_way;
            if stream.is_starting() && stream.has_hystart() && window >= HYSTART_WINDOW {
                let grown = if is_long && index < own {
                    half * window / all
                } else {
                    0.0
                };
                stream.leave_start(window + grown);
            }
        }
    }

    /// What each rate-based stream keeps on the way once it knows the rate. Beside streams that
    /// give way it takes nearly all of the path where the queue is short, and less the longer it
    /// is, however many they are (Ware et al. 2019, "Modeling BBR's interactions with loss-based
    /// congestion control"; how much less is fitted to packets, `bench/inference --others`).
    fn rate_window(&self, product: f64) -> f64 {
        let [own, others] = self.weights;
        if others == 0.0 {
            let gain = if own > 1.0 { RATE_TOGETHER } else { RATE_ALONE };
            return gain * product / own.max(1.0);
        }
        let queue = self.path.standing_queue() / self.path.product();
        let takes = 1.0 / (1.0 + YIELDS * queue);
        takes.max(own / (own + others)) * (1.0 + queue) * product / own.max(1.0)
    }

    fn grow(&mut self, bound: f64, (rtt, share): (f64, f64), own: f64, product: f64) {
        let now = self.now;
        self.filled += if own >= product { share } else { 0.0 };
        let is_filled = self.filled > FILLED;
        let fair = self.rate_window(product).max(4.0);
        let overflows = self.path.standing_queue() < OVERSHOOTS * self.path.product();
        let mut grown = 0.0;
        for (index, stream) in self.streams.iter_mut().enumerate() {
            if stream.goes_by_rate() {
                match is_filled {
                    true if overflows && stream.is_starting() => {
                        stream.leave_start(fair);
                        stream.idle_until = now + REPAIRS * rtt;
                    }
                    true => stream.leave_start(fair),
                    false => stream.grow(now, rtt, share),
                }
                continue;
            }
            let before = stream.window;
            let is_bounded = index < self.own && before >= bound;
            if stream.on_way > 0.0 && !is_bounded {
                stream.grow(now, rtt, share * stream.hears(now));
                grown += stream.weight * (stream.window - before);
            }
        }
        self.growth = grown / share;
    }
}
