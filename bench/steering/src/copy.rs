//! One copy over a simulated path: streams that share one amount of data, as the streams of a copy
//! do.

use netpath::PathSpec;
use observe::{Setting, StreamCount, Window};
use sim::Simulation;
use steer::online::{Interval, Meter, Online, Steer};
use steering_bench::sample::sample;
use target::SimulatedPath;
use units::{Bytes, Rate, Span, Time};

/// How exactly the end of a copy is seen.
const STEP: Span = Span::from_millis(20);
/// How often the streams are read.
const INTERVAL: Span = Span::from_millis(100);
/// A copy that takes longer is given up.
const LONGEST: Span = Span::from_secs(3_600);

/// How a copy went.
#[derive(Debug, Clone)]
pub struct Copied {
    /// Until the last byte had arrived, from the first packet.
    pub took: Span,
    /// Streams at its end.
    pub streams: StreamCount,
    /// What was changed on the way, and when.
    pub changes: Vec<(Time, Steer)>,
    /// Mean rate of each second, in order.
    pub seconds: Vec<Rate>,
    /// What limited it, in words.
    pub limited: Option<String>,
}

/// Copies `bytes` over `path` with the streams that `online` asks for.
///
/// A stream that joins sends two round trips after it was asked for, the second for its encryption.
/// Left out: the processors, the disks, and what the streams do not share out evenly at the end.
pub fn copy(path: &PathSpec, seed: u64, bytes: Bytes, online: Online) -> Result<Copied, String> {
    let mut copy = Copy::begin(path, seed, online)?;
    while copy.arrived() < bytes && copy.now().since(Time::ZERO) < LONGEST {
        copy.step(bytes)?;
    }
    Ok(Copied {
        took: copy.now().since(Time::ZERO),
        streams: copy.online.streams(),
        limited: copy.online.limited().and_then(|limited| {
            let longest = limited.parts.first()?;
            let advice = longest.advice.as_ref().map(|advice| format!("; {advice}"));
            let (by, why) = (&longest.by, &longest.why);
            Some(format!("{by}: {why}{}", advice.unwrap_or_default()))
        }),
        changes: copy.changes,
        seconds: copy.seconds,
    })
}

struct Copy {
    simulation: Simulation,
    online: Online,
    meter: Meter,
    /// Streams that send, by number.
    sending: Vec<u32>,
    /// Streams that ever were.
    begun: u32,
    /// Streams that join, and when.
    joining: Vec<(Time, u32)>,
    handshake: Span,
    changes: Vec<(Time, Steer)>,
    seconds: Vec<Rate>,
    at_second: Bytes,
}

impl Copy {
    fn begin(path: &PathSpec, seed: u64, online: Online) -> Result<Self, String> {
        let target = SimulatedPath::new(path, seed);
        let start = online.start();
        let setting = Setting::new(start.streams, Window::Auto);
        let mut scenario = target
            .scenario(&setting, seed)
            .map_err(|error| error.to_string())?;
        scenario.duration = LONGEST;
        let count = u32::from(start.streams.get());
        Ok(Copy {
            handshake: path.base_rtt(),
            simulation: Simulation::new(&scenario).map_err(|error| error.to_string())?,
            online,
            meter: Meter::default(),
            sending: (0..count).collect(),
            begun: count,
            joining: Vec::new(),
            changes: Vec::new(),
            seconds: Vec::new(),
            at_second: Bytes::ZERO,
        })
    }

    fn now(&self) -> Time {
        self.simulation.now()
    }

    fn arrived(&self) -> Bytes {
        let streams = (0..self.begun).filter_map(|index| self.simulation.stream(index));
        streams.map(|stream| stream.arrived).sum()
    }

    fn step(&mut self, bytes: Bytes) -> Result<(), String> {
        self.simulation.advance(self.now() + STEP);
        self.join_due()?;
        let arrived = self.arrived();
        if self.is_multiple_of(Span::from_secs(1)) {
            let rate = Rate::of(arrived - self.at_second, Span::from_secs(1));
            self.seconds.push(rate);
            self.at_second = arrived;
        }
        match self.is_multiple_of(INTERVAL) {
            true => self.look(bytes - arrived),
            false => Ok(()),
        }
    }

    fn is_multiple_of(&self, span: Span) -> bool {
        self.now().as_nanos().is_multiple_of(span.as_nanos())
    }

    fn look(&mut self, left: Bytes) -> Result<(), String> {
        let simulation = &self.simulation;
        let state = |index: &u32| Some((*index, sample(&simulation.stream(*index)?)));
        let interval = Interval {
            length: INTERVAL,
            streams: self.meter.read(self.sending.iter().filter_map(state)),
            left: Some(left),
            ..Interval::default()
        };
        match self.online.on_interval(&interval) {
            Some(steer) => self.change(steer),
            None => Ok(()),
        }
    }

    fn change(&mut self, steer: Steer) -> Result<(), String> {
        let wanted = usize::from(steer.streams.get());
        let joining: u32 = self.joining.iter().map(|(_, count)| *count).sum();
        let now = self.sending.len() + joining as usize;
        if wanted > now {
            let due = self.now() + self.handshake;
            self.joining.push((due, (wanted - now) as u32));
        }
        for index in self.sending.split_off(wanted.min(self.sending.len())) {
            self.simulation
                .leave(index)
                .map_err(|error| error.to_string())?;
        }
        self.changes.push((self.now(), steer));
        Ok(())
    }

    fn join_due(&mut self) -> Result<(), String> {
        let now = self.now();
        let (due, later): (Vec<_>, Vec<_>) = self.joining.drain(..).partition(|(at, _)| *at <= now);
        self.joining = later;
        for (_, count) in due {
            self.simulation
                .join(count)
                .map_err(|error| error.to_string())?;
            self.sending.extend(self.begun..self.begun + count);
            self.begun += count;
        }
        Ok(())
    }
}
