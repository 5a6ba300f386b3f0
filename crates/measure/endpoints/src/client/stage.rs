//! One part of a run: from when its streams are all there until it has shown what was asked for.

use std::io::ErrorKind;
use std::os::fd::AsFd;

use observe::{Amount, CpuSample, RunObserver, SamplePlan, Thinned};
use units::{Bytes, Span, Time};

use super::ClientError;
use super::conversation::{TICK, check_cancelled};
use super::precision::Arrived;
use super::snapshot::Show;
use super::test::Test;
use probe_net::round_trips::LoadedProbes;
use sockets::Clock;
use sockets::poll::{readable, wait};
use sockets::processor;

/// A broken stream is the server's to explain; this is how long it may take.
const EXPLANATION_WAIT: Span = Span::from_secs(1);
/// Longest time without progress in a test that counts bytes.
const STALL_MAX: Span = Span::from_secs(30);

/// Looks at all streams at once until enough was seen.
pub(super) struct Stage<'a> {
    plan: &'a SamplePlan,
    watch: &'a mut dyn RunObserver,
    clock: Clock,
    loading: Option<LoadedProbes>,
    next_reading: Time,
    show: Show,
    arrived: Arrived,
    cpu: Thinned<CpuSample>,
    moved_at: Time,
    broken_at: Option<Time>,
}

/// What it showed besides the streams' own readings.
pub(super) struct Seen {
    pub duration: Span,
    pub cpu: Thinned<CpuSample>,
    pub loading: Option<LoadedProbes>,
}

impl<'a> Stage<'a> {
    /// * `bound`: readings kept of the processor.
    pub(super) fn new(
        plan: &'a SamplePlan,
        watch: &'a mut dyn RunObserver,
        loading: Option<LoadedProbes>,
        bound: usize,
    ) -> Self {
        Stage {
            plan,
            watch,
            clock: Clock::start(),
            loading,
            next_reading: Time::ZERO,
            show: Show::new(plan.amount),
            arrived: Arrived::default(),
            cpu: Thinned::new(bound),
            moved_at: Time::ZERO,
            broken_at: None,
        }
    }

    /// Counts from when the streams started.
    pub(super) fn since_start(self, clock: Clock) -> Self {
        Stage { clock, ..self }
    }

    /// Counts from now, when all streams were just read.
    pub(super) fn since_now(mut self, clock: Clock) -> Self {
        if let Some(sample) = processor::of_process(Time::ZERO) {
            self.cpu.offer(sample);
        }
        self.next_reading = Time::ZERO + SamplePlan::INTERVAL;
        Stage { clock, ..self }
    }

    /// Runs until it is complete, and reads all streams for the last time.
    ///
    /// # Errors
    /// When a server or a stream fails, nothing moves, or the user cancels.
    pub(super) fn run(mut self, tests: &mut [Test]) -> Result<Seen, ClientError> {
        loop {
            check_cancelled(self.watch)?;
            self.wait(tests)?;
            tests.iter_mut().try_for_each(Test::hear)?;
            let enough = self.read_when_due(tests);
            self.check(tests)?;
            if enough || self.is_complete(tests) {
                return Ok(self.end(tests));
            }
        }
    }

    fn wait(&self, tests: &[Test]) -> Result<(), ClientError> {
        let deadlines = tests.iter();
        let deadlines = deadlines.filter_map(|test| test.conversation.until_deadline());
        let limit = deadlines.fold(TICK.min(self.until_due()), Span::min);
        let controls = tests.iter().map(|test| test.conversation.as_fd());
        let mut watched: Vec<_> = controls.map(readable).collect();
        wait(&mut watched, limit.into())?;
        Ok(())
    }

    fn until_due(&self) -> Span {
        let end = match self.plan.amount {
            Amount::Time(length) => Time::ZERO + length,
            Amount::Bytes(_) => Time::MAX,
        };
        self.next_reading.min(end).since(self.clock.now())
    }

    /// Reads all streams when it is time, and shows what they tell; whether that is enough.
    fn read_when_due(&mut self, tests: &mut [Test]) -> bool {
        let now = self.clock.now();
        if now < self.next_reading {
            return false;
        }
        tests.iter_mut().for_each(|test| test.flow.read(now));
        if let Some(sample) = processor::of_process(now) {
            self.cpu.offer(sample);
        }
        self.next_reading = (self.next_reading + SamplePlan::INTERVAL).max(now);
        let before = self.show.bytes();
        let probe_rtt = self.loading.as_ref().and_then(LoadedProbes::latest);
        let snapshot = self.show.snapshot(now, tests, probe_rtt);
        if snapshot.bytes > before {
            self.moved_at = now;
        }
        self.watch.on_progress(&snapshot);
        self.arrived.add(&snapshot);
        self.is_enough()
    }

    /// The one who looks on may end a run, and so may its precision.
    fn is_enough(&self) -> bool {
        let wanted = self.plan.precision.as_ref();
        self.watch.has_enough() || wanted.is_some_and(|wanted| self.arrived.suffices(wanted))
    }

    /// Whether the amount that was asked for has passed.
    fn is_complete(&self, tests: &[Test]) -> bool {
        match self.plan.amount {
            Amount::Time(length) => self.clock.now().since(Time::ZERO) >= length,
            Amount::Bytes(wanted) => {
                let received = tests.iter().map(|test| test.flow.received());
                received.sum::<Bytes>() >= wanted
                    || tests.iter().all(|test| test.flow.has_sent_all())
            }
        }
    }

    /// A stream that ended by itself, or a test that stands still.
    ///
    /// The control connection gets a moment to say why before the stream is blamed.
    fn check(&mut self, tests: &mut [Test]) -> Result<(), ClientError> {
        let now = self.clock.now();
        let counts = matches!(self.plan.amount, Amount::Bytes(_));
        if counts && now.since(self.moved_at) > STALL_MAX {
            return Err(ClientError::Stalled(STALL_MAX));
        }
        if tests.iter().all(|test| test.flow.broken().is_none()) {
            return Ok(());
        }
        let since = *self.broken_at.get_or_insert(now);
        match now.since(since) > EXPLANATION_WAIT {
            true => Err(breakage(tests, since)),
            false => Ok(()),
        }
    }

    fn end(mut self, tests: &mut [Test]) -> Seen {
        let now = self.clock.now();
        tests.iter_mut().for_each(|test| test.flow.read_last(now));
        if let Some(sample) = processor::of_process(now) {
            self.cpu.close(sample);
        }
        self.loading.iter().for_each(LoadedProbes::halt);
        Seen {
            duration: now.since(Time::ZERO),
            cpu: self.cpu,
            loading: self.loading,
        }
    }
}

/// The first stream that broke, numbered over all tests.
fn breakage(tests: &mut [Test], since: Time) -> ClientError {
    let mut before = 0;
    let mut source = None;
    for test in tests {
        if let Some(index) = test.flow.broken() {
            before += index;
            source = test.flow.failure(index);
            break;
        }
        before += test.flow.streams.len();
    }
    ClientError::Broken {
        number: before + 1,
        at: since.since(Time::ZERO),
        source: source.unwrap_or_else(|| ErrorKind::UnexpectedEof.into()),
    }
}
