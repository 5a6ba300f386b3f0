//! `trunkline history`, and where results are kept.

use std::path::PathBuf;

use clap::Args;

/// What was measured, tuned and copied before: list, show again, compare, import
///
/// Every `copy`, `tune`, `measure`, `demo`, `path` with streams, `responsiveness` and `simulate` of
/// one setting keeps its document, and every `sweep` its visits, in
/// $TRUNKLINE_STATE/archive.sqlite, or in ~/.local/state/trunkline without that variable.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trunkline history --last 10\n  \
    trunkline history 12 --report run.html\n  \
    trunkline history --sweep 14\n  \
    trunkline history 14 --csv > visits.csv\n  \
    trunkline history --compare 11 12\n  \
    trunkline history --target dtn --csv > runs.csv\n  \
    trunkline history --import iperf3.json")]
pub(crate) struct History {
    /// Show this run or sweep again, as `trunkline report` would
    #[arg(value_name = "RUN")]
    pub run: Option<i64>,

    /// Only targets with this in their name
    #[arg(long, value_name = "PART", conflicts_with_all = ["run", "compare"])]
    pub target: Option<String>,

    /// Only what was made since then: `2026-11-22` (UTC), `7d`, `12h`
    #[arg(long, value_name = "WHEN", conflicts_with_all = ["run", "compare"], value_parser = since)]
    pub since: Option<String>,

    /// Only the newest so many
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["run", "compare"])]
    pub last: Option<u32>,

    /// The visits of this sweep, as runs with numbers of their own
    #[arg(long, value_name = "SWEEP", conflicts_with_all = ["run", "compare", "import", "target", "since", "last"])]
    pub sweep: Option<i64>,

    /// What changed from one run to another, by how much, and how sure that is
    #[arg(long, num_args = 2, value_names = ["RUN", "RUN"], conflicts_with = "run")]
    pub compare: Vec<i64>,

    /// Take over what `iperf3 -c HOST -J` printed, documents saved with `--save`, or those of a
    /// watch, by its database
    #[arg(long, num_args = 1.., value_name = "FILE", conflicts_with_all = ["run", "compare", "target", "since", "last"])]
    pub import: Vec<PathBuf>,

    /// Print JSON: the list, the document or the comparison
    #[arg(long)]
    pub json: bool,

    /// Leave the raw readings out of the document of `--json`
    #[arg(long, requires_all = ["json", "run"])]
    pub brief: bool,

    /// Print the list as comma-separated values, or a sweep with one row for each visit
    #[arg(long, conflicts_with_all = ["json", "compare"])]
    pub csv: bool,

    /// Write the run or the comparison as a page that opens in any browser
    #[arg(long, visible_alias = "html", value_name = "FILE.html", conflicts_with_all = ["csv", "target", "since", "last"])]
    pub report: Option<PathBuf>,

    /// Write the plots of the run or sweep as SVG files into this folder
    #[arg(long, value_name = "DIR", requires = "run")]
    pub plots: Option<PathBuf>,

    /// Write the path that explains the samples of a search as a path file
    #[arg(long, value_name = "FILE", requires = "run")]
    pub path_file: Option<PathBuf>,

    /// Another archive
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,

    /// Move a damaged archive out of the way, under a name that is told; nothing is deleted
    #[arg(long, conflicts_with_all = ["run", "sweep", "compare", "import", "target", "since", "last", "json", "csv", "report"])]
    pub set_aside: bool,
}

/// Where a result is kept.
#[derive(Debug, Args)]
pub(crate) struct Keep {
    /// Neither keep the result nor look at earlier ones
    #[arg(long)]
    pub no_history: bool,

    /// Keep it in this archive instead of the user's own (see `trunkline history --help`)
    #[arg(long, value_name = "FILE", conflicts_with = "no_history")]
    pub history: Option<PathBuf>,
}

impl Keep {
    /// For what was not measured: a prediction can be had again at any time.
    pub(crate) const NOTHING: Keep = Keep {
        no_history: true,
        history: None,
    };
}

fn since(text: &str) -> Result<String, String> {
    trunkline::archive::since(text).map_err(|error| error.to_string())
}
