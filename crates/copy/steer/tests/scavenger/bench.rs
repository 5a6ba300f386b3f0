//! A gentle copy of several streams and, for part of the time, others beside it, on a simulated
//! path.

use netpath::PathSpec;
use observe::TcpSample;
use sim::{Scenario, Simulation, StreamState};
use steer::scavenger::PERIOD;
use steer::{Scavenger, StreamReading, scavenger};
use units::{Bytes, Rate, Span, Time};

use crate::hosts::Hosts;

/// As good as nothing.
const SILENT: Rate = Rate::from_bits_per_second(1_000);

/// 100 Mbit/s and 40 ms before a buffer of 168 ms.
const DEEP: &str = "[forward]\nrate = \"100Mbit/s\"\ndelay = \"20ms\"\n\
    queue = { kind = \"drop-tail\", limit = \"2MiB\" }\n[hosts]\ncongestion = \"cubic\"\n";

/// A named path, or `deep`.
pub fn load(name: &str) -> PathSpec {
    match name {
        "deep" => PathSpec::from_toml("deep", DEEP).unwrap(),
        _ => PathSpec::load(name).unwrap(),
    }
}

/// Mbit/s of the link.
pub fn link(name: &str) -> f64 {
    load(name).forward.rate.as_f64() / 1e6
}

/// What 25 ms showed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Moment {
    /// Payload of the gentle copy and of the other flow in this time.
    pub gentle: Bytes,
    pub other: Bytes,
    /// Payload of a second gentle copy.
    pub second: Bytes,
    /// Round trip of a small packet beside them.
    pub rtt: Option<Span>,
    /// Round trip of a small packet on the empty path.
    pub empty: Span,
}

impl Moment {
    /// Seconds that a small packet waits.
    pub fn added(&self) -> f64 {
        self.rtt.map_or(0.0, |rtt| (rtt - self.empty).as_secs_f64())
    }
}

pub struct Bench {
    simulation: Simulation,
    copies: Vec<(Scavenger, Vec<u32>)>,
    begun: u32,
    other: Option<u32>,
    before: Vec<u64>,
    empty: Span,
    hosts: Option<Hosts>,
    pub seen: Vec<Moment>,
}

impl Bench {
    /// `streams` of a gentle copy on the path; with none, the path is empty.
    pub fn new(path: PathSpec, streams: u32, seed: u64) -> Self {
        let empty = path.forward.delay + path.reverse.delay;
        let mut scenario = Scenario::new(path).unwrap();
        scenario.streams = streams.max(1);
        scenario.seed = seed;
        // Linux paces pairs of segments at any rate, so that no acknowledgement is delayed.
        scenario.tcp.delayed_ack = None;
        scenario.duration = Span::from_secs(1_000);
        let simulation = Simulation::new(&scenario).unwrap();
        let mut bench = Bench {
            simulation,
            copies: Vec::new(),
            begun: streams.max(1),
            other: None,
            before: vec![0; 128],
            empty,
            hosts: None,
            seen: Vec::new(),
        };
        bench.simulation.pace(0, Some(SILENT));
        bench.gentle((0..streams).collect());
        bench
    }

    /// From now on the hosts sleep between packets.
    pub fn with_hosts_that_sleep(mut self, seed: u64) -> Self {
        self.hosts = Some(Hosts::new(seed));
        self
    }

    fn gentle(&mut self, streams: Vec<u32>) {
        let scavenger = Scavenger::new(Span::from_millis(10), Some(self.empty));
        self.copies.push((scavenger, streams));
        let last = self.copies.len() - 1;
        self.pace(last);
    }

    /// A second gentle copy begins.
    pub fn another(&mut self, streams: u32) {
        let joined = self.join(streams);
        self.gentle(joined);
    }

    fn join(&mut self, streams: u32) -> Vec<u32> {
        self.simulation.join(streams).unwrap();
        let first = self.begun;
        self.begun += streams;
        (first..self.begun).collect()
    }

    /// A stream that knows nothing of all this begins.
    pub fn other_begins(&mut self) {
        self.other = self.join(1).pop();
    }

    /// It is done.
    pub fn other_ends(&mut self) {
        if let Some(other) = self.other.take() {
            self.simulation.pace(other, Some(SILENT));
        }
    }

    pub fn run(&mut self, seconds: u64) {
        for _ in 0..seconds * 40 {
            let now = self.simulation.now() + PERIOD;
            self.simulation.probe();
            self.simulation.advance(now);
            self.read(now);
        }
    }

    fn read(&mut self, now: Time) {
        for copy in 0..self.copies.len() {
            let mut readings = self.readings(copy);
            if let Some(hosts) = &mut self.hosts {
                hosts.hand_over_late(&mut readings);
            }
            let (scavenger, streams) = &mut self.copies[copy];
            let wanted = scavenger.on_reading(now, &readings).streams.get();
            let missing = u32::from(wanted).saturating_sub(streams.len() as u32);
            if missing > 0 && !streams.is_empty() {
                let joined = self.join(missing);
                self.copies[copy].1.extend(joined);
            }
            self.pace(copy);
        }
        let first = &self.copies[0];
        let moment = Moment {
            gentle: self.delivered(&first.1),
            other: self
                .other
                .map_or(Bytes::ZERO, |other| self.delivered(&[other])),
            second: self
                .copies
                .get(1)
                .map_or(Bytes::ZERO, |copy| self.delivered(&copy.1)),
            rtt: self
                .simulation
                .probes()
                .iter()
                .rev()
                .find_map(|probe| probe.round_trip),
            empty: self.empty,
        };
        self.seen.push(moment);
        for stream in 0..128 {
            let state = self.simulation.stream(stream);
            self.before[stream as usize] = state.map_or(0, |state| state.arrived.get());
        }
    }

    fn readings(&self, copy: usize) -> Vec<StreamReading> {
        let reading = |stream: &u32| {
            let tcp = sample(&self.simulation.stream(*stream)?);
            let stream = *stream;
            Some(StreamReading { stream, tcp })
        };
        self.copies[copy].1.iter().filter_map(reading).collect()
    }

    fn pace(&mut self, copy: usize) {
        let rate = self.copies[copy].0.allowance().rate;
        for (stream, share) in scavenger::shares(rate, &self.readings(copy)) {
            self.simulation.pace(stream, Some(share));
        }
    }

    fn delivered(&self, streams: &[u32]) -> Bytes {
        let each = streams.iter().filter_map(|stream| {
            let state = self.simulation.stream(*stream)?;
            Some(state.arrived - Bytes::new(self.before[*stream as usize]))
        });
        each.sum()
    }

    /// Seconds that a small packet waits at the most in nineteen of twenty moments.
    pub fn queue_of_95_percent(&self, from: usize, until: usize) -> f64 {
        let moments = &self.seen[40 * from..40 * until];
        let mut queues: Vec<f64> = moments.iter().map(Moment::added).collect();
        queues.sort_by(f64::total_cmp);
        queues[queues.len() * 19 / 20]
    }

    /// Streams of the first copy.
    pub fn streams(&self) -> usize {
        self.copies[0].1.len()
    }

    /// Means in Mbit/s of gentle copy and other from one second to another.
    pub fn mean(&self, from: usize, until: usize) -> (f64, f64) {
        let each = |what| self.rate(from, until, what);
        (each(|moment| moment.gentle), each(|moment| moment.other))
    }

    /// The same of the first and the second gentle copy.
    pub fn shares(&self, from: usize, until: usize) -> (f64, f64) {
        let each = |what| self.rate(from, until, what);
        (each(|moment| moment.gentle), each(|moment| moment.second))
    }

    fn rate(&self, from: usize, until: usize, what: fn(&Moment) -> Bytes) -> f64 {
        let part = &self.seen[40 * from..40 * until];
        let bytes: Bytes = part.iter().map(what).sum();
        Rate::of(bytes, PERIOD.times(part.len() as u64)).as_f64() / 1e6
    }
}

/// What Linux would say.
pub fn sample(state: &StreamState) -> TcpSample {
    TcpSample {
        rtt: state.round_trip,
        rtt_min: state.round_trip_min,
        cwnd_segments: Some(state.window as u32),
        mss: Some(state.segment),
        unacked_segments: Some(state.outstanding),
        bytes_acked: Some(state.acknowledged),
        bytes_arrived: Some(state.arrived),
        bytes_sent: Some(state.sent),
        retransmits: u32::try_from(state.retransmitted).ok(),
        ..TcpSample::default()
    }
}
