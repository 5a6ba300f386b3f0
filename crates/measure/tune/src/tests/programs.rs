//! Other programs, which have axes of their own.

use observe::{
    MoverAxes, MoverCommand, Observation, RunObserver, SamplePlan, Setting, StreamCount, Target,
    TargetError, TargetInfo, Window,
};
use units::{Bytes, Span};

use super::{MBIT, quiet, streams, table};
use crate::synthetic::{Path, Synthetic};
use crate::*;

/// A program that drives a synthetic path: what it makes of a setting is `observe`.
struct Program<O> {
    path: Synthetic,
    axes: MoverAxes,
    observe: O,
}

/// As [`Target::observe`], with the path.
type Observed = Result<Observation, TargetError>;

impl<O> Target for Program<O>
where
    O: FnMut(&mut Synthetic, &Setting, &SamplePlan, &mut dyn RunObserver) -> Observed,
{
    fn describe(&self) -> TargetInfo {
        TargetInfo {
            mover: Some(self.axes.clone()),
            ..self.path.describe()
        }
    }

    fn observe(
        &mut self,
        setting: &Setting,
        plan: &SamplePlan,
        watch: &mut dyn RunObserver,
    ) -> Observed {
        (self.observe)(&mut self.path, setting, plan, watch)
    }

    fn command(&self, setting: &Setting) -> Option<MoverCommand> {
        Some(MoverCommand {
            program: "mover".to_owned(),
            line: format!("mover {}", setting.moving),
            note: None,
        })
    }
}

/// Without options but the number of streams.
fn axes(streams_max: u64) -> MoverAxes {
    MoverAxes {
        streams_max: streams(streams_max),
        window: false,
        window_in_turn: None,
        pacing: false,
        concurrency: Vec::new(),
        pipelining: Vec::new(),
        block: Vec::new(),
    }
}

/// Writes its streams in turn: without buffers of a fixed size several carry no more than one does.
fn in_turn(
    path: &mut Synthetic,
    setting: &Setting,
    plan: &SamplePlan,
    watch: &mut dyn RunObserver,
) -> Observed {
    let streams = match setting.window {
        Window::Auto => StreamCount::ONE,
        Window::Fixed(_) => setting.streams,
    };
    let slower = Setting {
        streams,
        ..setting.clone()
    };
    let seen = path.observe(&slower, plan, watch)?;
    Ok(Observation {
        setting: setting.clone(),
        ..seen
    })
}

#[test]
fn a_program_that_writes_streams_in_turn_gets_windows_with_its_streams() {
    for seed in 0..2 {
        let lossy = Path {
            loss: 1e-3,
            ..quiet(100.0 * MBIT, 0.1)
        };
        let mut program = Program {
            path: Synthetic::new(lossy, seed),
            axes: MoverAxes {
                window: true,
                window_in_turn: Some(Bytes::from_mib(1)),
                ..axes(128)
            },
            observe: in_turn,
        };
        let plan = TunePlan {
            objective: Objective::Max,
            controls: Controls::Kept,
            ..TunePlan::default()
        };
        let tuning = tune(&mut program, &plan, &mut ()).unwrap();
        let found = &tuning.answer().unwrap().recommended.setting;
        let table = table(&tuning);
        assert!(found.streams > StreamCount::ONE, "seed {seed}\n{table}");
        assert_ne!(found.window, Window::Auto, "seed {seed}\n{table}");
    }
}

/// With a program whose requests bound what a stream carries to `small` of the path, unless they
/// are made larger.
fn tuned_program(small: f64, seed: u64) -> Tuning {
    let by_requests = |path: &mut Synthetic,
                       setting: &Setting,
                       plan: &SamplePlan,
                       watch: &mut dyn RunObserver| {
        let whole = path.path;
        if setting.moving.block.is_none() {
            path.path.capacity *= small;
        }
        let seen = path.observe(setting, plan, watch);
        path.path = whole;
        seen
    };
    let mut program = Program {
        path: Synthetic::new(quiet(100.0 * MBIT, 0.02), seed),
        axes: MoverAxes {
            pipelining: vec![256],
            block: vec![Bytes::from_mib(1), Bytes::from_mib(4)],
            ..axes(4)
        },
        observe: by_requests,
    };
    let plan = TunePlan {
        objective: Objective::Max,
        budget: Budget {
            time: Some(Span::from_secs(60)),
            ..Budget::default()
        },
        ..TunePlan::default()
    };
    tune(&mut program, &plan, &mut ()).unwrap()
}

#[test]
fn what_a_program_gains_by_is_found_and_is_in_the_command() {
    for seed in 0..2 {
        let tuning = tuned_program(0.5, seed);
        let answer = tuning.answer().unwrap();
        let moving = answer.recommended.setting.moving;
        let table = table(&tuning);
        assert!(moving.block.is_some(), "seed {seed}\n{table}");
        assert_eq!(moving.pipelining, None, "seed {seed}\n{table}");
        let command = answer.command.as_ref().unwrap();
        assert_eq!(command.line, format!("mover {moving}"));
    }
}

#[test]
fn a_program_is_asked_for_no_more_than_it_takes_and_left_alone_where_nothing_gains() {
    for seed in 0..2 {
        let tuning = tuned_program(1.0, seed);
        let table = table(&tuning);
        let settings = tuning.samples.iter().map(|sample| &sample.setting);
        for setting in settings {
            assert!(setting.streams <= streams(4), "seed {seed}\n{table}");
            assert_eq!(setting.window, Window::Auto, "seed {seed}\n{table}");
            assert_eq!(setting.pacing, None, "seed {seed}\n{table}");
        }
        let moving = tuning.answer().unwrap().recommended.setting.moving;
        assert!(moving.is_default(), "seed {seed}\n{table}");
        // The first value of each axis was looked at, and no second one.
        let tried = tuning
            .samples
            .iter()
            .filter(|one| one.purpose == Purpose::Moving);
        assert_eq!(tried.count(), 2, "seed {seed}\n{table}");
    }
}
