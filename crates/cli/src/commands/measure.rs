//! `trunkline measure`: one setting in detail.

mod datagrams;

use std::process::ExitCode;

use trunkline::measure::{Amount, Direction, Moving, SamplePlan, Setting};
use trunkline::{Error, TargetName};

use crate::args::{Measure, Way};
use crate::failure::Failure;
use crate::output;
use crate::progress::RunProgress;
use crate::stop;

pub(crate) fn run(arguments: &Measure) -> Result<ExitCode, Failure> {
    let name = arguments.mover.of(arguments.target.parse()?)?;
    let name = match arguments.mptcp {
        true => name.over_multipath().map_err(Error::from)?,
        false => name,
    };
    refuse_moving(arguments, &name)?;
    if let Some(rate) = arguments.udp {
        return datagrams::run(arguments, rate, name);
    }
    datagrams::refuse_length(arguments)?;
    output::check_places(&arguments.output.output, None)?;
    let login = arguments.target.login.at(&name)?;
    let cancel = stop::listen()?;
    let mut target = arguments.target.open(name, login)?;
    let mut progress = RunProgress::new();
    progress.label(&arguments.target.name);
    let measured = trunkline::measure(
        &mut target,
        &setting(arguments),
        &plan(arguments),
        &cancel,
        &mut |event| progress.on(event),
    )?;
    drop(progress);
    output::deliver_rows(
        &measured.document.into(),
        &arguments.output,
        &arguments.keep,
    )?;
    Ok(ExitCode::SUCCESS)
}

fn setting(arguments: &Measure) -> Setting {
    Setting {
        transport: arguments.carrier.transport.into(),
        direction: direction(&arguments.way),
        congestion: arguments.tcp.congestion.clone(),
        pacing: arguments.pacing,
        mss: arguments.tcp.mss,
        moving: Moving {
            pipelining: arguments.requests,
            block: arguments.block,
            ..Moving::default()
        },
        ..Setting::new(arguments.streams, arguments.window)
    }
}

/// What only other programs have is refused where trunkline itself moves the data.
fn refuse_moving(arguments: &Measure, name: &TargetName) -> Result<(), Failure> {
    let requests = arguments
        .requests
        .map(|count| format!("--requests {count}"));
    let block = arguments.block.map(|size| format!("--block {size}"));
    match (name, requests.or(block)) {
        (TargetName::Mover { .. }, _) | (_, None) => Ok(()),
        (_, Some(flag)) => Err(Failure::wrong_request(
            &format!("`{flag}` is for another program, and this target is none"),
            "leave it out, or name a target like `scp://HOST/FILE`",
        )),
    }
}

fn plan(arguments: &Measure) -> SamplePlan {
    let plan = SamplePlan::lasting(arguments.duration);
    match arguments.bytes {
        Some(bytes) => SamplePlan {
            amount: Amount::Bytes(bytes),
            ..plan
        },
        None => plan,
    }
}

pub(crate) fn direction(way: &Way) -> Direction {
    match (way.reverse, way.bidir) {
        (true, _) => Direction::Reverse,
        (_, true) => Direction::Both,
        _ => Direction::Forward,
    }
}
