//! `trunkline sweep`: the grid, how often and how long, and what to go on with.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use trunkline::ask::List;
use trunkline::ask::sweep::{durations, products, streams, windows};
use trunkline::measure::{StreamCount, Window};
use trunkline::units::{Bytes, Span};

use super::{Leaving, LoginOptions, RowsOutput, Tcp, port, whole};

/// Measure a grid of settings in cycles, in shuffled order, and see where the knee is
///
/// Each visit of a setting probes the idle path first and then sends beside further probes, so that
/// it shows throughput and what that cost in delay. Every cycle visits every setting once, in an
/// order of its own: what the path does over the hours then touches all settings alike. Each visit
/// is kept in the archive as it is finished (see `trunkline history --help`); a sweep that was
/// interrupted goes on with `--resume`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trunkline sweep emu:slac-cern\n  \
    trunkline sweep dtn.example.org --streams 1..20 --windows 8k,16k,55k,256k --cycles 21 \
    --duration 20s\n  trunkline sweep dtn.example.org --streams 2,4,8,16,32,64,126 --product \
    5M,10M,20M --both-ways\n  trunkline sweep sim:slac-cern --cycles 2 --report sweep.html\n  \
    trunkline sweep dtn.example.org --beside sim --report sweep.html\n  trunkline sweep \
    dtn1.example.org dtn2.example.org --report paths.html\n  trunkline sweep --resume\n\n\
    A sweep of six settings in five cycles of ten seconds takes six minutes; before it starts, \
    it says how long it will take.")]
pub(crate) struct Sweep {
    /// `HOST[:PORT]`, or `emu:PATH` or `sim:PATH` with a named path or a path file; not needed with
    /// `--resume`. Several are visited cycle by cycle, and shown in one figure and table
    #[arg(value_name = "TARGET", required_unless_present = "resume")]
    pub targets: Vec<String>,

    /// Numbers of parallel streams: `8`, `1..20`, `1..4,8,16`; doubling shows the knee with the
    /// fewest visits
    #[arg(short = 'P', long, value_name = "COUNTS", default_value = "1,2,4,8,16,32", value_parser = streams, conflicts_with = "resume")]
    pub streams: List<StreamCount>,

    /// Socket buffers of each stream: sizes like `8k,16k,256k`, or `auto`, what the kernel gives
    /// programs that ask for nothing
    #[arg(short, long, alias = "window", value_name = "SIZES", default_value = "auto", value_parser = windows, conflicts_with_all = ["product", "resume"])]
    pub windows: List<Window>,

    /// Instead of windows, what streams times window come to: with `--product 20M` each of 8
    /// streams has 2.5 MiB
    #[arg(long, value_name = "SIZES", value_parser = products, conflicts_with = "resume")]
    pub product: Option<List<Bytes>>,

    /// How often every setting is visited; five give a median with quartiles
    #[arg(long, value_name = "COUNT", default_value_t = 5, value_parser = whole(1..=100_000u32), conflicts_with = "resume")]
    pub cycles: u32,

    /// How long the streams of each visit send: `10`, `20s`, `2min`; ten seconds outlast slow start
    /// on most paths. With several, `10s,40s`, each setting is visited with each of them
    #[arg(short = 't', long, value_name = "TIMES", default_value = "10s", value_parser = durations, conflicts_with = "resume")]
    pub duration: List<Span>,

    /// The far end sends
    #[arg(short = 'R', long, group = "sending", conflicts_with = "resume")]
    pub reverse: bool,

    /// Both ends send at once
    #[arg(long, group = "sending", conflicts_with = "resume")]
    pub bidir: bool,

    /// Each way by itself: every setting once with this end sending and once with the far end
    #[arg(long, group = "sending", conflicts_with = "resume")]
    pub both_ways: bool,

    #[command(flatten)]
    pub tcp: Tcp,

    /// The server's port, where the target names none
    #[arg(short, long, default_value_t = trunkline::PORT_DEFAULT, value_parser = port, conflicts_with = "resume")]
    pub port: u16,

    #[command(flatten)]
    pub leaving: Leaving,

    #[command(flatten)]
    pub login: LoginOptions,

    /// Decides the order of the visits, which packets an emulated path loses, and everything that
    /// chance does on a simulated one
    #[arg(long, default_value_t = 1, conflicts_with = "resume")]
    pub seed: u64,

    /// Go on with this sweep, or without a number with the newest unfinished one; visits that
    /// failed are made again
    #[arg(long, value_name = "SWEEP", num_args = 0..=1)]
    #[allow(clippy::option_option)]
    pub resume: Option<Option<i64>>,

    /// Afterwards infer the path that explains the visits, simulate every setting on it, and draw
    /// that beside what was measured, with the share of settings within 10 %; with `--resume` also
    /// of a sweep that is finished
    #[arg(long, value_enum, value_name = "WHAT")]
    pub beside: Option<Beside>,

    #[command(flatten)]
    pub output: RowsOutput,

    /// Keep the visits in this archive instead of the user's own (see `trunkline history --help`)
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,

    /// Known to the other commands; a sweep says why it has no use for it.
    #[arg(long, hide = true)]
    pub no_history: bool,
}

/// What is set beside the measured curves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Beside {
    /// The packet simulator on the inferred path
    Sim,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(text: &str) -> Vec<u16> {
        let list = streams(text).unwrap();
        list.0.iter().map(|count| count.get()).collect()
    }

    #[test]
    fn streams_are_numbers_ranges_and_both() {
        assert_eq!(counts("8"), [8]);
        assert_eq!(counts("1..4,8, 16,2"), [1, 2, 3, 4, 8, 16]);
        assert_eq!(counts("1..128").len(), 128);
    }

    #[test]
    fn wrong_streams_are_told_with_the_bound_or_the_way_to_write_them() {
        let told = |text| streams(text).unwrap_err();
        assert_eq!(told("0"), "0 streams are not between 1 and 128");
        assert_eq!(told("1..129"), "129 streams are not between 1 and 128");
        assert!(told("8..1").contains("write 1..8"));
        assert!(told("1,,2").contains("`` is not a number"));
        assert!(told("1...4").contains("write 8, 1,2,4 or 1..20"));
    }

    #[test]
    fn windows_and_products_are_lists_of_sizes() {
        let list = windows("auto,64k,auto").unwrap();
        assert_eq!(list.0, [Window::Auto, Window::Fixed(Bytes::from_kib(64))]);
        assert!(windows("1k").unwrap_err().contains("between 4KiB"));
        assert_eq!(products("5MB,10MB").unwrap().0.len(), 2);
        assert!(products("auto").is_err());
    }
}
