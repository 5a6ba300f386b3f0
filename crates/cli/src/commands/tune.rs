//! `trunkline tune`: the operating point, and why.

use std::process::ExitCode;

use clap::ValueEnum;
use trunkline::measure::{Setting, StreamCount, Window};
use trunkline::tune::{self, Budget, Controls, Ended, TunePlan};

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
    arguments
        .path_file
        .as_deref()
        .map_or(Ok(()), output::check_place)?;
    let login = arguments.target.login.at(&name)?;
    let cancel = stop::listen()?;
    let mut target = arguments.target.open(name, login)?;
    plan.remembered = arguments.keep.history().remembered(&target, &plan.base);
    let mut progress = RunProgress::new();
    progress.label(&arguments.target.name);
    let tuned = trunkline::tune(&mut target, &plan, &cancel, &mut |event| progress.on(event))?;
    drop(progress);
    let document = tuned.document.into();
    output::deliver_any(&document, &arguments.output, &arguments.keep)?;
    if let Some(file) = &arguments.path_file {
        output::write_path(&document, file)?;
    }
    match &tuned.tuning.ended {
        Ended::Found(_) => Ok(ExitCode::SUCCESS),
        Ended::Cut(_, error) | Ended::Stopped(error) => Err(Failure::cut_short(error)),
    }
}

fn plan(arguments: &Tune) -> Result<TunePlan, Failure> {
    let base = Setting {
        direction: direction(&arguments.way),
        congestion: arguments.tcp.congestion.clone(),
        transport: arguments.carrier.transport.into(),
        mss: arguments.tcp.mss,
        ..Setting::new(StreamCount::ONE, Window::Auto)
    };
    let budget = arguments.budget.unwrap_or_default();
    let (axes, controls) = axes(arguments)?;
    Ok(TunePlan {
        objective: objective(arguments)?,
        axes,
        controls,
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
            share: arguments.knee.unwrap_or(tune::Objective::KNEE_SHARE),
        },
        Objective::Max => tune::Objective::Max,
        Objective::Power => tune::Objective::Power,
        Objective::Gentle => tune::Objective::Gentle {
            added_rtt_max: arguments
                .added_rtt
                .unwrap_or(tune::Objective::ADDED_RTT_MAX),
            loss_max: arguments.loss.unwrap_or(tune::Objective::LOSS_MAX),
        },
    };
    match bounds(arguments).find(|bound| bound.objective != arguments.objective) {
        Some(Bound { objective, option }) => {
            let needed = objective_name(objective);
            Err(Failure::wrong_request(
                &format!(
                    "`{option}` is a bound of `--objective {needed}`, and this search is for `{}`",
                    sought.name()
                ),
                &format!("add `--objective {needed}`, or leave the bound out"),
            ))
        }
        None => Ok(sought),
    }
}

/// A bound that was given, and the objective that it belongs to.
struct Bound {
    objective: Objective,
    option: String,
}

fn bounds(arguments: &Tune) -> impl Iterator<Item = Bound> {
    let knee = arguments.knee.map(|share| format!("--knee {share}"));
    let delay = arguments.added_rtt;
    let delay = delay.map(|delay| format!("--added-rtt {delay}"));
    let loss = arguments.loss.map(|loss| format!("--loss {loss}"));
    let of = |objective, option: Option<String>| option.map(|option| Bound { objective, option });
    [
        of(Objective::Knee, knee),
        of(Objective::Gentle, delay),
        of(Objective::Gentle, loss),
    ]
    .into_iter()
    .flatten()
}

fn objective_name(objective: Objective) -> String {
    let value = objective.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

/// What varies from sample to sample, and which congestion controls are tried.
fn axes(arguments: &Tune) -> Result<(Vec<tune::Axis>, Controls), Failure> {
    let Some(asked) = &arguments.axes else {
        let usual = TunePlan::default();
        return Ok((usual.axes, usual.controls));
    };
    let controls = match asked.contains(&Axis::Congestion) {
        true => Controls::All,
        false => Controls::Kept,
    };
    if let (Some(name), Controls::All) = (&arguments.tcp.congestion, controls) {
        return Err(Failure::wrong_request(
            &format!("`-C {name}` fixes what `--axes congestion` would vary"),
            "leave out one of the two",
        ));
    }
    let is_asked = |axis: &tune::Axis| asked.iter().any(|one| searched(*one) == Some(*axis));
    let axes = tune::Axis::ALL.into_iter().filter(is_asked);
    Ok((axes.collect(), controls))
}

/// `None` of the congestion control, which has a field of its own.
fn searched(axis: Axis) -> Option<tune::Axis> {
    match axis {
        Axis::Streams => Some(tune::Axis::Streams),
        Axis::Window => Some(tune::Axis::Window),
        Axis::Congestion => None,
        Axis::Pacing => Some(tune::Axis::Pacing),
    }
}
