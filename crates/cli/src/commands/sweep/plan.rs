//! From the arguments to a plan, and whether those of a resumed sweep contradict it.

use trunkline::history::KeptSweep;
use trunkline::measure::{Direction, Setting, StreamCount, WINDOW_MAX, Window};
use trunkline::sweep::{self, Grid, SweepPlan, WINDOW_MIN, Windows};
use trunkline::units::Span;
use trunkline::{PORT_DEFAULT, TargetName};

use crate::args::Sweep;
use crate::failure::Failure;
use crate::output::tell;

/// Long enough for twenty probes of the idle path.
const UNLOADED: Span = Span::from_secs(1);

/// The plan that the arguments ask for; what had to be left out of a product grid is told.
pub(super) fn plan(arguments: &Sweep) -> Result<SweepPlan, Failure> {
    let grid = Grid {
        streams: arguments.streams.0.clone(),
        windows: windows(arguments),
        directions: directions(arguments),
        base: Setting {
            congestion: arguments.tcp.congestion.clone(),
            mss: arguments.tcp.mss,
            ..Setting::new(StreamCount::ONE, Window::Auto)
        },
    };
    let (settings, left_out) = grid.settings(WINDOW_MAX)?;
    for one in left_out {
        tell!(
            "left out: {} over {} streams is a window of {}, not between {} and {}",
            one.product,
            one.streams,
            one.window,
            WINDOW_MIN,
            WINDOW_MAX
        );
    }
    let plan = SweepPlan {
        settings,
        cycles: arguments.cycles,
        durations: arguments.duration.0.clone(),
        unloaded: UNLOADED,
        seed: arguments.seed,
        via: arguments.leaving.via()?,
        user: arguments.login.user()?,
    };
    plan.check()?;
    Ok(plan)
}

fn windows(arguments: &Sweep) -> Windows {
    match &arguments.product {
        Some(products) => Windows::Products(products.0.clone()),
        None => Windows::Each(arguments.windows.0.clone()),
    }
}

fn directions(arguments: &Sweep) -> Vec<Direction> {
    match (arguments.reverse, arguments.bidir, arguments.both_ways) {
        (true, _, _) => vec![Direction::Reverse],
        (_, true, _) => vec![Direction::Both],
        (_, _, true) => vec![Direction::Forward, Direction::Reverse],
        _ => vec![Direction::Forward],
    }
}

/// Refuses to go on with a sweep on another target, or with other settings.
pub(super) fn check_same(arguments: &Sweep, kept: &KeptSweep) -> Result<(), Failure> {
    let kept_name = TargetName::parse(&kept.asked, PORT_DEFAULT)?;
    for asked in &arguments.targets {
        let other = TargetName::parse(asked, arguments.port)?;
        if other != kept_name {
            return Err(Failure::wrong_request(
                &format!("sweep {} measures {}, not {asked}", kept.id, kept.asked),
                "leave the target out, or begin a sweep of its own without `--resume`",
            ));
        }
    }
    if arguments.tcp.congestion.is_some() || arguments.tcp.mss.is_some() {
        return Err(Failure::wrong_request(
            &format!(
                "the settings of sweep {} are fixed, and so is their TCP",
                kept.id
            ),
            "leave out `-C` and `-M`, or begin a sweep of its own without `--resume`",
        ));
    }
    let via = arguments.leaving.via()?;
    if !via.is_free() && via != kept.plan.via {
        return Err(Failure::wrong_request(
            &format!("how packets of sweep {} leave this host is fixed", kept.id),
            "leave out `-4`, `-6`, `--bind` and `--dscp`, or begin a sweep of its own without \
                `--resume`",
        ));
    }
    sweep::check_user(kept, arguments.login.user()?.as_ref())?;
    Ok(sweep::check_path(kept)?)
}
