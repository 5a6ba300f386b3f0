//! One cell of the grid: a path, who was there first, and a foreground that begins later.

use netpath::PathSpec;
use sim::{Scenario, Simulation, Variant};
use steer::scavenger::PERIOD;
use steer::{Scavenger, StreamReading, scavenger};
use units::{Rate, Span, Time};

use crate::bench::sample;
use crate::foreground::{Foreground, Seen};
use crate::hosts::Hosts;

/// As good as nothing.
const SILENT: Rate = Rate::from_bits_per_second(1_000);
/// Streams with which a gentle copy begins.
const STREAMS: u32 = 4;
/// Seconds of the copy alone, of which the first are its start; and of the foreground.
pub const BEFORE: u64 = 25;
pub const STARTS: u64 = 12;
pub const BESIDE: u64 = 40;

/// A path and the foreground on it.
#[derive(Debug, Clone, Copy)]
pub struct Cell {
    /// Mbit/s of the link.
    pub rate: f64,
    /// Milliseconds of the empty path.
    pub rtt: f64,
    /// Bytes that the queue holds, in products of rate and round trip.
    pub queue: f64,
    /// Share of packets lost by chance.
    pub loss: f64,
    pub foreground: Foreground,
    pub seed: u64,
}

/// Who is on the path before the foreground.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copy {
    Absent,
    Gentle,
    /// One stream of this kind.
    Plain(Variant),
}

/// What a run showed.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    pub seen: Seen,
    /// Share of the link's payload that the copy has alone, after its start.
    pub idle: f64,
    /// Seconds from the foreground's begin until the copy delivers less than a quarter of what it
    /// had, over a fifth of a second or two round trips; `None` where that does not come.
    pub yields: Option<f64>,
}

impl Cell {
    fn path(&self) -> PathSpec {
        let product = self.rate * 1e6 / 8.0 * self.rtt * 1e-3;
        let queue = (self.queue * product).max(3_000.0) as u64;
        let loss = match self.loss > 0.0 {
            true => format!("loss = {{ kind = \"random\", rate = {} }}\n", self.loss),
            false => String::new(),
        };
        let (rate, delay) = ((self.rate * 1e6) as u64, (self.rtt * 500.0) as u64);
        let text = format!(
            "[forward]\nrate = \"{rate}bit/s\"\ndelay = \"{delay}us\"\n\
             queue = {{ kind = \"drop-tail\", limit = \"{queue}B\" }}\n{loss}\
             [hosts]\ncongestion = \"cubic\"\nsend_buffer_max = \"512MiB\"\n\
             receive_buffer_max = \"512MiB\"\n"
        );
        PathSpec::from_toml("cell", &text).expect("the file is written here")
    }

    /// Runs the cell.
    pub fn run(&self, copy: Copy) -> Run {
        let mut running = Running::new(self, copy);
        running.advance(Time::ZERO + Span::from_secs(BEFORE));
        let mut foreground = self.foreground.begin(self, running.now());
        let end = Time::ZERO + Span::from_secs(BEFORE + BESIDE);
        while running.now() < end {
            foreground.step(&mut running.simulation, &mut running.begun);
            running.step();
        }
        let (idle, yields) = (running.idle(self), running.yields(self));
        Run {
            seen: foreground.finish(running.simulation),
            idle,
            yields,
        }
    }
}

struct Running {
    simulation: Simulation,
    gentle: Option<(Scavenger, Hosts)>,
    streams: Vec<u32>,
    begun: u32,
    /// Bytes of the copy that arrived by the end of each period.
    arrived: Vec<u64>,
}

impl Running {
    fn new(cell: &Cell, copy: Copy) -> Self {
        let mut scenario = Scenario::new(cell.path()).expect("cubic is simulated");
        let streams = if copy == Copy::Gentle { STREAMS } else { 1 };
        if let Copy::Plain(variant) = copy {
            scenario.variant = variant;
        }
        scenario.streams = streams;
        scenario.seed = cell.seed;
        // Linux paces pairs of segments at any rate, so that no acknowledgement is delayed.
        scenario.tcp.delayed_ack = None;
        scenario.duration = Span::from_secs(1_000);
        let mut simulation = Simulation::new(&scenario).expect("the scenario is possible");
        if copy == Copy::Absent {
            simulation.pace(0, Some(SILENT));
        }
        let rtt = Span::from_secs_f64(cell.rtt * 1e-3);
        let gentle = (copy == Copy::Gentle).then(|| {
            let scavenger = Scavenger::new(Span::from_millis(10), Some(rtt));
            (scavenger, Hosts::new(cell.seed))
        });
        let mut running = Running {
            simulation,
            gentle,
            streams: (0..streams).collect(),
            begun: streams,
            arrived: Vec::new(),
        };
        running.steer();
        running
    }

    fn now(&self) -> Time {
        self.simulation.now()
    }

    fn advance(&mut self, until: Time) {
        while self.now() < until {
            self.step();
        }
    }

    fn step(&mut self) {
        let now = self.now() + PERIOD;
        self.simulation.advance(now);
        self.steer();
        let arrived = |stream: &u32| self.simulation.stream(*stream);
        let states = self.streams.iter().filter_map(arrived);
        self.arrived.push(states.map(|one| one.arrived.get()).sum());
    }

    fn steer(&mut self) {
        let now = self.now();
        let states = self.streams.iter().filter_map(|stream| {
            let tcp = sample(&self.simulation.stream(*stream)?);
            let stream = *stream;
            Some(StreamReading { stream, tcp })
        });
        let mut readings: Vec<StreamReading> = states.collect();
        let Some((scavenger, hosts)) = &mut self.gentle else {
            return;
        };
        hosts.hand_over_late(&mut readings);
        let allowance = scavenger.on_reading(now, &readings);
        for (stream, share) in scavenger::shares(allowance.rate, &readings) {
            self.simulation.pace(stream, Some(share));
        }
        let wanted = u32::from(allowance.streams.get());
        let more = wanted.saturating_sub(self.streams.len() as u32);
        if more > 0 {
            self.simulation.join(more).expect("streams may join");
            self.streams.extend(self.begun..self.begun + more);
            self.begun += more;
        }
    }

    /// Mbit/s of the copy between two periods.
    fn rate(&self, from: usize, until: usize) -> f64 {
        let bytes = self.arrived[until - 1] - self.arrived[from - 1];
        bytes as f64 * 8e-6 / ((until - from) as f64 * PERIOD.as_secs_f64())
    }

    fn idle(&self, cell: &Cell) -> f64 {
        let link = cell.rate * 1448.0 / 1500.0;
        self.rate(40 * STARTS as usize, 40 * BEFORE as usize) / link
    }

    fn yields(&self, cell: &Cell) -> Option<f64> {
        let begins = 40 * BEFORE as usize;
        let had = self.rate(40 * STARTS as usize, begins);
        let over = (2.0 * cell.rtt / 25.0).ceil().max(8.0) as usize;
        let is_low = |at: &usize| self.rate(at - over, *at) < had / 4.0;
        let mut ends = begins + over..self.arrived.len();
        ends.find(is_low)
            .map(|at| (at - begins) as f64 * PERIOD.as_secs_f64())
    }
}
