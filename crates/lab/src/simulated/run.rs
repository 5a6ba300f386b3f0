//! One run over a simulated path, from the idle path to the last reading.

use observe::{
    Amount, Fault, Observation, Peer, Probe, ProbeMethod, ProbeSeries, Progress, RoundTrips,
    SamplePlan, Setting, Snapshot, StreamDirection, TargetError, Watch,
};
use sim::{Scenario, ScenarioError, Simulation, StreamState, Work};
use units::{Bytes, Rate, Span, Time};

use super::buffers::StreamBuffers;
use super::readings::Readings;

/// How long cross traffic has the path for itself first, so that a sample does not see it begin.
const LEAD: Span = Span::from_secs(5);
/// Readings kept over all streams: some tens of megabytes at the most.
const READINGS_MAX: usize = 200_000;
/// The longest that a number of bytes may take.
const BYTES_TIME_MAX: Span = Span::from_secs(86_400);
/// The longest time without progress in a run that counts bytes.
const STALL_MAX: Span = Span::from_secs(30);

/// When things begin, from the beginning of the simulation.
#[derive(Debug, Clone, Copy)]
struct Schedule {
    /// The idle path is probed from here on.
    idle: Time,
    /// The streams ask for their connections.
    connect: Time,
    /// They are connected: the clock of the readings starts.
    start: Time,
    end: Time,
}

impl Schedule {
    fn of(scenario: &Scenario, plan: &SamplePlan) -> Self {
        let rtt = scenario.path.base_rtt();
        let lead = match scenario.path.cross.is_empty() {
            true => Span::ZERO,
            false => LEAD,
        };
        // The last idle probe is answered before the streams begin, even behind a queue.
        let probing = match plan.unloaded {
            Span::ZERO => Span::ZERO,
            unloaded => unloaded + rtt.times(2),
        };
        let idle = Time::ZERO + lead;
        let start = idle + probing + rtt;
        Schedule {
            idle,
            connect: idle + probing,
            start,
            end: match plan.amount {
                Amount::Time(length) => start + length,
                Amount::Bytes(_) => start + BYTES_TIME_MAX,
            },
        }
    }
}

/// A run that goes on.
pub(super) struct Run<'a> {
    setting: &'a Setting,
    plan: &'a SamplePlan,
    watch: &'a mut dyn Watch,
    buffers: StreamBuffers,
    schedule: Schedule,
    simulation: Simulation,
    readings: Vec<Readings>,
    /// What had arrived over all streams, reading by reading.
    arrived: Vec<Progress>,
    moved_at: Time,
    /// The goodput is known as well as was asked for.
    is_known: bool,
    unloaded_probes: usize,
}

impl<'a> Run<'a> {
    /// A run that has not begun. `scenario` has path, streams, variant and seed.
    pub fn new(
        mut scenario: Scenario,
        buffers: StreamBuffers,
        setting: &'a Setting,
        plan: &'a SamplePlan,
        watch: &'a mut dyn Watch,
    ) -> Result<Self, TargetError> {
        let schedule = Schedule::of(&scenario, plan);
        scenario.window = Some(buffers.window());
        scenario.idle = schedule.connect.since(Time::ZERO);
        scenario.duration = schedule.end.since(Time::ZERO);
        if let Amount::Bytes(bytes) = plan.amount {
            scenario.work = Work::Striped(bytes);
        }
        let streams = setting.streams.get();
        let bound = READINGS_MAX / usize::from(streams);
        Ok(Run {
            setting,
            plan,
            watch,
            buffers,
            schedule,
            simulation: Simulation::new(&scenario).map_err(refused)?,
            readings: (0..streams).map(|_| Readings::new(bound)).collect(),
            arrived: Vec::new(),
            moved_at: Time::ZERO,
            is_known: false,
            unloaded_probes: 0,
        })
    }

    /// Runs to the end and tells what was seen.
    pub fn observe(mut self) -> Result<Observation, TargetError> {
        self.simulation.advance(self.schedule.idle);
        self.probe_idle_path()?;
        self.simulation.advance(self.schedule.start);
        while !self.ends_within_interval()? {}
        let at = self.at();
        let states = self.states();
        let last = self.readings.iter_mut().zip(&states);
        last.for_each(|(readings, state)| readings.close(at, state, &self.buffers));
        self.check_carried(&states)?;
        Ok(self.observation(states))
    }

    fn probe_idle_path(&mut self) -> Result<(), TargetError> {
        let end = self.schedule.idle + self.plan.unloaded;
        while self.simulation.now() < end {
            self.check_cancelled()?;
            self.simulation.probe();
            let next = self.simulation.now() + ProbeSeries::INTERVAL;
            self.simulation.advance(next.min(end));
        }
        self.unloaded_probes = self.simulation.probes().len();
        Ok(())
    }

    /// A reading, and one interval with two probes. True when the run is over.
    fn ends_within_interval(&mut self) -> Result<bool, TargetError> {
        self.check_cancelled()?;
        self.is_known = self.read();
        if self.is_known {
            return Ok(true);
        }
        self.check_stalled()?;
        let end = self.simulation.now() + SamplePlan::INTERVAL;
        while self.simulation.now() < end {
            self.simulation.probe();
            let next = self.simulation.now() + ProbeSeries::INTERVAL;
            if self.simulation.advance(next) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads all streams; whether the goodput is known well enough.
    fn read(&mut self) -> bool {
        let at = self.at();
        let states = self.states();
        let streams = self.readings.iter_mut().zip(&states);
        streams.for_each(|(readings, state)| readings.add(at, state, &self.buffers));
        let bytes = states.iter().map(|state| state.delivered).sum();
        self.watch
            .on_progress(&self.snapshot(at, bytes, mean_rtt(&states)));
        if self.arrived.last().is_none_or(|last| bytes > last.bytes) {
            self.moved_at = at;
        }
        self.arrived.push(Progress { at, bytes });
        let precision = self.plan.precision.as_ref();
        precision.is_some_and(|wanted| wanted.is_met(&[&self.arrived]))
    }

    fn snapshot(&self, at: Time, bytes: Bytes, rtt: Option<Span>) -> Snapshot {
        let rate = |last: &Progress| Rate::of(bytes - last.bytes, at.since(last.at));
        Snapshot {
            at,
            duration_max: match self.plan.amount {
                Amount::Time(length) => Some(length),
                Amount::Bytes(_) => None,
            },
            bytes,
            rate: self.arrived.last().map_or(Rate::ZERO, rate),
            rtt,
            probe_rtt: None,
            retransmitted_share: None,
        }
    }

    /// Time since the streams started.
    fn at(&self) -> Time {
        Time::ZERO + self.simulation.now().since(self.schedule.start)
    }

    fn states(&self) -> Vec<StreamState> {
        let streams = 0..u32::from(self.setting.streams.get());
        streams
            .filter_map(|stream| self.simulation.stream(stream))
            .collect()
    }

    fn check_cancelled(&self) -> Result<(), TargetError> {
        match self.watch.is_cancelled() {
            true => Err(failure(Fault::Cancelled, "the run was cancelled", None)),
            false => Ok(()),
        }
    }

    fn check_stalled(&self) -> Result<(), TargetError> {
        let counts_bytes = matches!(self.plan.amount, Amount::Bytes(_));
        match counts_bytes && self.at().since(self.moved_at) > STALL_MAX {
            true => Err(failure(
                Fault::Run,
                &format!("no data moved for {STALL_MAX}"),
                Some("lower the path's loss rate"),
            )),
            false => Ok(()),
        }
    }

    fn check_carried(&self, states: &[StreamState]) -> Result<(), TargetError> {
        let Amount::Bytes(wanted) = self.plan.amount else {
            return Ok(());
        };
        let carried: Bytes = states.iter().map(|state| state.delivered).sum();
        match carried < wanted && !self.is_known {
            true => Err(failure(
                Fault::Run,
                &format!("{carried} of {wanted} were carried in {BYTES_TIME_MAX}"),
                Some("ask for fewer bytes"),
            )),
            false => Ok(()),
        }
    }

    fn observation(self, states: Vec<StreamState>) -> Observation {
        let round_trips = self.round_trips();
        let direction = match self.setting.direction {
            observe::Direction::Reverse => StreamDirection::Receiving,
            _ => StreamDirection::Sending,
        };
        let (now, duration) = (self.simulation.now(), self.at().since(Time::ZERO));
        let streams = (1..).zip(self.readings).zip(&states);
        let streams = streams.map(|((number, readings), state)| {
            readings.stream(number, direction, state, &self.buffers)
        });
        Observation {
            grown_from: None,
            setting: self.setting.clone(),
            peer: Peer::Trunkline,
            duration,
            elapsed: now.since(self.schedule.idle),
            streams: streams.collect(),
            round_trips,
            congestion_used: self.setting.congestion.clone(),
            cpu_near: None,
            cpu_far_percent: None,
        }
    }

    fn round_trips(&self) -> RoundTrips {
        let (unloaded, loaded) = self.simulation.probes().split_at(self.unloaded_probes);
        let now = self.simulation.now();
        let probed = self.plan.unloaded > Span::ZERO;
        RoundTrips {
            unloaded: probed.then(|| series(unloaded, self.schedule.idle, now)),
            loaded: Some(series(loaded, self.schedule.start, now)),
        }
    }
}

fn series(probes: &[sim::Probe], start: Time, now: Time) -> ProbeSeries {
    let probe = |probe: &sim::Probe| Probe {
        sent: Time::ZERO + probe.sent.since(start),
        rtt: probe.round_trip,
    };
    let mut series = ProbeSeries {
        method: ProbeMethod::UdpEcho,
        probes: probes.iter().map(probe).collect(),
    };
    series.leave_out_unknown(Time::ZERO + now.since(start));
    series
}

fn mean_rtt(states: &[StreamState]) -> Option<Span> {
    let rtts = states.iter().filter_map(|state| state.round_trip);
    let rtts: Vec<f64> = rtts.map(Span::as_secs_f64).collect();
    stats::mean(&rtts).map(Span::from_secs_f64)
}

fn failure(fault: Fault, what: &str, hint: Option<&str>) -> TargetError {
    TargetError {
        fault,
        what: what.to_owned(),
        hint: hint.map(str::to_owned),
        source: None,
    }
}

fn refused(error: ScenarioError) -> TargetError {
    failure(Fault::Request, &error.problem, Some(&error.hint))
}
