//! The sender's streams as a whole: how many, how they fare, and which of them hang.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;

use net::copying::{Channel, StreamHandle};
use observe::{StreamCount, TcpSample};
use tune::online::{Activity, Interval, Meter, Online, OnlinePlan, Streams as Seen};
use tune::{Scavenger, StreamReading, stream_pacing};
use units::{Bytes, Rate, Span, Time};
use wire::copying::Opening;

use super::stall::Stall;
use super::stream::{Outflow, Wish};
use super::work::Work;
use crate::lines::Roster;
use crate::session::{Desk, End};
use crate::source::Source;

/// How often a gentle copy looks at its streams.
const GENTLE_TICK: Span = Span::from_millis(100);

/// All streams of one conversation.
pub(crate) struct Streams {
    roster: Roster,
    work: Arc<Work>,
    source: Arc<Source>,
    lines: BTreeMap<u32, Line>,
    online: Online,
    meter: Meter,
    scavenger: Option<Scavenger>,
    target: u16,
    last: Time,
    last_gentle: Time,
    rate_max: Option<Rate>,
    pacing: Option<Rate>,
    /// Streams that were given up because they hung, or broke.
    pub replaced: u32,
}

struct Line {
    handle: StreamHandle,
    stall: Stall,
    wish: Wish,
    acked: Bytes,
    is_leaving: bool,
}

/// What the streams did since the last look.
#[derive(Debug, Clone, Default)]
pub(crate) struct Look {
    /// As the tuner takes it.
    pub seen: Seen,
    /// The number of streams changes, and why.
    pub steered: Option<(u16, String)>,
}

impl Streams {
    /// None yet.
    pub(crate) fn new(
        roster: Roster,
        work: Arc<Work>,
        source: Arc<Source>,
        opening: &Opening,
        rtt: Option<Span>,
    ) -> Self {
        let count = |streams: Option<u16>| StreamCount::new(streams?.into()).ok();
        let online = Online::new(OnlinePlan {
            objective: crate::opening::objective(&opening.objective),
            streams: count(opening.streams),
            remembered: count(opening.remembered),
            window: crate::opening::window(opening.window_bytes),
            rtt,
            ..OnlinePlan::default()
        });
        let gentle = opening.gentle_nanoseconds.map(Span::from_nanos);
        if let Some(rtt) = rtt {
            work.set_rtt(rtt);
        }
        Streams {
            roster,
            target: online.streams().get(),
            work,
            source,
            lines: BTreeMap::new(),
            online,
            meter: Meter::default(),
            scavenger: gentle.map(Scavenger::new),
            last: Time::ZERO,
            last_gentle: Time::ZERO,
            rate_max: opening
                .rate_max_bits_per_second
                .map(Rate::from_bits_per_second),
            pacing: None,
            replaced: 0,
        }
    }

    /// As many as there should be: missing ones come, those that are too many go.
    pub(crate) fn keep(&mut self, desk: &Desk) {
        self.roster.grow(self.target, desk);
        let staying = self.lines.iter_mut().filter(|(_, line)| !line.is_leaving);
        for (number, line) in staying.skip(self.target.into()) {
            line.is_leaving = true;
            self.work.leave(*number);
        }
    }

    /// Another bound on the rate.
    pub(crate) fn set_rate_max(&mut self, rate: Option<Rate>) {
        if self.rate_max != rate {
            self.rate_max = rate;
            self.apply_rate(rate);
        }
    }

    fn apply_rate(&mut self, rate: Option<Rate>) {
        self.work.set_rate_max(rate);
        let each = rate.map(|rate| stream_pacing(rate, self.lines.len()));
        if each != self.pacing {
            self.pacing = each;
            for line in self.lines.values() {
                // Without pacing the bucket still keeps the rate, less smoothly.
                let _ = line.handle.set_pacing(each);
            }
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u16 {
        u16::try_from(self.lines.len()).unwrap_or(u16::MAX)
    }

    /// One came.
    pub(crate) fn on_joined(&mut self, number: u32, channel: Channel, desk: &Desk) {
        self.roster.on_joined();
        let line = Line {
            handle: channel.handle(),
            stall: Stall::default(),
            wish: Wish::default(),
            acked: Bytes::ZERO,
            is_leaving: false,
        };
        if let Some(rate) = self.pacing {
            // As above.
            let _ = line.handle.set_pacing(Some(rate));
        }
        let wish = line.wish.clone();
        self.lines.insert(number, line);
        let (work, source) = (Arc::clone(&self.work), Arc::clone(&self.source));
        let outflow = Outflow::new(number, channel, work, source, desk.report(), wish);
        thread::spawn(move || outflow.run());
    }

    /// One did not come.
    pub(crate) fn on_not_joined(&mut self, desk: &Desk, why: &str) -> Result<(), End> {
        self.roster.on_not_joined(desk.now(), why)
    }

    /// One is over. Returns the bytes that have to be sent again.
    pub(crate) fn on_over(&mut self, number: u32, end: &Result<(), String>) -> u64 {
        let was_there = self.lines.remove(&number).is_some();
        if was_there {
            self.roster.on_over();
        }
        self.replaced += u32::from(end.is_err());
        self.work.over(number)
    }

    /// Gives way to others ten times a second, where the copy is to be gentle.
    pub(crate) fn give_way(&mut self, now: Time) {
        if now.since(self.last_gentle) < GENTLE_TICK || self.lines.is_empty() {
            return;
        }
        self.last_gentle = now;
        let Some(mut scavenger) = self.scavenger.take() else {
            return;
        };
        let samples = self.samples(now);
        let readings: Vec<StreamReading> = samples
            .into_iter()
            .map(|(stream, tcp)| StreamReading { stream, tcp })
            .collect();
        let allowance = scavenger.on_reading(now, &readings);
        self.scavenger = Some(scavenger);
        let rate = self
            .rate_max
            .map_or(allowance.rate, |max| max.min(allowance.rate));
        self.apply_rate(Some(rate));
    }

    /// Looks at all of them: replaces those that hang, and asks the tuner how many there should be.
    pub(crate) fn look(
        &mut self,
        desk: &Desk,
        left: Option<Bytes>,
        sender: Option<Activity>,
        receiver: Option<Activity>,
    ) -> Look {
        let now = desk.now();
        let samples = self.samples(now);
        self.cut_stalled(now, &samples);
        self.set_wishes(now.since(self.last), &samples);
        let seen = self.meter.read(samples);
        if let Some(rtt) = seen.rtt {
            self.work.set_rtt(rtt);
        }
        let interval = Interval {
            length: now.since(self.last),
            streams: seen,
            left,
            rate_max: self.rate_max,
            sender,
            receiver,
        };
        self.last = now;
        let steered = self.online.on_interval(&interval).map(|steer| {
            self.target = steer.streams.get();
            self.roster.set_window(steer.window);
            (self.target, steer.why)
        });
        Look { seen, steered }
    }

    /// What limited the copy so far.
    pub(crate) fn limited(&self) -> Option<tune::online::Limited> {
        self.online.limited()
    }

    fn samples(&self, now: Time) -> Vec<(u32, TcpSample)> {
        let sample = |(number, line): (&u32, &Line)| Some((*number, line.handle.sample(now).ok()?));
        self.lines.iter().filter_map(sample).collect()
    }

    /// A stream that nothing arrived of keeps its wish, so that a pause does not cut everything into crumbs.
    fn set_wishes(&mut self, over: Span, samples: &[(u32, TcpSample)]) {
        for (number, sample) in samples {
            let acked = sample.bytes_acked.unwrap_or(Bytes::ZERO);
            if let Some(line) = self.lines.get_mut(number)
                && acked > line.acked
            {
                line.wish.set(Rate::of(acked - line.acked, over));
                line.acked = acked;
            }
        }
    }

    fn cut_stalled(&mut self, now: Time, samples: &[(u32, TcpSample)]) {
        let mut moved = Vec::new();
        for (number, sample) in samples {
            if let Some(line) = self.lines.get_mut(number) {
                line.stall.on_sample(now, sample);
                moved.push(line.stall.last_moved());
            }
        }
        let newest = moved.into_iter().max().unwrap_or(now);
        for (number, sample) in samples {
            if let Some(line) = self.lines.get(number)
                && line.stall.is_stalled(now, newest, sample.rtt)
            {
                line.handle.shut_down();
            }
        }
    }
}
