//! What can be written after `trunkline study`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;

/// Draw the figures of published studies again and say which findings hold
///
/// Runs the simulations of each study over all processors and writes plots (SVG), every point (CSV),
/// a text (`findings.md`) and a page (`index.html`) with a sentence for each finding. Whether it holds
/// is computed from the figures. Finished runs are kept, so that an interrupted command goes on where
/// it stopped.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    trunkline study --out studies\n  \
    trunkline study balancing striping-flows --out studies --seeds 10")]
pub(crate) struct Study {
    /// Which studies; all of them without this
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(campaign::study::NAMES))]
    pub names: Vec<String>,

    /// The folder for plots, tables, text and page
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,

    /// How many seeds to run each setting with
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pub seeds: u64,

    /// Where finished runs are kept [default: trunkline/simulate in $XDG_CACHE_HOME or ~/.cache]
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,

    /// Neither keep finished runs nor use kept ones
    #[arg(long, conflicts_with = "cache")]
    pub no_cache: bool,
}
