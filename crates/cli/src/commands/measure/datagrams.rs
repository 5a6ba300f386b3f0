//! `trunkline measure --udp`: datagrams at a rate.

use std::process::ExitCode;

use trunkline::TargetName;
use trunkline::datagrams::{DatagramPlan, DatagramRate};
use trunkline::measure::Window;
use trunkline::units::Bytes;

use super::direction;
use crate::args::{Measure, Transport};
use crate::failure::Failure;
use crate::output;
use crate::progress::RunProgress;
use crate::stop;

pub(super) fn run(
    arguments: &Measure,
    rate: DatagramRate,
    name: TargetName,
) -> Result<ExitCode, Failure> {
    refuse(arguments, rate)?;
    output::check_places(&arguments.output.output, None)?;
    let login = arguments.target.login.at(&name)?;
    let cancel = stop::listen()?;
    let mut target = arguments.target.open(name, login)?;
    let mut progress = RunProgress::new();
    progress.label(&arguments.target.name);
    let document =
        trunkline::datagrams(&mut target, &plan(arguments), rate, &cancel, &mut |event| {
            progress.on(event);
        })?;
    drop(progress);
    output::deliver(document, &arguments.output.output, &arguments.keep)?;
    Ok(ExitCode::SUCCESS)
}

fn plan(arguments: &Measure) -> DatagramPlan {
    let plan = DatagramPlan::new(None, arguments.duration);
    DatagramPlan {
        direction: direction(&arguments.way),
        streams: arguments.streams,
        size: arguments
            .length
            .map_or(plan.size, |length| Bytes::new(length.into())),
        ..plan
    }
}

/// What datagrams do not have is refused, and not left out in silence.
fn refuse(arguments: &Measure, rate: DatagramRate) -> Result<(), Failure> {
    if rate == DatagramRate::Find && arguments.way.bidir {
        return Err(Failure::wrong_request(
            "`--udp find` looks for the highest rate in one direction at a time",
            "leave out `--bidir`, and add `-R` for the other one",
        ));
    }
    let window = match arguments.window {
        Window::Auto => None,
        window => Some(format!("--window {window}")),
    };
    let transport = match arguments.carrier.transport {
        Transport::Tcp => None,
        Transport::Udp => Some("--transport udp".to_owned()),
    };
    let tcp = &arguments.tcp;
    let others = [
        window,
        transport,
        arguments.mptcp.then(|| "--mptcp".to_owned()),
        arguments.bytes.map(|size| format!("--bytes {size}")),
        arguments.pacing.map(|rate| format!("--pacing {rate}")),
        tcp.congestion
            .as_ref()
            .map(|name| format!("--congestion {name}")),
        tcp.mss.map(|size| format!("--set-mss {size}")),
        arguments.output.csv.then(|| "--csv".to_owned()),
    ];
    match others.into_iter().flatten().next() {
        Some(flag) => Err(Failure::wrong_request(
            &format!("`{flag}` is for streams of bulk data, and `--udp` sends datagrams at a rate"),
            "leave out one of the two; `-P`, `-R`, `--bidir`, `-t` and `-l` go with `--udp`",
        )),
        None => Ok(()),
    }
}

/// Only datagrams have a size.
pub(super) fn refuse_length(arguments: &Measure) -> Result<(), Failure> {
    match arguments.length {
        Some(length) => Err(Failure::wrong_request(
            &format!("`--length {length}` is the size of datagrams, and this run sends none"),
            "add `--udp RATE`, or leave it out",
        )),
        None => Ok(()),
    }
}
