//! What can be written after `trunkline predict`.

use std::path::PathBuf;

use clap::Args;
use trunkline::ask::List;
use trunkline::ask::predict::{counts, flow_class, window};
use trunkline::ask::simulate::{data, duration};
use trunkline::ask::tune::share;
use trunkline::measure::Window;
use trunkline::predict::FlowClass;
use trunkline::units::{Bytes, Span};

use super::Output;

/// Ask formulas: throughput, loss and delay of a path for each number of streams, without sending
///
/// Or, with `--fit`, put curves through measured points and say how many streams they speak for.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    trunkline predict slac-cern\n  \
    trunkline predict slac-cern -w 256k -C cubic --report predict.html\n  \
    trunkline predict slac-cern --bytes 1TB --loss-table\n  \
    trunkline predict my.toml --flows 9e5 --flows 1e5,rtt=80ms,congestion=reno\n  \
    trunkline predict --fit points.csv --explain\n  \
    trunkline predict --fit sweep.json -w auto")]
pub(crate) struct Predict {
    /// A named path or a path file; `sim:` or `emu:` before it is taken, too
    #[arg(required_unless_present = "fit")]
    pub path: Option<String>,

    /// Fit measured points instead: a CSV file with the columns `streams` and `goodput` (such as
    /// `trunkline history --csv` prints), or a saved `tune`, `sweep` or campaign of `simulate`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["path", "streams", "congestion"])]
    pub fit: Option<PathBuf>,

    /// Parallel streams: `8`, `1,2,4` or every count of a range, `1..40`; up to 4096
    #[arg(short = 'P', long, allow_negative_numbers = true, value_name = "COUNTS", default_value = "1,2,4,8,16,32,64,128", value_parser = counts)]
    pub streams: List<u32>,

    /// The most that each stream keeps outstanding: `auto` leaves it to the hosts' buffers, or
    /// `64k`; with `--fit`, the window of the points that count [default: auto; with `--fit` the
    /// one that all have]
    #[arg(short, long, allow_negative_numbers = true, value_name = "SIZE", value_parser = window)]
    pub window: Option<Window>,

    /// Congestion control: reno, cubic, highspeed, scalable or bbr [default: what the path's hosts
    /// use]
    #[arg(short = 'C', long, value_name = "NAME")]
    pub congestion: Option<String>,

    /// Say how long so much takes by each formula, such as `1TB`
    #[arg(
        short = 'n',
        long,
        allow_negative_numbers = true,
        value_name = "SIZE",
        value_parser = data,
        conflicts_with = "fit"
    )]
    pub bytes: Option<Bytes>,

    /// Say which loss one stream bears, by rate and round trip
    #[arg(long, conflicts_with = "fit")]
    pub loss_table: bool,

    /// Say by a fluid model what so many flows of one class get, such as `1e6`; several times for
    /// several classes. What differs from the path follows: rtt, congestion (reno or cubic),
    /// window, loss, start, stop, as in `1000,rtt=50ms,congestion=reno,stop=20s`
    #[arg(long, value_name = "CLASS", value_parser = flow_class)]
    #[arg(allow_negative_numbers = true, conflicts_with = "fit")]
    pub flows: Vec<FlowClass>,

    /// How long the flows run, of which the first half does not count [default: a minute, or on
    /// short paths 20,000 round trips]
    #[arg(short = 't', long, value_name = "TIME", value_parser = duration)]
    #[arg(allow_negative_numbers = true, requires = "flows")]
    pub duration: Option<Span>,

    /// Say what the rules of the literature would have chosen from the points: ExpSelection and
    /// BestCmb, with Newton's and the full second order form
    #[arg(long, conflicts_with = "path")]
    pub explain: bool,

    /// Share of the highest throughput that the fewest streams must reach
    #[arg(long, value_name = "SHARE", default_value_t = trunkline::predict::KNEE_SHARE, value_parser = share)]
    pub knee: f64,

    #[command(flatten)]
    pub output: Output,
}
