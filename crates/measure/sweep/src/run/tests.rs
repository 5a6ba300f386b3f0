use std::cell::RefCell;
use std::collections::BTreeMap;

use observe::{
    Counted, Delivery, Observation, Peer, Progress, RoundTrips, RunObserver, SamplePlan, Setting,
    Stream, StreamCount, StreamDirection, TargetInfo, TargetKind, Window,
};
use units::{Bytes, Time};

use super::*;

/// Streams of one megabyte a second each, and what is scripted to go wrong.
#[derive(Default)]
struct Scripted {
    /// By the number of the observation, from 0.
    faults: BTreeMap<usize, Fault>,
    /// From this observation on no host answers.
    gone_from: Option<usize>,
    observed: Vec<(u16, u64)>,
    draws: u64,
}

impl Scripted {
    fn fails(faults: &[(usize, Fault)]) -> Self {
        Scripted {
            faults: faults.iter().copied().collect(),
            ..Scripted::default()
        }
    }

    fn fault(&self, number: usize) -> Option<Fault> {
        let gone = self.gone_from.filter(|from| number >= *from);
        let gone = gone.map(|_| Fault::Run);
        gone.or_else(|| self.faults.get(&number).copied())
    }
}

impl Target for Scripted {
    fn describe(&self) -> TargetInfo {
        TargetInfo {
            name: "scripted".to_owned(),
            kind: TargetKind::Live,
            limits: None,
            congestion: Vec::new(),
            mover: None,
        }
    }

    fn observe(
        &mut self,
        setting: &Setting,
        plan: &SamplePlan,
        _watch: &mut dyn RunObserver,
    ) -> Result<Observation, TargetError> {
        let number = self.observed.len();
        self.observed.push((setting.streams.get(), self.draws));
        match self.fault(number) {
            None => Ok(seen(setting, plan)),
            Some(fault) => Err(TargetError {
                fault,
                what: "the server is busy".to_owned(),
                hint: None,
                source: Some("told so".into()),
            }),
        }
    }

    fn draw_from(&mut self, run: u64) {
        self.draws = run;
    }
}

fn seen(setting: &Setting, plan: &SamplePlan) -> Observation {
    let reading = |tenth: u64| Progress {
        at: Time::ZERO + Span::from_millis(100 * tenth),
        bytes: Bytes::new(100_000 * tenth),
    };
    let stream = |number| Stream {
        number,
        direction: StreamDirection::Sending,
        buffers: Some(buffers()),
        buffers_far: None,
        delivery: Delivery {
            counted: Counted::ByReceiver,
            progress: (0..=100).map(reading).collect(),
            receiver_total: None,
        },
        tcp: Vec::new(),
        retransmits: Some(3),
        thread_cpu: None,
    };
    Observation {
        setting: setting.clone(),
        grown_from: None,
        peer: Peer::Iperf3,
        duration: Span::from_secs(10),
        elapsed: Span::from_secs(10) + plan.unloaded,
        streams: (1..=setting.streams.get()).map(stream).collect(),
        round_trips: RoundTrips::default(),
        congestion_used: None,
        takes_udp: false,
        multipath: None,
        cpu_near: None,
        cpu_far_percent: None,
    }
}

fn buffers() -> observe::Buffers {
    let buffer = observe::Buffer {
        asked: None,
        granted: Bytes::from_kib(128),
    };
    observe::Buffers {
        send: buffer,
        receive: buffer,
    }
}

/// Keeps in memory, but not in the first `refusals` attempts.
#[derive(Default)]
struct Memory {
    kept: Vec<(u32, Result<f64, String>)>,
    refusals: usize,
    may_pass: bool,
}

impl Keeper for Memory {
    fn keep(&mut self, visit: &Visit, finished: &Finished, _took: Span) -> Result<(), KeepError> {
        if self.refusals > 0 {
            self.refusals -= 1;
            return Err(KeepError {
                what: "the disk is full".to_owned(),
                hint: None,
                may_pass: self.may_pass,
            });
        }
        let outcome = match finished {
            Finished::Measured(measured) => Ok(measured.figures.goodput_bits_per_second as f64),
            Finished::Failed(why) => Err(why.clone()),
        };
        self.kept.push((visit.number, outcome));
        Ok(())
    }
}

/// A clock on which everything takes 12 s; waits are counted.
#[derive(Default)]
struct Observer {
    looks: RefCell<u64>,
    waited: Vec<Span>,
    cancel_after_waits: Option<usize>,
    started: Vec<(u32, Span)>,
    failed: usize,
}

impl RunObserver for Observer {
    fn is_cancelled(&self) -> bool {
        self.cancel_after_waits
            .is_some_and(|waits| self.waited.len() >= waits)
    }
}

impl SweepObserver for Observer {
    fn now(&self) -> Span {
        *self.looks.borrow_mut() += 1;
        Span::from_secs(12).times(*self.looks.borrow())
    }

    fn pause(&mut self, wait: Span) {
        self.waited.push(wait);
    }

    fn on_visit_started(&mut self, visit: &Visit, left: Span) {
        self.started.push((visit.number, left));
    }

    fn on_visit_done(&mut self, _visit: &Visit, finished: &Finished, _left: Span) {
        self.failed += usize::from(matches!(finished, Finished::Failed(_)));
    }
}

fn plan(settings: u64, cycles: u32) -> SweepPlan {
    let setting = |n| Setting::new(StreamCount::new(n).unwrap(), Window::Auto);
    SweepPlan {
        settings: (1..=settings).map(setting).collect(),
        cycles,
        durations: vec![Span::from_secs(10)],
        unloaded: Span::from_secs(1),
        seed: 1,
        via: units::Via::default(),
        user: None,
    }
}

/// A sweep with everything that takes part in it.
struct Sweep {
    plan: SweepPlan,
    target: Scripted,
    ledger: Ledger,
    memory: Memory,
    watch: Observer,
}

impl Sweep {
    fn of(plan: SweepPlan, target: Scripted) -> Self {
        Sweep {
            plan,
            target,
            ledger: Ledger::default(),
            memory: Memory::default(),
            watch: Observer::default(),
        }
    }

    fn run(&mut self) -> Result<(), SweepError> {
        run(
            &mut self.target,
            &self.plan,
            &mut self.ledger,
            &mut self.memory,
            &mut self.watch,
        )
    }

    fn numbers(&self) -> Vec<u32> {
        self.memory.kept.iter().map(|(number, _)| *number).collect()
    }
}

#[test]
fn every_visit_is_made_in_order_and_kept() {
    let mut sweep = Sweep::of(plan(3, 2), Scripted::default());
    sweep.run().unwrap();
    assert_eq!(sweep.numbers(), [1, 2, 3, 4, 5, 6]);
    let order = sweep.plan.order();
    let streams: Vec<(u16, u64)> = order
        .iter()
        .map(|visit| (visit.setting.streams.get(), visit.number.into()))
        .collect();
    assert_eq!(sweep.target.observed, streams, "each with draws of its own");
    for (visit, (_, goodput)) in order.iter().zip(&sweep.memory.kept) {
        let expected = 8e6 * f64::from(visit.setting.streams.get());
        let goodput = goodput.clone().unwrap();
        assert!((goodput - expected).abs() < 1.0, "{goodput}");
    }
    // Six visits of 10 + 1 + 1 s as planned, then five of the 12 s that the first took.
    let left: Vec<u64> = sweep
        .watch
        .started
        .iter()
        .map(|(_, left)| left.as_nanos() / 1_000_000_000)
        .collect();
    assert_eq!(left, [72, 60, 48, 36, 24, 12]);
}

#[test]
fn a_visit_that_failed_is_tried_again_and_counts_once() {
    let faults = [(1, Fault::Run), (2, Fault::Run)];
    let mut sweep = Sweep::of(plan(3, 1), Scripted::fails(&faults));
    sweep.run().unwrap();
    assert_eq!(sweep.watch.waited, RETRIES[..2]);
    assert_eq!(sweep.numbers(), [1, 2, 3]);
    assert!(sweep.memory.kept.iter().all(|(_, outcome)| outcome.is_ok()));
}

#[test]
fn a_visit_that_keeps_failing_is_marked_and_the_sweep_goes_on() {
    let faults = [1, 2, 3, 4].map(|number| (number, Fault::Run));
    let mut sweep = Sweep::of(plan(3, 1), Scripted::fails(&faults));
    sweep.run().unwrap();
    assert_eq!(sweep.watch.waited, RETRIES);
    let why = "the server is busy: told so".to_owned();
    assert_eq!(sweep.memory.kept[1], (2, Err(why)));
    assert!(sweep.memory.kept[2].1.is_ok());
    assert_eq!((sweep.ledger.measured(), sweep.ledger.failed()), (2, 1));
    assert_eq!(sweep.watch.failed, 1);
    // Made again by itself when the sweep is taken up once more.
    sweep.run().unwrap();
    assert_eq!(sweep.numbers(), [1, 2, 3, 2]);
    assert_eq!(sweep.ledger.failed(), 0);
}

#[test]
fn a_server_that_is_gone_ends_the_sweep_with_what_there_is() {
    let target = Scripted {
        gone_from: Some(2),
        ..Scripted::default()
    };
    let mut sweep = Sweep::of(plan(4, 3), target);
    let error = sweep.run().unwrap_err();
    assert_eq!(
        error.to_string(),
        "5 visits in a row failed, the last like this: the server is busy: told so"
    );
    assert_eq!(sweep.numbers(), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!((sweep.ledger.measured(), sweep.ledger.failed()), (2, 5));
}

#[test]
fn where_no_host_ever_answered_two_visits_are_enough() {
    let target = Scripted {
        gone_from: Some(0),
        ..Scripted::default()
    };
    let mut sweep = Sweep::of(plan(4, 3), target);
    let error = sweep.run().unwrap_err();
    assert!(
        matches!(error, SweepError::Failing { visits: 2, .. }),
        "{error}"
    );
    assert_eq!(sweep.numbers(), [1, 2]);
    let target = Scripted {
        gone_from: Some(0),
        ..Scripted::default()
    };
    let mut sweep = Sweep::of(plan(1, 1), target);
    let error = sweep.run().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the only visit failed: the server is busy: told so"
    );
}

#[test]
fn failures_apart_from_each_other_do_not_end_a_sweep() {
    // Every second visit fails with all its retries, the first of all does not.
    let mut faults = Vec::new();
    let mut number = 1;
    for _ in 0..6 {
        faults.extend((number..number + 4).map(|n| (n, Fault::Run)));
        number += 5;
    }
    let mut sweep = Sweep::of(plan(12, 1), Scripted::fails(&faults));
    sweep.run().unwrap();
    assert_eq!((sweep.ledger.measured(), sweep.ledger.failed()), (6, 6));
}

#[test]
fn a_wrong_request_ends_at_once() {
    let mut sweep = Sweep::of(plan(3, 1), Scripted::fails(&[(0, Fault::Request)]));
    let error = sweep.run().unwrap_err();
    assert!(matches!(error, SweepError::Request(_)), "{error}");
    assert!(sweep.watch.waited.is_empty() && sweep.memory.kept.is_empty());
}

#[test]
fn a_request_that_was_granted_before_is_not_wrong() {
    // A name that the resolver does not know for a moment, in the second cycle.
    let mut sweep = Sweep::of(plan(1, 3), Scripted::fails(&[(1, Fault::Request)]));
    sweep.run().unwrap();
    assert_eq!(sweep.watch.waited, RETRIES[..1]);
    assert_eq!(sweep.ledger.measured(), 3);
}

#[test]
fn a_cancelled_wait_ends_the_sweep_and_keeps_what_was_finished() {
    let mut sweep = Sweep::of(plan(3, 1), Scripted::fails(&[(1, Fault::Run)]));
    sweep.watch.cancel_after_waits = Some(1);
    let error = sweep.run().unwrap_err();
    assert!(matches!(error, SweepError::Cancelled), "{error}");
    assert_eq!(sweep.numbers(), [1]);
    assert_eq!(sweep.target.observed.len(), 2);
}

#[test]
fn a_cancelled_run_is_no_failed_visit() {
    let mut sweep = Sweep::of(plan(3, 1), Scripted::fails(&[(1, Fault::Cancelled)]));
    let error = sweep.run().unwrap_err();
    assert!(matches!(error, SweepError::Cancelled), "{error}");
    assert_eq!((sweep.numbers(), sweep.ledger.failed()), (vec![1], 0));
}

#[test]
fn a_full_disk_is_waited_for() {
    let mut sweep = Sweep::of(plan(2, 1), Scripted::default());
    sweep.memory.refusals = 2;
    sweep.memory.may_pass = true;
    sweep.run().unwrap();
    assert_eq!(sweep.watch.waited, KEEP_RETRIES[..2]);
    assert_eq!(sweep.numbers(), [1, 2]);
    assert_eq!(sweep.target.observed.len(), 2, "nothing is measured twice");
}

#[test]
fn a_disk_that_stays_full_ends_the_sweep_and_the_visit_is_not_entered() {
    for (may_pass, waits) in [(true, KEEP_RETRIES.len()), (false, 0)] {
        let mut sweep = Sweep::of(plan(2, 1), Scripted::default());
        sweep.memory.refusals = usize::MAX;
        sweep.memory.may_pass = may_pass;
        let error = sweep.run().unwrap_err();
        assert_eq!(
            error.to_string(),
            "visit 1 was measured and could not be kept"
        );
        assert_eq!(sweep.watch.waited.len(), waits);
        assert_eq!(sweep.ledger, Ledger::default());
    }
}
