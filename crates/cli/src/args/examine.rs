//! `trunkline path` and `trunkline responsiveness`: what is to be found out, and at what cost.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use trunkline::examine::Plan;
use trunkline::examine::Wanted;
use trunkline::examine::Way;
use trunkline::units::Span;

use super::{Keep, Output, Target, duration};

/// Tell what a path is like: round trips, hops, capacity, available bandwidth, where it queues
///
/// Small packets first, then trains of packets, then one stream and eight of them in each
/// direction. What this user, the path or the far end does not allow is left out and named, with
/// what would make it possible. Trains need `trunkline serve` at the far end; nothing needs root.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trunkline path emu:slac-cern\n  \
    trunkline path dtn.example.org --quick\n  \
    trunkline path dtn.example.org --quick --hop-capacity\n  \
    trunkline path dtn.example.org --ways forward --path-file mine.toml\n  \
    trunkline path dtn.example.org --no-load --ways forward --json")]
pub(crate) struct PathOf {
    #[command(flatten)]
    pub target: Target,

    /// Only what a few small packets tell in a quarter of a minute: round trips, MTU and hops
    #[arg(long)]
    pub quick: bool,

    /// No streams: nothing of what one stream gets, of hops under load and of buffers
    #[arg(long, conflicts_with = "quick")]
    pub no_load: bool,

    /// Which directions are examined
    #[arg(long, value_enum, default_value = "both")]
    pub ways: Ways,

    /// How long each of the streams' two runs takes in each direction
    #[arg(short = 't', long, value_name = "TIME", default_value_t = Wanted::LOAD, conflicts_with_all = ["quick", "no_load"], value_parser = duration)]
    pub duration: Span,

    /// Write the path that explains the streams as a path file, for `simulate`, `predict`,
    /// `emulate`, `sim:` and `emu:`. A search like that of `tune` runs first, in the first
    /// direction of `--ways`, for the samples that this takes
    #[arg(long, value_name = "FILE", conflicts_with_all = ["quick", "no_load"])]
    pub path_file: Option<PathBuf>,

    /// Also trace the way back, from `trunkline serve` at the far end towards this host, and show
    /// both ways side by side: up to 40 s more
    #[arg(long)]
    pub way_back: bool,

    /// Also the rate of each hop, from how much longer larger packets take (pathchar): at most
    /// a minute more
    #[arg(long)]
    pub hop_capacity: bool,

    /// Also look for branches of equal cost: the hops of so many flows of different ports, and what
    /// each branch loses. Two seconds for each flow
    #[arg(
        long,
        value_name = "COUNT",
        value_parser = clap::value_parser!(u8).range(2..=i64::from(Wanted::FLOWS_MAX))
    )]
    pub flows: Option<u8>,

    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub keep: Keep,
}

impl PathOf {
    pub(crate) fn wanted(&self) -> Wanted {
        Wanted {
            ways: self.ways.list(),
            trains: !self.quick,
            load: (!self.quick && !self.no_load).then_some(self.duration),
            hop_capacity: self.hop_capacity,
            flows: self.flows,
            way_back: self.way_back,
        }
    }
}

/// Tell how long round trips take while streams fill the path
///
/// Adds one stream a second until neither goodput nor round trips change any more, in each
/// direction by itself, and prints round trips per minute (RPM) with everything that they were
/// computed from.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trunkline responsiveness emu:slac-cern\n  \
    trunkline responsiveness dtn.example.org --ways reverse --report rpm.html")]
pub(crate) struct Responsiveness {
    #[command(flatten)]
    pub target: Target,

    /// Which directions are loaded, one after another
    #[arg(long, value_enum, default_value = "both")]
    pub ways: Ways,

    /// The longest that the streams of one direction run
    #[arg(short = 't', long, value_name = "TIME", default_value_t = Plan::DURATION_MAX, value_parser = duration)]
    pub duration: Span,

    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub keep: Keep,
}

impl Responsiveness {
    pub(crate) fn plan(&self) -> Plan {
        Plan {
            ways: self.ways.list(),
            duration_max: self.duration,
        }
    }
}

/// Which directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ways {
    /// From here to the far end
    Forward,
    /// From the far end to here
    Reverse,
    /// Both, forward first
    Both,
}

impl Ways {
    fn list(self) -> Vec<Way> {
        match self {
            Ways::Forward => vec![Way::Forward],
            Ways::Reverse => vec![Way::Reverse],
            Ways::Both => Way::BOTH.to_vec(),
        }
    }
}
