//! `trunkline tune`: the operating point, and why.

use std::process::ExitCode;

use trunkline::measure::{Setting, StreamCount, Window};
use trunkline::tune::{self, Budget, Ended, TunePlan};

use crate::args::{Axis, Objective, Tune};
use crate::commands::measure::direction;
use crate::failure::Failure;
use crate::output;
use crate::progress::RunProgress;
use crate::stop;

pub(crate) fn run(arguments: &Tune) -> Result<ExitCode, Failure> {
    let name = arguments.mover.of(arguments.target.parse()?)?;
    let mut plan = plan(arguments)?;
    output::check_places(&arguments.output, None)?;
    let cancel = stop::listen()?;
    let mut target = arguments.target.open(name)?;
    plan.remembered = arguments.keep.history().remembered(&target, &plan.base);
    let mut progress = RunProgress::new();
    progress.label(&arguments.target.name);
    let tuned = trunkline::tune(&mut target, &plan, &cancel, &mut |event| progress.on(event))?;
    drop(progress);
    output::deliver(tuned.document, &arguments.output, &arguments.keep)?;
    match &tuned.tuning.ended {
        Ended::Found(_) => Ok(ExitCode::SUCCESS),
        Ended::Cut(_, error) | Ended::Stopped(error) => Err(Failure::cut_short(error)),
    }
}

fn plan(arguments: &Tune) -> Result<TunePlan, Failure> {
    let base = Setting {
        direction: direction(&arguments.way),
        congestion: arguments.tcp.congestion.clone(),
        mss: arguments.tcp.mss,
        ..Setting::new(StreamCount::ONE, Window::Auto)
    };
    let budget = arguments.budget.unwrap_or_default();
    Ok(TunePlan {
        objective: objective(arguments)?,
        axes: axes(arguments)?,
        base,
        streams_max: arguments.streams_max,
        budget: Budget {
            time: budget.time,
            bytes: budget.bytes,
            ..Budget::default()
        },
        ..TunePlan::default()
    })
}

fn objective(arguments: &Tune) -> Result<tune::Objective, Failure> {
    let sought = match arguments.objective {
        Objective::Knee => tune::Objective::Knee {
            share: arguments.knee,
        },
        Objective::Max => tune::Objective::Max,
        Objective::Power => tune::Objective::Power,
        Objective::Gentle => {
            let delay = arguments.added_rtt;
            return Ok(tune::Objective::Gentle {
                added_rtt_max: delay.unwrap_or(tune::Objective::ADDED_RTT_MAX),
                loss_max: arguments.loss.unwrap_or(tune::Objective::LOSS_MAX),
            });
        }
    };
    match bound(arguments) {
        Some(bound) => Err(Failure::wrong_request(
            &format!(
                "`{bound}` is a bound of `--objective gentle`, and this search is for `{}`",
                sought.name()
            ),
            "add `--objective gentle`, or leave the bound out",
        )),
        None => Ok(sought),
    }
}

/// What only `gentle` heeds, as it was given.
fn bound(arguments: &Tune) -> Option<String> {
    let delay = arguments.added_rtt;
    let delay = delay.map(|delay| format!("--added-rtt {delay}"));
    delay.or_else(|| arguments.loss.map(|loss| format!("--loss {loss}")))
}

fn axes(arguments: &Tune) -> Result<Vec<tune::Axis>, Failure> {
    if let (Some(name), true) = (
        &arguments.tcp.congestion,
        arguments.axes.contains(&Axis::Congestion),
    ) {
        return Err(Failure::wrong_request(
            &format!("`-C {name}` fixes what `--axes congestion` would vary"),
            "leave out one of the two",
        ));
    }
    let asked = |axis: &tune::Axis| arguments.axes.iter().any(|asked| searched(*asked) == *axis);
    Ok(tune::Axis::ALL.into_iter().filter(asked).collect())
}

fn searched(axis: Axis) -> tune::Axis {
    match axis {
        Axis::Streams => tune::Axis::Streams,
        Axis::Window => tune::Axis::Window,
        Axis::Congestion => tune::Axis::Congestion,
        Axis::Pacing => tune::Axis::Pacing,
    }
}
