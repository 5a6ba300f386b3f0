//! A scenario by the fluid model, in place of packets.

use ::predict::{FlowClass, Fluid, FluidQuestion, PredictError};
use netpath::Class;
use record::{Document, FluidSimulation};
use sim::{Scenario, TcpSettings, Variant, Work};
use simulation_grid::Grid;
use units::Span;

use crate::{Error, origin};

/// What to do about all that the model has not.
const PACKETS: &str = "leave `--fluid` out to simulate packets";

/// What the fluid model says of the one setting of `grid`, in less than a second for up to a
/// hundred million streams: one class of endless flows with the setting's window and variant, and
/// one for each group of cross traffic.
///
/// # Errors
/// When there is more than one setting or seed, or the model does not describe what it asks for.
pub fn fluid(grid: &Grid) -> Result<Document<FluidSimulation>, Error> {
    let scenario = only_cell(grid)?;
    refuse(&scenario)?;
    let streams = FlowClass {
        congestion: Some(congestion(scenario.variant)?.to_owned()),
        window: scenario.window,
        ..FlowClass::of(scenario.streams.into())
    };
    let said = ask(&scenario, vec![streams])?;
    let alone = match scenario.path.cross[..] {
        [] => None,
        _ => Some(ask(&scenario, Vec::new())?),
    };
    let cpu = simulation_grid::process_cpu();
    let body = FluidSimulation::new(&scenario, &said, alone.as_ref(), cpu);
    Ok(Document::new(origin(Some(grid.seed)), body))
}

fn only_cell(grid: &Grid) -> Result<Scenario, Error> {
    if grid.seeds != 1 {
        let what = format!(
            "the fluid model has one run, and `--seeds` asks for {}",
            grid.seeds
        );
        return Err(Error::wrong_request(
            what,
            format!("leave it out, or {PACKETS}"),
        ));
    }
    let counts = [grid.variants.len(), grid.streams.len(), grid.windows.len()];
    if counts == [1, 1, 1]
        && let Some(cell) = grid.cells().pop()
    {
        return Ok(cell);
    }
    let settings = counts.into_iter().fold(1, usize::saturating_mul);
    Err(Error::wrong_request(
        format!("`--fluid` is for one setting, and there are {settings}"),
        "leave it out, or give one number of streams, one window and one variant",
    ))
}

/// What a scenario may ask of packets and not of the model.
fn refuse(scenario: &Scenario) -> Result<(), Error> {
    let (tcp, linux) = (&scenario.tcp, TcpSettings::linux(&scenario.path));
    let asked = [
        (
            "data with an end (`--bytes`)",
            scenario.work != Work::Endless,
        ),
        (
            "classes of service (`--class`)",
            scenario.class != Class::BestEffort,
        ),
        (
            "state over time (`--series`)",
            scenario.series_interval.is_some(),
        ),
        ("other hosts (`--compat`)", tcp.access != linux.access),
        (
            "other first windows (`--initial-window`)",
            tcp.initial_window != linux.initial_window,
        ),
        (
            "marks in place of drops (`--ecn`, or ECN of the path's hosts)",
            tcp.ecn || linux.ecn,
        ),
        (
            "a pacing rate, an idle time, a log, or other settings of TCP than those of Linux",
            *tcp != linux
                || scenario.pacing.is_some()
                || scenario.idle > Span::ZERO
                || scenario.log,
        ),
    ];
    match asked.into_iter().find(|(_, asked)| *asked) {
        Some((what, _)) => Err(Error::wrong_request(
            format!("the fluid model does not describe {what}"),
            PACKETS,
        )),
        None => Ok(()),
    }
}

/// The model's name of a variant. It was held against these two alone.
fn congestion(variant: Variant) -> Result<&'static str, Error> {
    match variant {
        Variant::Sack => Ok("reno"),
        Variant::Cubic => Ok("cubic"),
        other => Err(Error::wrong_request(
            format!(
                "the fluid model does not describe `{other}`; it has sack, which is the kernel's \
                    reno, and cubic"
            ),
            format!("choose `--variant sack` or `--variant cubic`, or {PACKETS}"),
        )),
    }
}

fn ask(scenario: &Scenario, classes: Vec<FlowClass>) -> Result<Fluid, Error> {
    let question = FluidQuestion {
        path: scenario.path.clone(),
        classes,
        duration: Some(scenario.duration),
        warmup: Some(scenario.warmup),
        seed: scenario.seed,
    };
    ::predict::fluid(&question).map_err(|error| {
        let next = match &error {
            PredictError::Class { .. } => {
                format!(
                    "change `--duration`, `--warmup`, `--window` or the cross traffic, or {PACKETS}"
                )
            }
            PredictError::FluidCongestion { .. } => {
                format!(
                    "give the cross traffic `congestion = \"reno\"` or `\"cubic\"`, or {PACKETS}"
                )
            }
            _ => PACKETS.to_owned(),
        };
        Error::from(error).with_hint(next)
    })
}
