//! One stretch of a run that is looked at, from its beginning to the last reading.

use observe::{
    Amount, Fault, Observation, Peer, Probe, ProbeMethod, ProbeSeries, Progress, RoundTrips,
    RunObserver, SamplePlan, Snapshot, TargetError, Transport, UDP_CONTROL,
};
use sim::StreamState;
use units::{Bytes, Rate, Span, Time};

use super::failure;
use super::readings::Readings;
use super::run::{BYTES_TIME_MAX, Run};

/// Readings kept over all streams: some tens of megabytes at the most.
const READINGS_MAX: usize = 200_000;
/// The longest time without progress in a run that counts bytes.
const STALL_MAX: Span = Span::from_secs(30);

/// A stretch of a run, and who looks on.
pub(super) struct Stage<'a> {
    run: &'a mut Run,
    plan: &'a SamplePlan,
    watch: &'a mut dyn RunObserver,
    readings: Vec<Readings>,
    /// What had arrived over all streams since the stage's start, reading by reading.
    arrived: Vec<Progress>,
    /// What all streams had sent at the last reading, and what of it again.
    sent: Option<(Bytes, Bytes)>,
    moved_at: Time,
    /// What was asked for is known, or the watch has ended the run.
    is_known: bool,
    /// Where the probes of the idle path begin among all of the run, and those beside the streams.
    probes_from: (usize, usize),
}

impl<'a> Stage<'a> {
    pub fn of(run: &'a mut Run, plan: &'a SamplePlan, watch: &'a mut dyn RunObserver) -> Self {
        let probes = run.simulation.probes().len();
        Stage {
            run,
            plan,
            watch,
            readings: Vec::new(),
            arrived: Vec::new(),
            sent: None,
            moved_at: Time::ZERO,
            is_known: false,
            probes_from: (probes, probes),
        }
    }

    /// Goes to its end and tells what was seen.
    pub fn observe(mut self) -> Result<Observation, TargetError> {
        self.run.simulation.advance(self.run.schedule.begin);
        self.probe_idle_path()?;
        self.run.simulation.advance(self.run.schedule.start);
        self.open_readings();
        while !self.ends_within_interval()? {}
        let at = self.run.at();
        let states = self.run.states();
        let last = self.readings.iter_mut().zip(&states);
        last.for_each(|(readings, state)| readings.close(at, state, &self.run.buffers));
        self.check_carried()?;
        Ok(self.observation(&states))
    }

    fn probe_idle_path(&mut self) -> Result<(), TargetError> {
        let schedule = self.run.schedule;
        let end = schedule.begin + schedule.unloaded;
        while self.run.simulation.now() < end {
            self.check_cancelled()?;
            let simulation = &mut self.run.simulation;
            simulation.probe();
            let next = simulation.now() + ProbeSeries::INTERVAL;
            simulation.advance(next.min(end));
        }
        self.probes_from.1 = self.run.simulation.probes().len();
        Ok(())
    }

    fn open_readings(&mut self) {
        let states = self.run.states();
        let bound = READINGS_MAX / states.len().max(1);
        let readings = states.iter().map(|state| Readings::new(bound, state));
        self.readings = readings.collect();
    }

    /// A reading, and one interval with two probes. True when the stage is over.
    fn ends_within_interval(&mut self) -> Result<bool, TargetError> {
        self.check_cancelled()?;
        self.is_known = self.read();
        if self.is_known {
            return Ok(true);
        }
        self.check_stalled()?;
        let simulation = &mut self.run.simulation;
        let end = simulation.now() + SamplePlan::INTERVAL;
        while simulation.now() < end {
            simulation.probe();
            let next = simulation.now() + ProbeSeries::INTERVAL;
            if simulation.advance(next) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads all streams; whether what was seen is enough.
    fn read(&mut self) -> bool {
        let at = self.run.at();
        let states = self.run.states();
        let streams = self.readings.iter_mut().zip(&states);
        streams.for_each(|(readings, state)| readings.add(at, state, &self.run.buffers));
        let snapshot = self.snapshot(at, &states);
        self.watch.on_progress(&snapshot);
        let bytes = snapshot.bytes;
        if self.arrived.last().is_none_or(|last| bytes > last.bytes) {
            self.moved_at = at;
        }
        self.arrived.push(Progress { at, bytes });
        self.sent = Some(sent(&states));
        let precision = self.plan.precision.as_ref();
        let is_met = precision.is_some_and(|wanted| wanted.is_met(&[&self.arrived]));
        is_met || self.watch.has_enough()
    }

    fn snapshot(&self, at: Time, states: &[StreamState]) -> Snapshot {
        let bytes = self.delivered(states);
        let rate = |last: &Progress| Rate::of(bytes - last.bytes, at.since(last.at));
        Snapshot {
            at,
            duration_max: match self.plan.amount {
                Amount::Time(length) => Some(length),
                Amount::Bytes(_) => None,
            },
            bytes,
            rate: self.arrived.last().map_or(Rate::ZERO, rate),
            rtt: mean_rtt(states),
            probe_rtt: self.latest_probe(),
            retransmitted_share: self.retransmitted_share(states),
        }
    }

    /// Bytes of all streams since the stage's start.
    fn delivered(&self, states: &[StreamState]) -> Bytes {
        let streams = self.readings.iter().zip(states);
        streams
            .map(|(readings, state)| readings.delivered(state))
            .sum()
    }

    fn latest_probe(&self) -> Option<Span> {
        let beside = &self.run.simulation.probes()[self.probes_from.1..];
        beside.iter().rev().find_map(|probe| probe.round_trip)
    }

    /// Of what was sent since the last reading.
    fn retransmitted_share(&self, states: &[StreamState]) -> Option<f64> {
        let (before, now) = (self.sent?, sent(states));
        let (all, again) = (now.0 - before.0, now.1 - before.1);
        (all > Bytes::ZERO).then(|| again.as_f64() / all.as_f64())
    }

    fn check_cancelled(&self) -> Result<(), TargetError> {
        match self.watch.is_cancelled() {
            true => Err(failure(
                Fault::Cancelled,
                "the run was cancelled".to_owned(),
                None,
            )),
            false => Ok(()),
        }
    }

    fn check_stalled(&self) -> Result<(), TargetError> {
        let counts_bytes = matches!(self.plan.amount, Amount::Bytes(_));
        match counts_bytes && self.run.at().since(self.moved_at) > STALL_MAX {
            true => Err(failure(
                Fault::Run,
                format!("no data moved for {STALL_MAX}"),
                Some("lower the path's loss rate".to_owned()),
            )),
            false => Ok(()),
        }
    }

    fn check_carried(&self) -> Result<(), TargetError> {
        let Amount::Bytes(wanted) = self.plan.amount else {
            return Ok(());
        };
        let carried = self.delivered(&self.run.states());
        match carried < wanted && !self.is_known {
            true => Err(failure(
                Fault::Run,
                format!("{carried} of {wanted} were carried in {BYTES_TIME_MAX}"),
                Some("ask for fewer bytes".to_owned()),
            )),
            false => Ok(()),
        }
    }

    fn observation(self, states: &[StreamState]) -> Observation {
        let round_trips = self.round_trips();
        let run = self.run;
        let direction = run.direction();
        let streams = (1..).zip(self.readings).zip(states);
        let streams = streams.map(|((number, readings), state)| {
            readings.stream(number, direction, state, &run.buffers)
        });
        Observation {
            grown_from: run.grown_from,
            setting: run.setting.clone(),
            peer: Peer::Trunkline,
            duration: run.at().since(Time::ZERO),
            elapsed: run.simulation.now().since(run.schedule.begin),
            streams: streams.collect(),
            round_trips,
            congestion_used: match run.setting.transport {
                Transport::Tcp => run.setting.congestion.clone(),
                Transport::Udp => Some(UDP_CONTROL.to_owned()),
            },
            takes_udp: true,
            multipath: None,
            cpu_near: None,
            cpu_far_percent: None,
        }
    }

    fn round_trips(&self) -> RoundTrips {
        let (simulation, schedule) = (&self.run.simulation, self.run.schedule);
        let (idle, beside) = self.probes_from;
        let unloaded = &simulation.probes()[idle..beside];
        let loaded = &simulation.probes()[beside..];
        let now = simulation.now();
        let probed = schedule.unloaded > Span::ZERO;
        RoundTrips {
            unloaded: probed.then(|| series(unloaded, schedule.begin, now)),
            loaded: Some(series(loaded, schedule.start, now)),
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
        duplicated: 0,
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

/// What all streams have sent, and what of it again.
fn sent(states: &[StreamState]) -> (Bytes, Bytes) {
    let all = states.iter().map(|state| state.sent).sum();
    let again = |state: &StreamState| state.segment.times(state.retransmitted);
    (all, states.iter().map(again).sum())
}
