//! A run over a simulated path, for as long as it is kept: its streams, and when things begin.
//!
//! What is seen of it is a stage each time, see `stage.rs`. The first begins with the idle path and
//! the connections; each later one with the streams that join.

use observe::{
    Amount, Direction, Fault, SamplePlan, Setting, StreamCount, StreamDirection, TargetError,
};
use sim::{Scenario, ScenarioError, Simulation, StreamState, Work};
use units::{Span, Time};

use super::buffers::StreamBuffers;
use super::failure;

/// How long cross traffic has the path for itself first, so that a sample does not see it begin.
const LEAD: Span = Span::from_secs(5);
/// The longest that a number of bytes may take.
pub(super) const BYTES_TIME_MAX: Span = Span::from_secs(86_400);

/// When the things of one stage begin, from the beginning of the simulation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Schedule {
    /// The stage begins: the idle path is probed from here on, or streams ask to join.
    pub begin: Time,
    /// How long the idle path is probed.
    pub unloaded: Span,
    /// The streams are connected: the clock of the readings starts.
    pub start: Time,
    pub end: Time,
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
        let begin = Time::ZERO + lead;
        let start = begin + probing + rtt;
        Schedule {
            begin,
            unloaded: plan.unloaded,
            start,
            end: start + longest(plan.amount),
        }
    }
}

fn longest(amount: Amount) -> Span {
    match amount {
        Amount::Time(length) => length,
        Amount::Bytes(_) => BYTES_TIME_MAX,
    }
}

/// A run that goes on.
#[derive(Debug)]
pub(super) struct Run {
    pub setting: Setting,
    pub buffers: StreamBuffers,
    pub simulation: Simulation,
    /// Of the present stage.
    pub schedule: Schedule,
    /// How many streams sent already when the present stage began; `None` in the first.
    pub grown_from: Option<StreamCount>,
    rtt: Span,
}

impl Run {
    /// A run that has not begun. `scenario` has path, streams, variant and seed.
    pub fn new(
        mut scenario: Scenario,
        buffers: StreamBuffers,
        setting: &Setting,
        plan: &SamplePlan,
    ) -> Result<Self, TargetError> {
        let rtt = scenario.path.base_rtt();
        let schedule = Schedule::of(&scenario, plan);
        scenario.window = Some(buffers.window());
        // The streams ask for their connections.
        scenario.idle = schedule.start.since(Time::ZERO) - rtt;
        scenario.duration = schedule.end.since(Time::ZERO);
        if let Amount::Bytes(bytes) = plan.amount {
            scenario.work = Work::Striped(bytes);
        }
        Ok(Run {
            setting: setting.clone(),
            buffers,
            simulation: Simulation::new(&scenario).map_err(refused)?,
            schedule,
            grown_from: None,
            rtt,
        })
    }

    /// The same run at the beginning of its next stage, in which the streams are those of
    /// `setting`; `None` where nothing leads from the one to the other.
    pub fn grown(mut self, setting: &Setting, plan: &SamplePlan) -> Option<Self> {
        let Amount::Time(length) = plan.amount else {
            return None;
        };
        let before = self.setting.streams;
        let same = Setting {
            streams: before,
            ..setting.clone()
        };
        let joining = setting.streams.get().checked_sub(before.get())?;
        if same != self.setting {
            return None;
        }
        self.schedule = self.next_stage(joining, length);
        self.simulation.last_until(self.schedule.end).ok()?;
        self.simulation.join(joining.into()).ok()?;
        self.setting = setting.clone();
        self.grown_from = Some(before);
        Some(self)
    }

    /// One round trip for who joins to connect; the idle path is past.
    fn next_stage(&self, joining: u16, length: Span) -> Schedule {
        let begin = self.simulation.now();
        let start = match joining {
            0 => begin,
            _ => begin + self.rtt,
        };
        Schedule {
            begin,
            unloaded: Span::ZERO,
            start,
            end: start + length,
        }
    }

    /// Time since the streams started, or since they were joined.
    pub fn at(&self) -> Time {
        Time::ZERO + self.simulation.now().since(self.schedule.start)
    }

    pub fn states(&self) -> Vec<StreamState> {
        let streams = 0..u32::from(self.setting.streams.get());
        streams
            .filter_map(|stream| self.simulation.stream(stream))
            .collect()
    }

    pub fn direction(&self) -> StreamDirection {
        match self.setting.direction {
            Direction::Reverse => StreamDirection::Receiving,
            _ => StreamDirection::Sending,
        }
    }
}

fn refused(error: ScenarioError) -> TargetError {
    failure(Fault::Request, error.problem, Some(error.hint))
}
