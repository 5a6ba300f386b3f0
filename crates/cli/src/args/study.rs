//! What can be written after `trunkline study`.

use std::path::PathBuf;

use clap::Args;
use trunkline::ask::simulate::seeds;

/// Make the figures of published studies again, and say which of their findings hold
///
/// Without a name, lists the studies. Whether a finding holds is computed from the simulations by a
/// rule that stands beside it. Finished runs are kept, so that an interrupted command goes on where
/// it stopped.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    trunkline study\n  \
    trunkline study taiwan --out taiwan\n  \
    trunkline study striping --programs --out striping\n  \
    trunkline study all --out studies")]
pub(crate) struct Study {
    /// Which studies; `all` for every one
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,

    /// Write pages (HTML and Markdown), plots (SVG) and every point (CSV) into this folder
    #[arg(long, value_name = "DIR", requires = "names")]
    pub out: Option<PathBuf>,

    /// Also run iperf3 and globus-url-copy over an emulated path, and show them beside `striping`
    ///
    /// Takes four minutes, and root or user namespaces. Says so where a program is not installed.
    #[arg(long, requires = "names")]
    pub programs: bool,

    /// How many seeds to run each setting with
    #[arg(
        long,
        allow_negative_numbers = true,
        value_name = "COUNT",
        default_value_t = 3,
        value_parser = seeds
    )]
    pub seeds: u64,

    /// Where finished runs are kept [default: trunkline/simulate in $XDG_CACHE_HOME or ~/.cache]
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,

    /// Neither keep finished runs nor use kept ones
    #[arg(long, conflicts_with = "cache")]
    pub no_cache: bool,
}
