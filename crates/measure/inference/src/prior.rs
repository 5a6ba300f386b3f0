//! What a path may be before anything of it is explained.
//!
//! The ranges are wide about what was seen: a link is at least as fast as the fastest part of a
//! sample, and the less likely the faster it is. Each figure is drawn by itself, and can be drawn
//! anew by itself ([`Prior::redraw`]) or moved a little ([`Prior::nudge`]).

use crate::draw::Draw;
use crate::evidence::{Evidence, Held};
use crate::path::Path;

/// The least that a link is faster than what it carried.
const SLOWEST: f64 = 0.97;
/// A link that is faster than anything seen is so by a factor whose logarithm has this mean.
const FASTER: f64 = 0.8;
/// The most that it may be faster.
const FASTEST: f64 = 100.0;
/// A queue in bandwidth-delay products.
const QUEUE: (f64, f64) = (0.01, 6.0);
/// The least of it, segments.
const QUEUE_MIN: f64 = 3.0;
/// Losses by chance; half of all paths have none.
const LOSS: (f64, f64) = (1e-6, 5e-2);
const NO_LOSS: f64 = 0.5;
/// Packets of one loss; mostly one.
const RUN: (f64, f64) = (1.0, 20.0);
const SINGLE: f64 = 0.8;
/// Others' streams; mostly none.
const OTHERS: (f64, f64) = (0.5, 40.0);
const NO_OTHERS: f64 = 0.9;
/// How far a rate swings, and for how long it stays; mostly it scatters by little, within runs or
/// from one to the next.
pub(crate) const SWING: (f64, f64) = (0.08, 0.55);
const SWING_EVERY: (f64, f64) = (0.1, 8.0);
const STEADY: f64 = 0.75;
const SCATTER: (f64, f64) = (0.003, 0.08);
const SCATTER_EVERY: (f64, f64) = (0.1, 60.0);
/// What may stand in a queue that drops early, as a share of it, and how many of those are
/// policers, in which nothing stands; most queues are drop-tail.
const EARLY: (f64, f64) = (0.0, 0.6);
const DROP_TAIL: f64 = 0.75;
const POLICER: f64 = 0.4;
/// A way back that acknowledgements of this share of the rate fill, and how long they wait there at
/// the most, seconds; mostly there is none. It is drawn so many times as often at first, and
/// counts for as much less: of few paths with one, none would be close to what is there.
const BACK: (f64, f64) = (0.15, 1.2);
const BACK_WAIT: (f64, f64) = (5e-3, 1.5);
const NARROW_BACK: f64 = 0.01;
const NARROW_OFTEN: f64 = 8.0;
/// The most that a window may be, bytes.
const WINDOW_MAX: f64 = 1e9;
/// What a kernel counted may be off by.
const COUNTED: f64 = 0.04;
/// A figure is moved by so much, as a logarithm, times a factor; some stay.
const NUDGE: f64 = 0.25;
const BOLD: (f64, f64) = (0.15, 2.0);
const MOVED: f64 = 0.4;
/// What the hosts' buffers are said to hold may be off by.
const TOLD: f64 = 0.15;

/// What a rate swings to at the most, in terms of its mean.
fn swung(swing: f64) -> f64 {
    1.0 + 3.0_f64.sqrt() * swing
}

/// A part of a path that is drawn by itself.
const PARTS: usize = 8;

/// What is known before samples are explained.
#[derive(Debug, Clone)]
pub(crate) struct Prior {
    rtt: f64,
    segment: f64,
    /// What the best sample carried: the link is no slower, but for what a swing lends it.
    carried: f64,
    /// The fastest part of any sample.
    fastest: f64,
    /// The most that a stream with a window of the kernels' choice had on the way.
    on_way: f64,
    /// What the kernels' buffers hold, where the hosts tell.
    told: Option<f64>,
    held: Option<Held>,
}

impl Prior {
    /// `None` where no sample has a round trip, or nothing arrived.
    ///
    /// * `told`: what the buffers that kernels size by themselves offer at the most, bytes.
    pub fn of(evidence: &[Evidence], told: Option<f64>) -> Option<Prior> {
        let rtt = evidence
            .iter()
            .filter_map(|one| one.rtt_min)
            .reduce(f64::min)?;
        let fastest = evidence.iter().map(Evidence::peak).fold(0.0, f64::max);
        let auto = evidence.iter().filter(|one| one.run.window.is_none());
        let held = auto.clone().filter_map(|one| one.held).next_back();
        Some(Prior {
            rtt: rtt.max(1e-5),
            segment: evidence.iter().map(|one| one.segment).reduce(f64::min)?,
            carried: evidence
                .iter()
                .map(|one| one.goodput(0))
                .fold(0.0, f64::max),
            fastest,
            on_way: auto.map(|one| one.on_way).fold(0.0, f64::max),
            told,
            held,
        })
        .filter(|_| fastest > 0.0)
    }

    /// A path, and what it counts as a logarithm: those that are drawn too often count less.
    pub fn draw(&self, draw: &mut Draw) -> (Path, f64) {
        let mut path = Path {
            rate: self.fastest,
            rtt: self.rtt,
            queue: 0.0,
            standing: 1.0,
            loss: 0.0,
            run: 1.0,
            others: 0.0,
            swing: 0.0,
            swing_every: 1.0,
            back: f64::INFINITY,
            back_wait: 0.0,
            window: WINDOW_MAX,
            per_stream: f64::INFINITY,
            hosts: f64::INFINITY,
            segment: self.segment,
        };
        for part in 0..PARTS {
            self.draw_part(part, &mut path, draw);
        }
        let often = NARROW_OFTEN * NARROW_BACK;
        let is_narrow = draw.happens(often);
        Self::way_back(is_narrow, &mut path, draw);
        let counts = match is_narrow {
            true => 1.0 / NARROW_OFTEN,
            false => (1.0 - NARROW_BACK) / (1.0 - often),
        };
        (path, counts.ln())
    }

    /// The path with one of its parts drawn anew.
    pub fn redraw(&self, path: &Path, draw: &mut Draw) -> Path {
        let mut path = *path;
        let part = (draw.uniform() * PARTS as f64) as usize;
        self.draw_part(part, &mut path, draw);
        path
    }

    fn draw_part(&self, part: usize, path: &mut Path, draw: &mut Draw) {
        match part {
            // Most samples that were taken come close to what the link carries; while it swings, to
            // more than that.
            0 => {
                let (swing, every) = match draw.happens(STEADY) {
                    true => (draw.log_uniform(SCATTER.0, SCATTER.1), SCATTER_EVERY),
                    false => (draw.between(SWING.0, SWING.1), SWING_EVERY),
                };
                path.swing = swing;
                path.swing_every = draw.log_uniform(every.0, every.1);
                let above = 1.0 + draw.uniform() * (swung(path.swing) - 1.0);
                path.rate = self.rate(draw) / above;
            }
            1 => {
                let queue = path.product() * draw.log_uniform(QUEUE.0, QUEUE.1);
                path.queue = queue.max(QUEUE_MIN * self.segment);
            }
            2 => {
                let early = |draw: &mut Draw| {
                    draw.mostly(POLICER, 0.0, |draw| draw.between(EARLY.0, EARLY.1))
                };
                path.standing = draw.mostly(DROP_TAIL, 1.0, early);
            }
            3 => path.loss = draw.mostly(NO_LOSS, 0.0, |draw| draw.log_uniform(LOSS.0, LOSS.1)),
            4 => path.run = draw.mostly(SINGLE, 1.0, |draw| draw.log_uniform(RUN.0, RUN.1)),
            5 => {
                let some = |draw: &mut Draw| draw.log_uniform(OTHERS.0, OTHERS.1);
                path.others = draw.mostly(NO_OTHERS, 0.0, some);
            }
            6 => {
                let is_narrow = draw.happens(NARROW_BACK);
                Self::way_back(is_narrow, path, draw);
            }
            _ => self.hosts(path, draw),
        }
    }

    /// About what was seen, or faster.
    fn rate(&self, draw: &mut Draw) -> f64 {
        match draw.happens(0.5) {
            true => draw.between(SLOWEST * self.carried, 1.1 * self.fastest),
            false => self.fastest * draw.exponential(FASTER).exp(),
        }
    }

    fn way_back(is_narrow: bool, path: &mut Path, draw: &mut Draw) {
        path.back = match is_narrow {
            true => path.rate * draw.log_uniform(BACK.0, BACK.1),
            false => f64::INFINITY,
        };
        path.back_wait = draw.log_uniform(BACK_WAIT.0, BACK_WAIT.1);
    }

    /// What the hosts hold back: as their kernels counted, else anything beyond what was seen.
    fn hosts(&self, path: &mut Path, draw: &mut Draw) {
        let about = |value: f64, draw: &mut Draw, width: f64| value * (width * draw.normal()).exp();
        let free = match self.told {
            Some(told) => about(told, draw, TOLD).max(self.on_way),
            None => draw.log_uniform(self.on_way.max(self.segment), WINDOW_MAX),
        };
        path.window = free;
        path.per_stream = f64::INFINITY;
        path.hosts = f64::INFINITY;
        match self.held {
            Some(
                Held::ReceiveBuffer(bytes) | Held::SlowReader(bytes) | Held::SendBuffer(bytes),
            ) => {
                path.window = about(bytes, draw, COUNTED);
            }
            Some(Held::Program(rate)) => path.hosts = about(rate, draw, COUNTED),
            Some(Held::Processor(rate)) => path.per_stream = about(rate, draw, COUNTED),
            None | Some(Held::Reordering) => {}
        }
    }

    /// The path with its figures moved a little, within what is possible.
    pub fn nudge(&self, path: &Path, draw: &mut Draw) -> Path {
        let mut moved = *path;
        let bold = draw.log_uniform(BOLD.0, BOLD.1);
        let mut step = |wide: f64| match draw.happens(MOVED) {
            true => (wide * bold * draw.normal()).exp(),
            false => 1.0,
        };
        moved.rate *= step(NUDGE / 6.0);
        moved.queue *= step(NUDGE);
        moved.loss *= step(NUDGE);
        moved.others *= step(NUDGE);
        moved.run = (moved.run * step(NUDGE / 2.0)).max(1.0);
        moved.swing *= step(NUDGE);
        moved.back *= step(NUDGE);
        moved.back_wait *= step(NUDGE);
        if path.run == 1.0 {
            moved.run = 1.0;
        }
        match self.allows(&moved) {
            true => moved,
            false => *path,
        }
    }

    fn allows(&self, path: &Path) -> bool {
        let queue = path.queue / path.product();
        path.rate >= SLOWEST * self.carried / swung(path.swing)
            && path.rate <= FASTEST * self.fastest
            && path.queue >= QUEUE_MIN * self.segment
            && queue <= 2.0 * QUEUE.1
            && path.loss <= 2.0 * LOSS.1
            && path.others <= 2.0 * OTHERS.1
            && path.swing <= SWING.1
    }
}
