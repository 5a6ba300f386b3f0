//! `trunkline tune`: the operating point, and why.

use std::process::ExitCode;

use lab::TargetName;
use observe::{Setting, StreamCount, Window};
use record::{Document, Tune as Body};
use tune::{Ended, TunePlan, advice};

use crate::args::{Objective, Tune};
use crate::commands::measure::direction;
use crate::failure::Failure;
use crate::output;
use crate::progress::Progress;
use crate::stop::Stop;

pub(crate) fn run(arguments: &Tune) -> Result<ExitCode, Failure> {
    let name = TargetName::parse(&arguments.target.name, arguments.target.port)?;
    let seed = arguments.target.seed.seed;
    let stop = Stop::listen()?;
    let mut target = lab::open(&name, seed)?;
    let mut progress = Progress::new(&stop);
    progress.label(&arguments.target.name);
    let tuning = tune::tune(&mut *target, &plan(arguments), &mut progress)?;
    drop(progress);
    let advice = advice::for_setting(&tuning.recommended.setting);
    let body = Body::new(&target.describe(), &tuning, &advice);
    output::deliver(Document::new(output::origin(seed), body), &arguments.output)?;
    match &tuning.ended {
        Ended::Found => Ok(ExitCode::SUCCESS),
        Ended::Cut(error) => Err(Failure::cut_short(error)),
    }
}

fn plan(arguments: &Tune) -> TunePlan {
    let base = Setting {
        direction: direction(&arguments.way),
        congestion: arguments.tcp.congestion.clone(),
        mss: arguments.tcp.mss,
        ..Setting::new(StreamCount::ONE, Window::Auto)
    };
    TunePlan {
        objective: objective(arguments),
        base,
        streams_max: arguments.streams_max,
        ..TunePlan::default()
    }
}

fn objective(arguments: &Tune) -> tune::Objective {
    match arguments.objective {
        Objective::Knee => tune::Objective::Knee {
            share: arguments.knee,
        },
        Objective::Max => tune::Objective::Max,
        Objective::Power => tune::Objective::Power,
        Objective::Gentle => tune::Objective::GENTLE,
    }
}
