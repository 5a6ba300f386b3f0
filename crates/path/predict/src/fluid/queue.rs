//! How many packets a queue drops in a step.

use netpath::{CoDelSpec, QueueSpec, RedSpec, Thresholds};

/// A queue, which is told how much waits and says how much of it goes.
#[derive(Debug)]
pub(super) enum Queue {
    DropTail,
    Red { spec: RedSpec, average: f64 },
    CoDel(CoDel),
}

/// A step as the queue sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub now: f64,
    pub step: f64,
    /// Packets that wait, and those that arrive in this step.
    pub waiting: f64,
    pub arriving: f64,
    /// Seconds that the last of them waits.
    pub wait: f64,
}

impl Queue {
    /// `None` for a discipline that is not modelled.
    pub fn new(spec: &QueueSpec) -> Option<Self> {
        match *spec {
            QueueSpec::DropTail(_) => Some(Queue::DropTail),
            QueueSpec::Red(spec) => Some(Queue::Red { spec, average: 0.0 }),
            QueueSpec::CoDel(spec) => Some(Queue::CoDel(CoDel::new(spec))),
            QueueSpec::Wred(_) | QueueSpec::Strict { .. } | QueueSpec::Weighted { .. } => None,
        }
    }

    /// Packets dropped in this step for other reasons than a full queue.
    pub fn drops(&mut self, moment: &Moment) -> f64 {
        match self {
            Queue::DropTail => 0.0,
            Queue::Red { spec, average } => {
                let kept = (1.0 - spec.weight).powf(moment.arriving);
                *average = *average * kept + moment.waiting * (1.0 - kept);
                moment.arriving * spread(probability(spec, *average), spec.wait)
            }
            Queue::CoDel(codel) => codel.drops(moment),
        }
    }
}

fn probability(spec: &RedSpec, average: f64) -> f64 {
    let Thresholds {
        min,
        max,
        probability,
    } = spec.thresholds();
    let (min, max) = (f64::from(min), f64::from(max).max(f64::from(min) + 1e-9));
    if average < min {
        0.0
    } else if average < max {
        probability * (average - min) / (max - min)
    } else if spec.gentle && average < 2.0 * max {
        probability + (1.0 - probability) * (average - max) / max
    } else {
        1.0
    }
}

/// The share that is dropped when the gaps between drops are uniform up to `1/p`, or, with `wait`,
/// from `1/p` to `2/p`: one over their mean.
fn spread(p: f64, wait: bool) -> f64 {
    match wait {
        _ if p <= 0.0 => 0.0,
        true => (p / 1.5).min(1.0),
        false => 2.0 * p / (1.0 + p),
    }
}

/// Controlled Delay (RFC 8289 section 5), by its own times.
#[derive(Debug)]
pub(super) struct CoDel {
    spec: CoDelSpec,
    first_above: Option<f64>,
    dropping: bool,
    next: f64,
    count: f64,
    last_count: f64,
}

impl CoDel {
    fn new(spec: CoDelSpec) -> Self {
        CoDel {
            spec,
            first_above: None,
            dropping: false,
            next: 0.0,
            count: 0.0,
            last_count: 0.0,
        }
    }

    fn drops(&mut self, moment: &Moment) -> f64 {
        let interval = self.spec.interval.as_secs_f64();
        if moment.wait < self.spec.target.as_secs_f64() || moment.waiting <= 1.0 {
            (self.first_above, self.dropping) = (None, false);
            return 0.0;
        }
        let above = *self.first_above.get_or_insert(moment.now + interval);
        if moment.now < above {
            return 0.0;
        }
        let mut dropped = 0.0;
        if !self.dropping {
            self.dropping = true;
            let drops = self.count - self.last_count;
            let recently = moment.now - self.next < 16.0 * interval;
            self.count = if drops > 1.0 && recently { drops } else { 1.0 };
            self.last_count = self.count;
            self.next = moment.now + interval / self.count.sqrt();
            dropped += 1.0;
        }
        while moment.now + moment.step >= self.next && dropped < moment.waiting {
            self.count += 1.0;
            dropped += 1.0;
            self.next += interval / self.count.sqrt();
        }
        dropped
    }
}
