//! The run: from step to step.

use netpath::{CrossTraffic, QueueLimit};
use rand_core::SeedableRng;
use rand_pcg::Pcg64;
use units::{Rate, Span};

use super::check;
use super::class::{Class, rtt_of, unit};
use super::domain::Cell;
use super::queue::{Moment, Queue};
use super::{FlowClass, Fluid, FluidClass, FluidQuestion};
use crate::PredictError;
use crate::inputs::segment;

/// Updates of flows in a run: well below a second of one processor.
const UPDATES_MAX: f64 = 1.5e7;
/// Steps are those of the shortest round trip; classes with longer ones may take so many times
/// their part of the updates.
const OVER: f64 = 4.0;
/// Share of the drops at a full queue that hits the segments by which windows grow: they follow
/// another one without a gap. Chosen from drawn cells, see docs/guide/predicting.md.
const TO_GROWTH: f64 = 0.3;
/// Steps in a round trip.
const STEPS: f64 = 12.0;
const STEP_MAX: f64 = 0.01;

struct Run {
    classes: Vec<Class>,
    queue: Queue,
    /// Packets a second, and packets that wait at the most.
    capacity: f64,
    room: f64,
    wait: f64,
    random: Pcg64,
}

/// What the fluid model says about `question`, within the bounds that were checked.
///
/// ```
/// use predict::{FlowClass, FluidQuestion, fluid};
/// let mut path = netpath::PathSpec::load("oc12-100ms").unwrap();
/// path.hosts.congestion = "reno".to_owned();
/// let question = FluidQuestion {
///     path,
///     classes: vec![FlowClass { window: Some(units::Bytes::from_kib(64)), ..FlowClass::of(50) }],
///     duration: None,
///     warmup: None,
///     seed: 1,
/// };
/// // 45 segments of 1448 bytes each round trip of 100 ms are 5.2 Mbit/s, 50 of them 260.
/// let goodput = fluid(&question).unwrap().goodput.unwrap().as_f64() / 1e6;
/// assert!((255.0..262.0).contains(&goodput), "{goodput}");
/// ```
///
/// # Errors
/// When the path or a class is none that it describes.
pub fn fluid(question: &FluidQuestion) -> Result<Fluid, PredictError> {
    let (said, cell) = run(question)?;
    Ok(said.bounded(&cell))
}

/// The same with every figure, for comparisons.
///
/// # Errors
/// As of [`fluid`].
pub fn fluid_unbounded(question: &FluidQuestion) -> Result<Fluid, PredictError> {
    Ok(run(question)?.0)
}

fn run(question: &FluidQuestion) -> Result<(Fluid, Cell), PredictError> {
    let classes = all_classes(question);
    let (duration, warmup) = check::times(question, &classes)?;
    let end = duration.as_secs_f64();
    let mut run = Run::new(question, &classes, end)?;
    let warm = warmup.as_secs_f64();
    let (mut now, mut area) = (0.0, 0.0);
    while now < end {
        let step = run.step(now, now >= warm);
        if now >= warm {
            area += run.wait * step;
        }
        now += step;
    }
    let said = run.result(question, area / (now - warm), now - warm);
    let cell = run.cell(question);
    Ok((Fluid { duration, ..said }, cell))
}

impl Run {
    fn new(question: &FluidQuestion, asked: &[FlowClass], end: f64) -> Result<Self, PredictError> {
        let path = &question.path;
        let queue = Queue::new(&path.forward.queue).ok_or_else(|| PredictError::NotOneLink {
            field: "forward.queue",
            value: path.forward.queue.to_string(),
        })?;
        check::path(path)?;
        let packet = f64::from(path.hosts.mtu);
        let capacity = path.forward.rate.as_f64() / 8.0 / packet;
        let room = match path.forward.queue.limit() {
            QueueLimit::Bytes(bytes) => (bytes.as_f64() / packet).floor(),
            QueueLimit::Packets(packets) => f64::from(packets),
        };
        let mut random = Pcg64::seed_from_u64(question.seed);
        let shortest = asked
            .iter()
            .map(|class| rtt_of(class, path))
            .fold(f64::INFINITY, f64::min);
        let all_most = OVER * affordable(end, shortest, asked.len());
        let made = asked.iter().map(|class| {
            let most = affordable(end, rtt_of(class, path), asked.len()).min(all_most);
            Class::new(class, question, most)
        });
        let mut classes: Vec<Class> = made.collect::<Result<_, _>>()?;
        for class in &mut classes {
            class.rtt += 1.0 / capacity;
            class.fill(&mut random);
        }
        Ok(Run {
            classes,
            queue,
            capacity,
            room,
            wait: 0.0,
            random,
        })
    }

    /// One step; gives its length in seconds.
    fn step(&mut self, now: f64, counts: bool) -> f64 {
        let shortest = self
            .classes
            .iter()
            .map(|class| class.rtt)
            .fold(f64::INFINITY, f64::min);
        let step = ((shortest + self.wait) / STEPS).min(STEP_MAX);
        let on_way: Vec<f64> = self
            .classes
            .iter()
            .map(|class| class.on_way(self.wait))
            .collect();
        self.wait = self.solve_wait(&on_way);
        let full = self.room / self.capacity;
        let mut dropped = 0.0;
        if self.wait > full {
            self.wait = full;
            dropped = self.excess(&on_way);
        }
        let rate = self.rate(&on_way);
        let moment = Moment {
            now,
            step,
            waiting: self.wait * self.capacity,
            arriving: rate * step,
            wait: self.wait,
        };
        let early = self.queue.drops(&moment);
        let half_full = on_way.iter().sum::<f64>() / self.capacity > shortest / 2.0;
        self.drop_packets(dropped, TO_GROWTH, &moment, counts);
        self.drop_packets(early, 0.0, &moment, counts);
        for class in &mut self.classes {
            let seen = class.seen(now, step, self.wait, half_full);
            class.advance(&seen, counts, &mut self.random);
        }
        step
    }

    /// Packets a second that arrive with this much on the way.
    fn rate(&self, on_way: &[f64]) -> f64 {
        let each = self.classes.iter().zip(on_way);
        each.map(|(class, on_way)| on_way / (class.rtt + self.wait))
            .sum()
    }

    /// The wait at which no more arrives than leaves: Newton's method, from below.
    fn solve_wait(&self, on_way: &[f64]) -> f64 {
        let mut wait = 0.0;
        for _ in 0..12 {
            let each = self.classes.iter().zip(on_way);
            let (mut rate, mut slope) = (0.0, 0.0);
            for (class, on_way) in each {
                let part = on_way / (class.rtt + wait);
                rate += part;
                slope += part / (class.rtt + wait);
            }
            let over = rate - self.capacity;
            if over <= self.capacity * 1e-6 {
                break;
            }
            wait += over / slope;
        }
        wait
    }

    /// What is on the way beyond what path and full queue hold.
    fn excess(&self, on_way: &[f64]) -> f64 {
        let over = 1.0 - self.capacity / self.rate(on_way);
        on_way.iter().sum::<f64>() * over.max(0.0)
    }

    /// Takes so many packets from flows of the samples: a part of them in proportion to the growth
    /// of their windows, the rest in proportion to their rates.
    fn drop_packets(&mut self, dropped: f64, to_growth: f64, moment: &Moment, counts: bool) {
        let wait = self.wait;
        let sum = |of: &dyn Fn(&Class) -> f64| self.classes.iter().map(of).sum::<f64>();
        let rate = sum(&|class| class.on_way(wait) / (class.rtt + wait));
        let grown = sum(&Class::grown);
        if dropped <= 0.0 || rate <= 0.0 {
            return;
        }
        let to_growth = if grown > 0.0 { to_growth } else { 0.0 };
        let by_growth = dropped * to_growth / grown.max(1e-9);
        let by_rate = dropped * (1.0 - to_growth) / rate;
        // One offset for all: as many as there should be, within one.
        let mut due = unit(&mut self.random);
        for class in &mut self.classes {
            let seen = class.seen(moment.now, moment.step, wait, false);
            let round_trip = class.rtt + wait;
            for flow in &mut class.sample {
                due += flow.moving(round_trip) / round_trip * by_rate + flow.grown * by_growth;
                while due >= 1.0 {
                    due -= 1.0;
                    if flow.in_flight >= 1.0 {
                        flow.lose(&seen);
                        class.lost += if counts { class.weight } else { 0.0 };
                    }
                }
            }
        }
    }

    fn result(&self, question: &FluidQuestion, wait: f64, seconds: f64) -> Fluid {
        let bits = segment(&question.path).as_f64() * 8.0 / seconds;
        let each = self.classes.iter().map(|class| FluidClass {
            flows: class.asked.flows,
            congestion: class.congestion.clone(),
            idle_rtt: Span::from_secs_f64(class.rtt),
            goodput: Some(Rate::from_f64(class.delivered * bits)),
            loss: share(class.lost, class.delivered),
            rtt: (class.delivered > 0.0)
                .then(|| Span::from_secs_f64(class.round_trips / class.delivered)),
        });
        let delivered: f64 = self.classes.iter().map(|class| class.delivered).sum();
        let lost = self.classes.iter().map(|class| class.lost).sum();
        Fluid {
            duration: Span::ZERO,
            classes: each.collect(),
            goodput: Some(Rate::from_f64(delivered * bits)),
            loss: share(lost, delivered),
            queue_packets: Some(wait * self.capacity),
            wait: Some(Span::from_secs_f64(wait)),
            outside: Vec::new(),
        }
    }

    fn cell(&self, question: &FluidQuestion) -> Cell {
        let flows: f64 = self
            .classes
            .iter()
            .map(|class| class.asked.flows as f64)
            .sum();
        let rtts = self.classes.iter().map(|class| class.rtt);
        let least = rtts.fold(f64::INFINITY, f64::min);
        let pipe = self.capacity * least;
        let lost: f64 = self.classes.iter().map(|class| class.lost).sum();
        let wire: f64 = self.classes.iter().map(|class| class.lost_on_wire).sum();
        let windows = self
            .classes
            .iter()
            .map(|class| class.limit * class.asked.flows as f64);
        Cell {
            queue: question.path.forward.queue,
            share: (pipe + self.room) / flows,
            room: self.room,
            pipe,
            classes: self.classes.len(),
            queue_part: if lost > 0.0 {
                (lost - wire) / lost
            } else {
                0.0
            },
            idle: lost == 0.0 && windows.sum::<f64>() < pipe,
        }
    }
}

/// Flows of one of `classes` that can be followed, where steps are those of the round trip `rtt`.
fn affordable(end: f64, rtt: f64, classes: usize) -> f64 {
    let steps = end / (rtt / STEPS).clamp(1e-6, STEP_MAX);
    UPDATES_MAX / steps / classes as f64
}

fn share(lost: f64, delivered: f64) -> Option<f64> {
    (delivered > 0.0).then(|| lost / (lost + delivered))
}

/// Those asked for, and the streams of the path's cross traffic.
fn all_classes(question: &FluidQuestion) -> Vec<FlowClass> {
    let path = &question.path;
    let cross = path.cross.iter().filter_map(|cross| {
        let CrossTraffic::Streams { streams, window } = cross.traffic else {
            return None;
        };
        Some(FlowClass {
            congestion: cross.congestion.clone(),
            rtt: Some(path.base_rtt() + cross.extra_delay.times(2)),
            window: Some(window),
            ..FlowClass::of(streams.into())
        })
    });
    question.classes.iter().cloned().chain(cross).collect()
}
