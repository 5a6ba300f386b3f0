//! The run: its tests, each part of it, and its end.

use std::time::Instant;

use measure_protocol::{Answer, Results};
use observe::{Observation, ProbeSeries, RunObserver, SamplePlan, Setting, StreamCount};
use units::Span;

use super::assemble::{self, Ended};
use super::flow::Flow;
use super::probing::Probing;
use super::proposal::{Proposal, goes_on};
use super::stage::{Seen, Stage};
use super::test::Test;
use super::{Client, ClientError};
use sockets::Clock;

/// Readings kept over all streams: some tens of megabytes at the most.
const READINGS_MAX: usize = 200_000;
/// How long a server may take to end a test that is not read any more.
const END_TIMEOUT: Span = Span::from_secs(10);

/// A run whose streams send.
#[derive(Debug)]
pub(super) struct Run {
    setting: Setting,
    probing: Probing,
    answer: Option<Answer>,
    tests: Vec<Test>,
}

/// How the part to come begins.
pub(super) struct Beginning {
    /// Counts from when the part was asked for.
    pub asked: Clock,
    pub unloaded: Option<ProbeSeries>,
    pub grown_from: Option<StreamCount>,
}

impl Run {
    /// Connects, probes the idle path and starts all streams.
    pub(super) fn start(
        client: &Client,
        setting: &Setting,
        plan: &SamplePlan,
        watch: &dyn RunObserver,
    ) -> Result<(Self, Option<ProbeSeries>), ClientError> {
        let mut proposal = Proposal::make(client, setting, setting.streams.get(), plan, watch)?;
        proposal.until_accepted(watch)?;
        let answer = proposal.answer();
        let token = answer.map(|answer| answer.echo_token);
        // While the server waits for the streams.
        let probing = Probing::find(proposal.far_end(), token);
        let unloaded = probing.idle(plan.unloaded, watch);
        let run = Run {
            setting: setting.clone(),
            probing,
            answer,
            tests: vec![proposal.start(plan, watch)?],
        };
        Ok((run, unloaded))
    }

    /// Whether all servers and streams are still there.
    pub(super) fn is_sound(&mut self) -> bool {
        let mut tests = self.tests.iter_mut();
        tests.all(|test| test.hear().is_ok() && test.flow.broken().is_none())
    }

    /// Whether more streams make this run the one that is asked for.
    pub(super) fn leads_to(&self, setting: &Setting, plan: &SamplePlan) -> bool {
        let grown = Setting {
            streams: setting.streams,
            ..self.setting.clone()
        };
        let in_time = matches!(plan.amount, observe::Amount::Time(_));
        in_time && grown == *setting && setting.streams >= self.setting.streams
    }

    /// Lets the missing streams join, as a test of their own; from then on everything counts anew.
    ///
    /// # Errors
    /// When they cannot; the others go on.
    pub(super) fn join(
        &mut self,
        client: &Client,
        streams: StreamCount,
        plan: &SamplePlan,
        watch: &dyn RunObserver,
    ) -> Result<(), ClientError> {
        let missing = streams.get() - self.setting.streams.get();
        if missing > 0 {
            let mut proposal = Proposal::make(client, &self.setting, missing, plan, watch)?;
            proposal.until_accepted(watch)?;
            self.tests.push(proposal.start(plan, watch)?);
            self.setting.streams = streams;
        }
        Ok(())
    }

    /// The streams there are.
    pub(super) fn streams(&self) -> StreamCount {
        self.setting.streams
    }

    /// Looks at the streams as long as the plan says; gives the run back where they go on.
    pub(super) fn observe(
        mut self,
        plan: &SamplePlan,
        watch: &mut dyn RunObserver,
        beginning: Beginning,
    ) -> Result<(Observation, Option<Self>), ClientError> {
        let seen = self.look(plan, watch, &beginning)?;
        let goes_on = goes_on(plan) && self.can_go_on();
        let (results, threads) = match goes_on {
            true => self.report(watch)?,
            false => self.end(watch, &seen)?,
        };
        let observation = assemble::observation(Ended {
            setting: &self.setting,
            grown_from: beginning.grown_from,
            answer: self.answer,
            tests: &self.tests,
            results: &results,
            threads: &threads,
            duration: seen.duration,
            cpu: seen.cpu.kept(),
            unloaded: beginning.unloaded,
            loaded: seen.loading.and_then(|probes| probes.finish()),
            elapsed: beginning.asked.now().since(units::Time::ZERO),
        });
        Ok((observation, goes_on.then_some(self)))
    }

    fn can_go_on(&self) -> bool {
        self.tests.iter().all(|test| test.conversation.is_lasting())
    }

    fn look(
        &mut self,
        plan: &SamplePlan,
        watch: &mut dyn RunObserver,
        beginning: &Beginning,
    ) -> Result<Seen, ClientError> {
        let loading = self.probing.loaded()?;
        let streams = self.tests.iter().map(|test| test.flow.streams.len());
        let bound = READINGS_MAX / streams.sum::<usize>().max(1);
        let stage = Stage::new(plan, watch, loading, bound);
        let stage = match (beginning.grown_from, self.tests.first_mut()) {
            (None, Some(test)) => {
                test.flow.begin(bound);
                stage.since_start(test.flow.started)
            }
            _ => {
                let clock = Clock::start();
                self.begin_anew(bound)?;
                stage.since_now(clock)
            }
        };
        stage.run(&mut self.tests)
    }

    /// Everything counts from one moment on.
    fn begin_anew(&mut self, bound: usize) -> Result<(), ClientError> {
        let mut tests = self.tests.iter_mut();
        tests.try_for_each(|test| test.begin_anew(bound))
    }

    /// What the server has counted in this part; the streams go on.
    fn report(&mut self, watch: &dyn RunObserver) -> Result<Figures, ClientError> {
        let mut tests = self.tests.iter_mut();
        tests.try_for_each(|test| test.ask_report(watch))?;
        let reports = self.tests.iter_mut().map(|test| test.report(watch));
        let results = reports.collect::<Result<Vec<_>, _>>()?;
        let threads = self.tests.iter().map(|test| test.flow.cpu()).collect();
        Ok((results, threads))
    }

    /// Ends all tests and takes the server's results.
    fn end(&mut self, watch: &dyn RunObserver, seen: &Seen) -> Result<Figures, ClientError> {
        self.end_all(watch)?;
        let exchange = |test: &mut Test| {
            let ours = assemble::results(&test.flow, seen.duration, seen.cpu.kept());
            test.conversation.exchange(&ours, watch)
        };
        let results = self.tests.iter_mut().map(exchange);
        let results = results.collect::<Result<Vec<_>, _>>()?;
        let close = self.tests.iter_mut().map(|test| test.flow.close());
        Ok((results, close.collect()))
    }

    /// Ends what runs, without a look at it: the server hears of it, and gets some time to answer.
    pub(super) fn stop(mut self) {
        let timeout = EndTimeout(Instant::now());
        // Whatever stands in the way, dropping the tests ends them too.
        let _ = self.end_all(&timeout).and_then(|()| {
            let nothing = Results::default();
            let mut tests = self.tests.iter_mut();
            tests.try_for_each(|test| test.conversation.exchange(&nothing, &timeout).map(drop))
        });
    }

    /// All servers hear of it before the first is waited for.
    fn end_all(&mut self, watch: &dyn RunObserver) -> Result<(), ClientError> {
        let senders = self.tests.iter().map(|test| &test.flow);
        senders.for_each(Flow::halt_senders);
        let mut tests = self.tests.iter_mut();
        tests.try_for_each(|test| test.end(watch))
    }
}

/// Of each test: the server's results, and the processor time of the threads here.
type Figures = (Vec<Results>, Vec<Vec<Option<Span>>>);

/// Has enough after a while.
struct EndTimeout(Instant);

impl RunObserver for EndTimeout {
    fn is_cancelled(&self) -> bool {
        Span::from(self.0.elapsed()) >= END_TIMEOUT
    }
}
