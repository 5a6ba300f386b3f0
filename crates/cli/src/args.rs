//! What can be written after `trunkline`.

use std::ffi::OsString;

use clap::{Args, Parser, Subcommand};

/// Moves bulk data over long, fat networks as fast as the path allows.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Emulate(Emulate),
}

/// Run any program across an emulated path
///
/// The program finds the far host under the name `far` (198.18.0.2) and is itself on `near`
/// (198.18.0.1). When it ends, everything that was started ends with it.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  \
    trunkline emulate slac-cern --far 'iperf3 -s -1' -- iperf3 -c far -P 8 -t 10")]
pub(crate) struct Emulate {
    /// A named path or a path file; `trunkline emulate help` lists the names
    pub path: String,

    /// Shell command to run on the far host; started first
    #[arg(long, value_name = "COMMAND")]
    pub far: Option<String>,

    #[command(flatten)]
    pub seed: Seed,

    /// Print the counters of both directions as one JSON document
    #[arg(long)]
    pub json: bool,

    /// The program to run on the near host, with its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct Seed {
    /// Decides which packets the path loses; the same seed loses the same ones
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}
